package journal_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// steps is a journal of n steps with values of about size bytes.
func steps(n, size int) []byte {
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	b, prev := line.Append(nil, 0, 1, 0, line.NewBody(journal.KindRun, "", at).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1).Bytes())
	value := append(append([]byte(`{"text":"`), bytes.Repeat([]byte("x"), size)...), `"}`...)
	for i := range n {
		seq := int64(i) + 2
		b, prev = line.Append(b, prev, seq, seq-1, line.NewBody(journal.KindStep, fmt.Sprintf("analyze/doc-%06d", i), at).Int("try", 1).Int("us", 1234).CleanValue(value).Bytes())
	}
	return b
}

// BenchmarkScan measures reading all records of 10,000 documents of 2 KB from a file,
// and folding them, against reading the same file and computing its CRC. They take
// turns; medians of throughput are reported. The bar: scanning ≥ 0.5 × the floor.
func BenchmarkScan(b *testing.B) {
	text := steps(10_000, 2000)
	name := filepath.Join(b.TempDir(), "r.jsonl")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	size := int64(len(text))
	buf := make([]byte, 1<<18)
	times := [3][]time.Duration{}
	b.SetBytes(size)
	for b.Loop() {
		for k, fn := range []func(){
			func() {
				sum := uint32(0)
				for off := int64(0); off < size; {
					n, err := f.ReadAt(buf, off)
					sum ^= line.Checksum(buf[:n])
					if off += int64(n); err != nil && err != io.EOF {
						b.Fatal(err)
					}
				}
			},
			func() {
				sc := journal.NewScanner(f, size)
				for sc.Scan() {
					continue
				}
				if sc.Err() != nil {
					b.Fatal(sc.Err())
				}
			},
			func() {
				fold := journal.NewFold()
				sc := journal.NewScanner(f, size)
				for sc.Scan() {
					fold.Apply(sc.Record())
				}
			},
		} {
			start := time.Now()
			fn()
			times[k] = append(times[k], time.Since(start))
		}
	}
	rate := func(k int) float64 {
		slices.Sort(times[k])
		return float64(size) / float64(times[k][len(times[k])/2].Nanoseconds()) * 1000
	}
	b.ReportMetric(rate(0), "floor-MB/s")
	b.ReportMetric(rate(1), "scan-MB/s")
	b.ReportMetric(rate(2), "fold-MB/s")
	b.ReportMetric(rate(1)/rate(0), "scan/floor")
}

// many is a journal of n small steps that is made while it is read, so that it takes
// no memory itself.
type many struct {
	n, made int
	prev    uint32
	buf     []byte
	off     int64 // of buf
}

func (m *many) ReadAt(p []byte, off int64) (int, error) {
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	for m.off+int64(len(m.buf)) < off+int64(len(p)) && m.made < m.n {
		body := line.NewBody(journal.KindStep, fmt.Sprintf("analyze/doc-%07d", m.made), at).Int("try", 1).Int("us", 12).CleanValue([]byte("1")).Bytes()
		if m.made == 0 {
			body = line.NewBody(journal.KindRun, "", at).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1).Bytes()
		}
		m.buf, m.prev = line.Append(m.buf, m.prev, int64(m.made)+1, int64(m.made), body)
		m.made++
	}
	n := copy(p, m.buf[off-m.off:])
	if cut := int64(len(m.buf)) - 1<<19; cut > 0 { // the scanner goes forward
		m.buf = append(m.buf[:0], m.buf[cut:]...)
		m.off += cut
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestFoldMemory: a million small steps take at most 300 bytes each, keys included.
func TestFoldMemory(t *testing.T) {
	n := 1_000_000
	if raceEnabled {
		n = 50_000
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fold := journal.NewFold()
	sc := journal.NewScanner(&many{n: n + 1}, 1<<40)
	for sc.Scan() {
		fold.Apply(sc.Record())
	}
	if sc.Err() != nil || len(fold.Steps) != n {
		t.Fatalf("%d steps, %v", len(fold.Steps), sc.Err())
	}
	sc = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
	t.Logf("%.0f bytes a step", each)
	if each > 300 {
		t.Errorf("%.0f bytes a step", each)
	}
	runtime.KeepAlive(fold)
}
