// Package bench measures pawl against floors: the least that any program could do
// for the same promise, on the same disk, in the same run. Compare ratios of
// medians, never single figures: make bench.
package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// lineBytes is about what a step with a value of 512 bytes takes in the journal,
// its start record included.
const lineBytes = 512 + 330

// BenchmarkStep is one durable step of 512 bytes, and its floors.
func BenchmarkStep(b *testing.B) {
	b.Run("floor=append+fdatasync", func(b *testing.B) {
		f := create(b)
		buf := []byte(strings.Repeat("x", lineBytes))
		for b.Loop() {
			if _, err := f.Write(buf); err != nil {
				b.Fatal(err)
			}
			sync(b, f)
		}
	})
	b.Run("floor=overwrite+fdatasync", func(b *testing.B) {
		f := create(b)
		const size = 64 << 20
		if _, err := f.Write(make([]byte, size)); err != nil {
			b.Fatal(err)
		}
		sync(b, f)
		buf := []byte(strings.Repeat("x", lineBytes))
		off := int64(0)
		for b.Loop() {
			if _, err := f.WriteAt(buf, off); err != nil {
				b.Fatal(err)
			}
			off = (off + lineBytes) % (size - lineBytes)
			sync(b, f)
		}
	})
	b.Run("pawl", func(b *testing.B) {
		value := strings.Repeat("x", 512)
		inRun(b, func(ctx context.Context) error {
			for i := 0; b.Loop(); i++ {
				_, err := pawl.Step(ctx, fmt.Sprint("step/", i), func(context.Context) (string, error) { return value, nil })
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// BenchmarkState saves a state of 20 MB with a small append, against encoding it
// once with encoding/json.
func BenchmarkState(b *testing.B) {
	type state struct {
		Next     int      `json:"next"`
		Findings []string `json:"findings"`
	}
	st := state{Findings: make([]string, 10_000)}
	for i := range st.Findings {
		st.Findings[i] = strings.Repeat("finding ", 250)
	}
	b.Run("floor=json.Marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(st); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pawl", func(b *testing.B) {
		ck, err := pawl.OpenState[state](filepath.Join(b.TempDir(), "s.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		defer ck.Close()
		if err := ck.Save(st); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			st.Findings, st.Next = append(st.Findings, "a small finding"), st.Next+1
			if err := ck.Save(st); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkResume opens a run of 10,000 findings of 2 KB and decodes every one,
// against reading the same lines and decoding each with encoding/json.
func BenchmarkResume(b *testing.B) {
	type finding struct{ Title, Text string }
	items := make([]string, 10_000)
	for i := range items {
		items[i] = fmt.Sprintf("doc-%05d", i)
	}
	text := strings.Repeat("two kilobytes ", 146)
	dir := b.TempDir()
	store, err := pawl.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	stop := fmt.Errorf("stop")
	do := func() {
		_, err := pawl.Do(b.Context(), store, "r", func(ctx context.Context) (int, error) {
			found, err := pawl.Map(ctx, "analyze", items, func(s string) string { return s }, func(_ context.Context, s string) (finding, error) {
				return finding{s, text}, nil
			}, pawl.Parallel(64))
			if err != nil || len(found) != len(items) {
				return 0, err
			}
			return 0, stop
		})
		if err != stop {
			b.Fatal(err)
		}
	}
	do()
	b.Run("floor=read+json.Unmarshal", func(b *testing.B) {
		for b.Loop() {
			f, err := os.Open(filepath.Join(dir, "runs", "r.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			sc := bufio.NewScanner(f)
			sc.Buffer(nil, 1<<20)
			for sc.Scan() {
				var rec struct {
					Kind, Key string
					Value     finding
				}
				if err := json.Unmarshal(sc.Bytes(), &rec); err != nil && rec.Kind == "step" {
					b.Fatal(err)
				}
			}
			f.Close()
		}
	})
	b.Run("pawl", func(b *testing.B) {
		for b.Loop() {
			do()
		}
	})
}

func create(b *testing.B) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// inRun calls fn with a run of a new store in its context.
func inRun(b *testing.B, fn func(ctx context.Context) error) {
	b.Helper()
	store, err := pawl.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r, err := store.Begin(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if err := fn(r.Context(b.Context())); err != nil {
		b.Fatal(err)
	}
}
