package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/journal"
)

// BenchmarkResume opens a run of 10,000 findings of 2 KB and decodes every one, against
// reading the lines that hold them and decoding each with encoding/json.
func BenchmarkResume(b *testing.B) {
	const n, size = 10_000, 2000
	dir := b.TempDir()
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("doc-%05d", i)
	}
	store, err := pawl.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	failed := 0 // items that were not answered from the record
	resume := func(int) error {
		r, err := store.Begin(b.Context(), "bench")
		if err != nil {
			return err
		}
		found, err := pawl.Map(r.Context(b.Context()), "analyze", items, func(s string) string { return s }, func(_ context.Context, s string) (finding, error) {
			failed++
			return newFinding(failed, size), nil
		}, pawl.Parallel(1))
		if err == nil && len(found) != n {
			err = fmt.Errorf("%d findings", len(found))
		}
		return errors.Join(err, r.Close())
	}
	writeSteps(b, dir, store, n, func(i int) (string, []byte) {
		text, err := json.Marshal(newFinding(i, size))
		if err != nil {
			b.Fatal(err)
		}
		return "analyze/" + items[i], text
	})
	journalPath := filepath.Join(dir, "runs", "bench.jsonl")
	t := take(b, 3, resume, func(int) error {
		f, err := os.Open(journalPath)
		if err != nil {
			return err
		}
		defer f.Close()
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<20)
		found := map[string]finding{}
		for sc.Scan() {
			var rec struct {
				Kind, Key string
				Value     finding
			}
			if err := json.Unmarshal(sc.Bytes(), &rec); err != nil {
				return err
			}
			if rec.Kind == "step" {
				found[rec.Key] = rec.Value
			}
		}
		if len(found) != n {
			return fmt.Errorf("%d findings", len(found))
		}
		return sc.Err()
	})
	if failed > 0 {
		b.Fatalf("%d items ran again", failed)
	}
	t.compare(b, time.Millisecond, "json")
}

// BenchmarkScan reads and checks the records of the same file, against reading it and
// computing its CRC-32C.
func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	store, err := pawl.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	size := writeSteps(b, dir, store, 10_000, func(i int) (string, []byte) {
		text, err := json.Marshal(newFinding(i, 2000))
		if err != nil {
			b.Fatal(err)
		}
		return fmt.Sprintf("analyze/doc-%05d", i), text
	})
	f, err := os.Open(filepath.Join(dir, "runs", "bench.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, 1<<18)
	t := take(b, 10, func(int) error {
		sc := journal.NewScanner(f, size)
		for sc.Scan() {
			continue
		}
		return sc.Err()
	}, func(int) error {
		sum := uint32(0)
		for off := int64(0); off < size; {
			n, err := f.ReadAt(buf[:min(int64(len(buf)), size-off)], off)
			sum = crc32.Update(sum, table, buf[:n])
			if off += int64(n); err != nil && err != io.EOF {
				return err
			}
		}
		return nil
	})
	mbs := func(k int) float64 { return float64(size) / t.median(k) }
	b.ReportMetric(mbs(0), "scan-MB/s")
	b.ReportMetric(mbs(1), "crc-MB/s")
	b.ReportMetric(mbs(0)/mbs(1), "ratio")
	b.ReportMetric(t[1].cpu.Seconds()/t[0].cpu.Seconds(), "cpu-ratio")
}

// million is how many steps the benchmark of memory resumes.
const million = 1_000_000

// BenchmarkMillion resumes a run of a million small steps in a process of its own and
// measures its memory.
func BenchmarkMillion(b *testing.B) {
	dir := b.TempDir()
	store, err := pawl.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	writeSteps(b, dir, store, million, func(i int) (string, []byte) {
		return fmt.Sprintf("analyze/doc-%07d", i), strconv.AppendInt(nil, int64(i), 10)
	})
	for b.Loop() {
		out, err := child("million", dir).Output()
		if err != nil {
			b.Fatal(err)
		}
		for field := range strings.FieldsSeq(string(out)) {
			v, unit, _ := strings.Cut(field, "=")
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				b.Fatalf("%q: %v", out, err)
			}
			b.ReportMetric(n, unit)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func init() {
	children["million"] = func(dir string) error {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		store, err := pawl.Open(dir)
		if err != nil {
			return err
		}
		r, err := store.Begin(context.Background(), "bench")
		if err != nil {
			return err
		}
		took := time.Since(start)
		peak := peakRSS()
		runtime.GC()
		runtime.ReadMemStats(&after)
		heap := float64(after.HeapAlloc - before.HeapAlloc)
		if got := r.Resumed().Steps; got != million {
			return fmt.Errorf("%d steps", got)
		}
		fmt.Printf("%.1f=peak-MiB %.1f=heap-MiB %.0f=heap-B/step %.2f=s\n", float64(peak)/(1<<20), heap/(1<<20), heap/million, took.Seconds())
		return r.Close()
	}
}

// writeSteps makes a run of n steps, as Map writes them. The journal is written in memory
// and copied to its place: nobody waits for n flushes. It returns its size.
func writeSteps(b *testing.B, dir string, store *pawl.Store, n int, step func(i int) (key string, value []byte)) int64 {
	b.Helper()
	r, err := store.Begin(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "runs", "bench.jsonl")
	begun, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	const name = "journal"
	mem := memfs.New()
	f, err := mem.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.WriteAt(begun, 0); err != nil {
		b.Fatal(err)
	}
	j, _, _, err := journalfile.Open(mem, name, func(string) {})
	if err != nil {
		b.Fatal(err)
	}
	add := func(body *line.Body, durable bool) {
		if _, err := j.Append(body.Bytes(), durable); err != nil {
			b.Fatal(err)
		}
	}
	now := time.Now()
	add(line.NewBody(journal.KindMap, "analyze", now).Int("total", int64(n)).Int("done", 0), false)
	for i := range n {
		key, value := step(i)
		add(line.NewBody(journal.KindStart, key, now).Int("try", 1).Str("map", "analyze"), false)
		add(line.NewBody(journal.KindStep, key, now).Int("try", 1).Int("us", 1234).CleanValue(value), true)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return copyOut(b, f, path)
}

// copyOut copies an open file in memory over a file on disk.
func copyOut(b *testing.B, from io.ReaderAt, path string) int64 {
	b.Helper()
	to, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close()
	size, err := io.Copy(to, io.NewSectionReader(from, 0, 1<<40))
	if err == nil {
		err = sync(to)
	}
	if err != nil {
		b.Fatal(err)
	}
	return size
}
