package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"
)

type finding struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Summary string         `json:"summary"`
	Quotes  []string       `json:"quotes"`
	Score   float64        `json:"score"`
	Tags    []string       `json:"tags"`
	Usage   map[string]int `json:"usage"`
	OK      bool           `json:"ok"`
}

type state struct {
	Next     int       `json:"next"`
	Cost     float64   `json:"cost"`
	Findings []finding `json:"findings"`
	Phase    string    `json:"phase"`
	Tokens   int       `json:"tokens"`
}

var words = strings.Fields(`the report finds that a margin of "nine" percent was kept over several quarters
	while costs, taxes & other items <rose> in Zürich and elsewhere; see table 4 and appendix B for details`)

func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.Intn(len(words))])
		b.WriteByte(" \n"[r.Intn(20)/19])
	}
	return b.String()
}

func newFinding(r *rand.Rand, i int) finding {
	return finding{
		ID: fmt.Sprintf("doc-%06d", i), Title: prose(r, 40), Summary: prose(r, 1150),
		Quotes: []string{prose(r, 150), prose(r, 150), prose(r, 150)}, Score: r.Float64(),
		Tags: []string{"finance", "q3", prose(r, 5)}, Usage: map[string]int{"in": r.Intn(9000), "out": r.Intn(900)}, OK: true,
	}
}

// newState returns a state with n findings of 2 KB.
func newState(n int) *state {
	r := rand.New(rand.NewSource(1))
	s := &state{Next: n, Cost: 12.25, Phase: "analyze", Tokens: 991827}
	for i := range s.Next {
		s.Findings = append(s.Findings, newFinding(r, i))
	}
	return s
}

func encode(t testing.TB, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A change is something a program does to its state between two saves. It leaves
// the findings of s as they are, and returns the values that a patch has to hold
// for it, or nil if there are many.
type change struct {
	name string
	do   func(s *state) []any
}

var changes = []change{
	{"append", func(s *state) []any {
		f := newFinding(rand.New(rand.NewSource(2)), 10_000)
		s.Findings = append(slices.Clip(s.Findings), f)
		return []any{f}
	}},
	{"append and counters", func(s *state) []any {
		f := newFinding(rand.New(rand.NewSource(2)), 10_000)
		s.Findings = append(slices.Clip(s.Findings), f)
		s.Next, s.Tokens = s.Next+1, s.Tokens+712
		return []any{f, s.Next, s.Tokens}
	}},
	{"edit in the middle", func(s *state) []any {
		s.Findings = slices.Clone(s.Findings)
		s.Findings[len(s.Findings)/2].Score = 0.25
		return []any{0.25}
	}},
	{"edit in the middle and append", func(s *state) []any {
		f := newFinding(rand.New(rand.NewSource(2)), 10_000)
		s.Findings = append(slices.Clone(s.Findings), f)
		s.Findings[len(s.Findings)/2].Score = 0.25
		return []any{f, 0.25}
	}},
	{"insert in the middle", func(s *state) []any {
		f := newFinding(rand.New(rand.NewSource(2)), 10_000)
		s.Findings = slices.Insert(slices.Clone(s.Findings), len(s.Findings)/2, f)
		return []any{f}
	}},
	{"remove in the middle", func(s *state) []any {
		i := len(s.Findings) / 2
		s.Findings = slices.Delete(slices.Clone(s.Findings), i, i+1)
		return []any{}
	}},
	{"remove the first", func(s *state) []any {
		s.Findings = s.Findings[1:]
		s.Next--
		return []any{s.Next}
	}},
	{"window slides by 10", func(s *state) []any {
		r := rand.New(rand.NewSource(2))
		s.Findings = slices.Clip(s.Findings[10:])
		for i := range 10 {
			s.Findings = append(s.Findings, newFinding(r, 10_000+i))
		}
		return nil
	}},
	{"edit every tenth", func(s *state) []any {
		s.Findings = slices.Clone(s.Findings)
		for i := 0; i < len(s.Findings); i += 10 {
			s.Findings[i].OK = false
		}
		return nil
	}},
	{"edit all", func(s *state) []any {
		s.Findings = slices.Clone(s.Findings)
		for i := range s.Findings {
			s.Findings[i].Score++
		}
		return nil
	}},
}

// TestStateChanges bounds the size of patches to a large state.
func TestStateChanges(t *testing.T) {
	s := newState(many(10_000))
	old := encode(t, s)
	for _, c := range changes {
		changed := *s
		values := c.do(&changed)
		patch := check(t, old, encode(t, changed))
		most := 150
		for _, v := range values {
			most += len(encode(t, v))
		}
		if values != nil && len(patch) > most {
			t.Errorf("%s: patch of %d bytes, want at most %d", c.name, len(patch), most)
		}
	}
}

// median returns the median time of nine calls.
func median(f func()) time.Duration {
	var times []time.Duration
	for range 9 {
		start := time.Now()
		f()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkDiff gives, besides the time of Diff, its ratio to the time that
// encoding/json takes to encode the state.
func BenchmarkDiff(b *testing.B) {
	s := newState(10_000)
	old := encode(b, s)
	encoding := median(func() { encode(b, s) })
	for _, c := range changes {
		b.Run(c.name, func(b *testing.B) {
			changed := *s
			c.do(&changed)
			new := encode(b, changed)
			var patch []byte
			b.SetBytes(int64(len(old)))
			b.ReportAllocs()
			for b.Loop() {
				patch, _ = Diff(old, new)
			}
			b.ReportMetric(float64(len(patch)), "patch-B")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(encoding), "x-encoding")
			if got, err := Apply(old, patch); err != nil || !bytes.Equal(got, new) {
				b.Fatal("the patch does not lead to the new text: ", err)
			}
		})
	}
}

// BenchmarkDiffSmall is BenchmarkDiff for states of many small values, for which
// finding where they end is most of the work.
func BenchmarkDiffSmall(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	ints, table := make([]int, 2_900_000), map[string]finding{}
	for i := range ints {
		ints[i] = r.Intn(1_000_000)
	}
	for i := range 100_000 {
		table[fmt.Sprintf("key-%07d", i)] = finding{ID: fmt.Sprintf("doc-%06d", i), Score: r.Float64()}
	}
	edited, added := slices.Clone(ints), maps.Clone(table)
	edited[len(ints)/2]++
	added["key-0050000+"] = finding{}
	for _, c := range []struct {
		name     string
		old, new any
	}{
		{"numbers, append", ints, append(slices.Clip(ints), 7)},
		{"numbers, edit", ints, edited},
		{"map, insert", table, added},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, new := encode(b, c.old), encode(b, c.new)
			encoding := median(func() { encode(b, c.new) })
			b.SetBytes(int64(len(old)))
			b.ReportAllocs()
			for b.Loop() {
				Diff(old, new)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(encoding), "x-encoding")
		})
	}
}

