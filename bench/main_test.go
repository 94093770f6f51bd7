// Package bench measures pawl against floors: the least that any program could do
// for the same promise, on the same disk, with the same bytes. A benchmark lets pawl and
// its floors take turns, so that what else the machine does hits them alike, and
// reports the medians and their ratio. Compare ratios, never single figures.
//
// "make bench" runs all of them several times and writes RESULTS.md.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// children are programs that benchmarks start, by executing the test binary again with
// PAWL_BENCH_CHILD set to their name: only a process of its own can be killed, and has a
// memory of its own.
var children = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	name := os.Getenv("PAWL_BENCH_CHILD")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](os.Getenv("PAWL_BENCH_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// turns holds what functions that took turns took.
type turns []struct {
	times []time.Duration
	cpu   time.Duration // of the process, the garbage collector's too, all together
}

// take lets the functions take turns n times, in every loop of b.
func take(b *testing.B, n int, fns ...func(i int) error) turns {
	b.Helper()
	t := make(turns, len(fns))
	i := 0
	for b.Loop() {
		for range n {
			for k := range fns {
				k = (i + k) % len(fns) // one flush may pay for what another left
				cpu, start := cpuTime(), time.Now()
				err := fns[k](i)
				t[k].times = append(t[k].times, time.Since(start))
				t[k].cpu += cpuTime() - cpu
				if err != nil {
					b.Fatal(err)
				}
			}
			i++
		}
	}
	b.ReportMetric(0, "ns/op") // of all together, which means nothing
	return t
}

// median returns the median time of function k, in microseconds.
func (t turns) median(k int) float64 { return median(t[k].times) }

// compare reports the medians of the first two functions and their ratio.
func (t turns) compare(b *testing.B, unit time.Duration, floor string) {
	b.Helper()
	per := float64(unit.Microseconds())
	name := map[time.Duration]string{time.Microsecond: "µs", time.Millisecond: "ms"}[unit]
	b.ReportMetric(t.median(0)/per, "pawl-"+name)
	b.ReportMetric(t.median(1)/per, floor+"-"+name)
	b.ReportMetric(t.median(0)/t.median(1), "ratio")
	if t[1].cpu > 0 {
		b.ReportMetric(t[0].cpu.Seconds()/t[1].cpu.Seconds(), "cpu-ratio")
	}
}

func median(times []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[len(sorted)/2].Nanoseconds()) / 1000
}

// floors are files that are written with no program around them.
type floors struct {
	grown, ahead *os.File
	off          int64 // in ahead
}

// aheadSize is how much is written ahead.
const aheadSize = 64 << 20

func newFloors(b *testing.B) *floors {
	b.Helper()
	f := &floors{grown: create(b, "grown"), ahead: create(b, "ahead")}
	if _, err := f.ahead.Write(make([]byte, aheadSize)); err != nil {
		b.Fatal(err)
	}
	if err := sync(f.ahead); err != nil {
		b.Fatal(err)
	}
	return f
}

// overwrite writes into the file written ahead and flushes: nothing durable costs less.
func (f *floors) overwrite(p []byte) error {
	if f.off+int64(len(p)) > aheadSize {
		f.off = 0
	}
	_, err := f.ahead.WriteAt(p, f.off)
	f.off += int64(len(p))
	if err != nil {
		return err
	}
	return sync(f.ahead)
}

// appendTo writes at the end of a file and flushes.
func (f *floors) appendTo(p []byte) error {
	if _, err := f.grown.Write(p); err != nil {
		return err
	}
	return sync(f.grown)
}

func create(b *testing.B, name string) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), name))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// begin opens a run of a new store in a directory.
func begin(b *testing.B, dir string) (*pawl.Store, *pawl.Run, context.Context) {
	b.Helper()
	store, err := pawl.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	r, err := store.Begin(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return store, r, r.Context(b.Context())
}

// journalSize is how many bytes the records of the run take, without fill.
func journalSize(b *testing.B, store *pawl.Store) int64 {
	b.Helper()
	info, err := store.Inspect(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	return info.Size
}
