package main

// A bar is one row of bench/RESULTS.md: what a benchmark must reach.
type bar struct {
	what    string  // what is measured
	says    string  // the bar in words
	bench   string  // the benchmark, without "Benchmark"; "" if there is nothing to measure yet
	metric  string  // the one that counts
	limit   float64 // what it must not exceed
	atLeast bool    // what it must reach instead
}

// bars are those of the design, in its order.
func bars() []bar {
	const ahead = "≤ 1.3 × overwriting a file written ahead + fdatasync"
	return []bar{
		{what: "one durable 512 B step of a run", says: ahead, bench: "Step/run", metric: "ratio", limit: 1.3},
		{what: "one durable 512 B save by path (`OpenState`)", says: ahead, bench: "Step/state", metric: "ratio", limit: 1.3},
		{what: "10,000 documents, findings of 2 KB, each durable", says: ahead, bench: "Documents", metric: "ratio", limit: 1.3},
		{what: "– bytes written, without fill", says: "≤ 1.25 × the findings", bench: "Documents", metric: "bytes/payload", limit: 1.25},
		{what: "– the last tenth against the first", says: "as fast: ≤ 1.1 ×", bench: "Documents", metric: "last/first", limit: 1.1},
		{what: "resume of the 10,000, every finding decoded", says: "faster than reading the lines and decoding each with encoding/json", bench: "Resume", metric: "ratio", limit: 1},
		{what: "– scan alone", says: "≥ 0.5 × the speed of reading the file and computing its CRC-32C", bench: "Scan", metric: "ratio", limit: 0.5, atLeast: true},
		{what: "memory on resume of 1,000,000 small steps, peak of the process", says: "≤ 64 MiB + 300 B a step = 350 MiB", bench: "Million", metric: "peak-MiB", limit: 350},
		{what: "`OpenState` with 20 MB, one small append", says: "≤ 1.5 × encoding/json of the state", bench: "State/append", metric: "ratio", limit: 1.5},
		{what: "– one edit in the middle", says: "the same", bench: "State/edit", metric: "ratio", limit: 1.5},
		{what: "– one removal", says: "the same", bench: "State/remove", metric: "ratio", limit: 1.5},
		{what: "– bytes of the append beyond its delta", says: "≤ 300", bench: "State/append", metric: "extra-bytes", limit: 300},
		{what: "– bytes of the edit beyond its delta", says: "≤ 300", bench: "State/edit", metric: "extra-bytes", limit: 300},
		{what: "– bytes of the removal beyond its delta", says: "≤ 300", bench: "State/remove", metric: "extra-bytes", limit: 300},
		{what: "a 512 B step in memory", says: "≤ 3 × encoding and decoding its value with encoding/json", bench: "Memory", metric: "ratio", limit: 3},
		{what: "– against pawl's own, stricter encoder", says: "≤ 3 ×", bench: "Memory", metric: "own-ratio", limit: 3},
		{what: "– allocations, the value's included", says: "≤ 20", bench: "Memory", metric: "allocs", limit: 20},
		{what: "kill -9 to the next step running", says: "≤ 3 × start of a Go program that opens one file", bench: "Kill", metric: "ratio", limit: 3},
		{what: "one run in a store with the commit log", says: "≤ 1.4 × overwrite + fdatasync"},
		{what: "1,000 runs at once with the commit log", says: "≥ 0.65 × bare group commit"},
		{what: "newest 50 of 100,000 runs", says: "≤ 3 × reading the index file"},
	}
}