// BenchmarkHistory reads a full state of 20 MB and a thousand patches behind it,
// as loading a state does.
func BenchmarkHistory(b *testing.B) {
	s := newState(10_000)
	base := encode(b, s)
	patch := func(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }
	r := rand.New(rand.NewSource(3))
	histories := []struct {
		name  string
		patch func(i int) []byte
	}{
		{"append and counter", func(i int) []byte {
			return patch(`[{"op":"replace","path":"/next","value":%d},{"op":"add","path":"/findings/-","value":%s}]`,
				10_000+i, encode(b, newFinding(r, i)))
		}},
		{"edit anywhere", func(i int) []byte {
			return patch(`[{"op":"replace","path":"/findings/%d/score","value":%d}]`, r.Intn(10_000), i)
		}},
		{"insert and remove anywhere", func(i int) []byte {
			return patch(`[{"op":"remove","path":"/findings/%d"},{"op":"add","path":"/findings/%d","value":%d}]`,
				r.Intn(10_000), r.Intn(10_000), i)
		}},
	}
	for _, h := range histories {
		b.Run(h.name, func(b *testing.B) {
			var patches [][]byte
			for i := range 1000 {
				patches = append(patches, h.patch(i))
			}
			b.SetBytes(int64(len(base)))
			b.ReportAllocs()
			for b.Loop() {
				d := NewDocument(base)
				for _, p := range patches {
					if err := d.Apply(p); err != nil {
						b.Fatal(err)
					}
				}
				d.Append(nil)
			}
		})
	}
}

// BenchmarkVerify applies a patch to a document and compares it with the text
// that it should be, which is what a cautious caller of Diff would do.
func BenchmarkVerify(b *testing.B) {
	s := newState(10_000)
	old := encode(b, s)
	for _, c := range changes {
		b.Run(c.name, func(b *testing.B) {
			changed := *s
			c.do(&changed)
			new := encode(b, changed)
			patch, _ := Diff(old, new)
			b.SetBytes(int64(len(old)))
			b.ReportAllocs()
			for b.Loop() {
				d := NewDocument(old)
				if d.Apply(patch) != nil || !d.Equal(new) {
					b.Fatal("the patch does not lead to the new text")
				}
			}
		})
	}
}
