package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// finding is what an analysis of a document may give.
type finding struct {
	Document string   `json:"document"`
	Title    string   `json:"title"`
	Score    float64  `json:"score"`
	Pages    []int    `json:"pages"`
	Tags     []string `json:"tags"`
	Agreed   bool     `json:"agreed"`
	Text     string   `json:"text"`
}

// newFinding makes a finding whose JSON has about size bytes.
func newFinding(i, size int) finding {
	f := finding{
		Document: fmt.Sprintf("doc-%05d", i), Title: "Quarterly report", Score: 0.8371, Agreed: true,
		Pages: []int{3, 14, 15, 92}, Tags: []string{"revenue", "risk", "outlook"},
	}
	const text = "The company expects \"moderate\" growth in the coming year. "
	f.Text = strings.Repeat(text, size/len(text)+1)[:size-190]
	return f
}

// BenchmarkStep is one durable step of 512 bytes: of a run in a store, and a save of
// OpenState, which is the same by path.
func BenchmarkStep(b *testing.B) {
	const n = 1000
	b.Run("run", func(b *testing.B) {
		store, _, ctx := begin(b, b.TempDir())
		step := func(i int) error {
			v := newFinding(i, 512)
			_, err := pawl.Step(ctx, v.Document, func(context.Context) (finding, error) { return v, nil })
			return err
		}
		compareSaves(b, n, step, func() int64 { return journalSize(b, store) })
	})
	b.Run("state", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "state.jsonl")
		ck, err := pawl.OpenState[finding](path)
		if err != nil {
			b.Fatal(err)
		}
		defer ck.Close()
		compareSaves(b, n, func(i int) error {
			v := newFinding(i, 512)
			v.Text = strings.Map(func(r rune) rune { return r + rune(i%3) }, v.Text)
			return ck.Save(v)
		}, func() int64 {
			info, err := pawl.InspectFile(path)
			if err != nil {
				b.Fatal(err)
			}
			return info.Size
		})
	})
}

// compareSaves measures save against its floors, which write as many bytes.
func compareSaves(b *testing.B, n int, save func(i int) error, size func() int64) {
	const first = 100 // to know how many bytes one takes, and to warm up
	f := newFloors(b)
	for i := range first / 10 {
		if err := save(i); err != nil {
			b.Fatal(err)
		}
	}
	before := size()
	for i := first / 10; i < first; i++ {
		if err := save(i); err != nil {
			b.Fatal(err)
		}
	}
	record := bytes.Repeat([]byte("x"), int(size()-before)/(first-first/10))
	t := take(b, n,
		func(i int) error { return save(first + i) },
		func(int) error { return f.overwrite(record) },
		func(int) error { return f.appendTo(record) },
	)
	t.compare(b, time.Microsecond, "overwrite")
	b.ReportMetric(t.median(2), "append-µs")
	b.ReportMetric(float64(len(record)), "bytes")
}

// BenchmarkDocuments is the analysis of 10,000 documents with findings of 2 KB, one
// after the other, each durable.
func BenchmarkDocuments(b *testing.B) {
	const n, size = 10_000, 2000
	store, _, ctx := begin(b, b.TempDir())
	f := newFloors(b)
	record := bytes.Repeat([]byte("x"), size+330) // about what a step takes
	findings := make([]finding, n)                // a model's work, and not what is measured
	for i := range findings {
		findings[i] = newFinding(i, size)
	}
	before := journalSize(b, store)
	t := take(b, n,
		func(i int) error {
			v := findings[i%n]
			v.Document = fmt.Sprintf("doc-%06d", i)
			_, err := pawl.Step(ctx, v.Document, func(context.Context) (finding, error) { return v, nil })
			return err
		},
		func(int) error { return f.overwrite(record) },
	)
	times := t[0].times
	all := len(times)
	written := float64(journalSize(b, store)-before) / float64(all)
	t.compare(b, time.Microsecond, "overwrite")
	b.ReportMetric(written, "bytes")
	b.ReportMetric(written/size, "bytes/payload")
	first, last := median(times[:n/10]), median(times[all-n/10:])
	b.ReportMetric(first, "first-µs")
	b.ReportMetric(last, "last-µs")
	b.ReportMetric(last/first, "last/first")
}
