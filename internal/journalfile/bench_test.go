package journalfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// BenchmarkAppend512 measures a durable append of a line of 512 bytes against the
// same bytes written with nothing around them: appended, and written over a file
// that was filled ahead. The three take turns, so that what else the machine does
// hits them alike; medians are reported, in microseconds.
func BenchmarkAppend512(b *testing.B) {
	dir := b.TempDir()
	line := bytes.Repeat([]byte{'x'}, 511)
	line = append(line, '\n')
	open := func(name string) vfs.File {
		f, err := vfs.OS.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return f
	}
	grown, ahead := open("grown"), open("ahead")
	const slots = 1 << 14
	if _, err := ahead.WriteAt(bytes.Repeat([]byte{'\n'}, slots*512), 0); err != nil {
		b.Fatal(err)
	}
	if err := ahead.Sync(); err != nil {
		b.Fatal(err)
	}
	j, err := journalfile.Create(vfs.OS, filepath.Join(dir, "r.jsonl"), body(journal.KindRun, 1, 100), func(string) {})
	if err != nil {
		b.Fatal(err)
	}
	record := sized(512)
	raw := func(f vfs.File, i int) func() error {
		return func() error {
			if _, err := f.WriteAt(line, int64(i)*512); err != nil {
				return err
			}
			return f.Sync()
		}
	}
	times := [3][]time.Duration{}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		turn := []func() error{
			raw(grown, i), raw(ahead, i%slots),
			func() error { _, err := j.Append(record, true); return err },
		}
		for n := range turn {
			k := (i + n) % len(turn) // one flush may pay for what another left
			fn := turn[k]
			start := time.Now()
			if err := fn(); err != nil {
				b.Fatal(err)
			}
			times[k] = append(times[k], time.Since(start))
		}
		i++
	}
	us := func(k int) float64 {
		slices.Sort(times[k])
		return float64(times[k][len(times[k])/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(us(0), "grown-µs")
	b.ReportMetric(us(1), "ahead-µs")
	b.ReportMetric(us(2), "journal-µs")
	b.ReportMetric(us(2)/us(1), "×ahead")
}

// sized makes a body whose line, newline included, has about n bytes.
func sized(n int) []byte {
	return body(journal.KindStep, 1, n-200)
}
