package main

import (
	"strings"
	"testing"
	"time"
)

const printed = `goos: linux
cpu: Some CPU
BenchmarkStep/run-2         	       1	       200.0 append-µs	         1.400 cpu-ratio	       100.0 overwrite-µs	       120.0 pawl-µs	         1.200 ratio
BenchmarkStep/run-2         	       1	       220.0 append-µs	         1.600 cpu-ratio	       110.0 overwrite-µs	       154.0 pawl-µs	         1.400 ratio
BenchmarkStep/run-2         	       1	       210.0 append-µs	         1.500 cpu-ratio	       100.0 overwrite-µs	       125.0 pawl-µs	         1.250 ratio
BenchmarkDocuments-2	1	0.5 ns/op	2327 bytes	1.163 bytes/payload	1.5 ratio	1.02 last/first
BenchmarkScan 	1	6000 crc-MB/s	0.4 ratio
PASS
`

func TestResults(t *testing.T) {
	m, cpu, err := parseBench(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	got := results(m, cpu, machineInfo{goVersion: "go1", system: "linux/amd64", disk: "ext4", load: "1 before", cpus: 2, count: 3}, time.Unix(0, 0).UTC(), "Notes.\n")
	for _, want := range []string{
		"go1, linux/amd64, 2 × Some CPU, ext4, load average (1 min) 1 before, 1970-01-01\n",
		"| 1.25 (1.2–1.4) | met | append 210 µs, cpu ratio 1.5, overwrite 100 µs, pawl 125 µs |\n",
		"| 1.5 (1.5–1.5) | **missed** | 2327 bytes |\n", // the first bar of Documents has its figures
		"| ≤ 1.25 × the findings | 1.16 (1.16–1.16) | met |  |\n",
		"| 0.4 (0.4–0.4) | **missed** | crc 6000 MB/s |\n",
		"**not measured**",
		"not built yet",
		"\nNotes.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, _, err := parseBench(strings.NewReader("BenchmarkX-2 1 abc ns/op")); err == nil {
		t.Error("no error")
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.4567: "0.457", 1.2345: "1.23", 12.345: "12.3", 2327: "2327", 216.2: "216", 1: "1", 20.06: "20.1", 100: "100"} {
		if got := short(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestFileSystem(t *testing.T) {
	if got := fileSystem("/proc"); got != "proc" && got != "unknown" {
		t.Errorf("/proc is %s", got)
	}
}
