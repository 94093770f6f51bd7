package journal_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// sample is a journal and what its writer knows of it.
type sample struct {
	n     int // in the list of all samples
	name  string
	bytes []byte
	lines []string
	ends  []int // offset behind each record and its newline
	acked int   // records acknowledged as durable
}

const samplePath = "/r.jsonl"

// sampler writes a journal with the real writer.
type sampler struct {
	t    testing.TB
	base *crashfs.FS
	j    *journalfile.File
	s    sample
	n    int
}

func newSampler(t testing.TB, id string) *sampler { return newLabelledSampler(t, id, "") }

func newLabelledSampler(t testing.TB, id, labels string) *sampler {
	s := &sampler{t: t, base: crashfs.New()}
	b := s.body(journal.KindRun, "").Int("format", 1).Str("id", id).Str("uid", sampleUID).Int("inc", 1)
	if labels != "" {
		b.Raw("labels", []byte(labels))
	}
	j, err := journalfile.Create(s.base, samplePath, b.Bytes(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	s.j = j
	s.s.acked = 1
	return s
}

func (s *sampler) body(kind, key string) *line.Body {
	s.n++
	return line.NewBody(kind, key, time.Date(2026, 12, 1, 9, 0, s.n, 0, time.UTC))
}

func (s *sampler) add(b *line.Body, durable bool) {
	if _, err := s.j.Append(b.Bytes(), durable); err != nil {
		s.t.Fatal(err)
	}
	if durable {
		s.s.acked = s.n
	}
}

// done returns the journal: as the owner leaves it while it lives, with fill, or as
// Close leaves it.
func (s *sampler) done(name string, fill bool) sample {
	if !fill {
		if err := s.j.Close(); err != nil {
			s.t.Fatal(err)
		}
		s.s.acked = s.n
	}
	s.s.name = name
	s.s.bytes = s.base.AppendBytes(nil, samplePath)
	if fill { // some of it is enough, and three sectors are as good as a hundred
		end := len(bytes.TrimRight(s.s.bytes, "\n")) + 1
		s.s.bytes = s.s.bytes[:min(len(s.s.bytes), (end/512+3)*512)]
	}
	s.s.lines, s.s.ends = nil, nil
	off := 0
	for text := range bytes.SplitSeq(bytes.TrimRight(s.s.bytes, "\n"), []byte("\n")) {
		off += len(text) + 1
		s.s.lines = append(s.s.lines, string(text))
		s.s.ends = append(s.s.ends, off)
	}
	if len(s.s.lines) != s.n {
		s.t.Fatalf("%s: %d lines of %d records", name, len(s.s.lines), s.n)
	}
	return s.s
}

// allKinds is a journal with every kind of record, some of them not waited for, of
// about five kilobytes.
func allKinds(t testing.TB, id string, fill bool) sample {
	s := newLabelledSampler(t, id, `{"customer":"ACME","\u2028":"\""}`)
	s.add(s.body(journal.KindAttempt, "").Int("n", 1).Str("host", "h").Int("pid", 4711), false)
	s.add(s.body(journal.KindMap, "work").Int("total", 2), false)
	s.add(s.body(journal.KindStart, "work/a").Int("try", 1).Str("map", "work").Str("in", "00000000000000000000000000000000"), false)
	s.add(s.body(journal.KindStart, "work/b").Int("try", 1).Str("map", "work").Raw("once", []byte("true")), false)
	s.add(s.body(journal.KindNote, "work/b").CleanValue([]byte(`{"job":7}`)), true)
	s.add(s.body(journal.KindStep, "work/a").Int("try", 1).Int("us", 12).Value([]byte(`{"text":"`+string(bytes.Repeat([]byte("lorem "), 60))+`"}`)), true)
	s.add(s.body(journal.KindFail, "work/b").Int("try", 1).Int("us", 7).Str("error", "no\nsuch\u2028tool"), true)
	s.add(s.body(journal.KindEpoch, "work/b").Int("n", 1).Str("reason", "no such job").Str("by", "ann"), true)
	s.add(s.body(journal.KindAlias, "works").Str("from", "work"), false)
	s.add(s.body(journal.KindStep, "works/b").Int("try", 1).Int("us", 0).Str("reason", "seen").Str("by", "ann").CleanValue([]byte("7")), true)
	s.add(s.body(journal.KindStep, "raw").Int("try", 1).Int("us", 1).Value([]byte("{ \"spaced\" : 1 }")), true)
	s.add(s.body(journal.KindState, "").Str("sum", "00000000").CleanValue([]byte(`{"next":1,"list":[1,2,3]}`)), true)
	s.add(s.body(journal.KindState, "").Str("sum", "00000000").Raw("patch", []byte(`[{"op":"replace","path":"/next","value":2}]`)), true)
	s.add(s.body(journal.KindState, "works/a").Str("sum", "00000000").Int("schema", 2).Value([]byte("[ ]")), true)
	s.add(s.body(journal.KindState, "works/a").Str("sum", "00000000").Raw("patch", []byte(`[{"op":"add","path":"/-","value":2}]`)), true)
	s.add(s.body("kind-of-the-future", "k").Raw("more", []byte(`[null,true,{}]`)), true)
	s.add(s.body(journal.KindFailed, "").Str("error", "the model said no"), true)
	s.add(s.body(journal.KindAttempt, "").Int("n", 2).Str("host", "h").Int("pid", 4712), false)
	s.add(s.body(journal.KindInterrupted, ""), false)
	s.add(s.body(journal.KindAttempt, "").Int("n", 3).Str("host", "h").Int("pid", 4713), false)
	s.add(s.body(journal.KindClear, ""), true)
	s.add(s.body(journal.KindStep, "last").Int("try", 1).Int("us", 3).CleanValue([]byte(`"`+string(bytes.Repeat([]byte("x"), 400))+`"`)), true)
	s.add(s.body(journal.KindComplete, "").Int("unasked", 1).CleanValue([]byte(`{"ok":true,"n":[1,2.50,-3e7]}`)), true)
	return s.done(fmt.Sprintf("all kinds, fill %v", fill), fill)
}

// batch is a journal that ends with records that no later one calls durable, the
// last one waited for: the end of every journal is like that.
func batch(t testing.TB, fill bool) sample {
	s := newSampler(t, "batch")
	for i := range 3 {
		s.add(s.body(journal.KindStep, fmt.Sprint("s", i)).CleanValue([]byte(`"`+string(bytes.Repeat([]byte("a"), 90*i))+`"`)), true)
	}
	for i := range 4 {
		s.add(s.body(journal.KindStart, fmt.Sprint("t", i)).Int("try", 1), false)
	}
	s.add(s.body(journal.KindStep, "t0").CleanValue(bytes.Repeat([]byte("7"), 300)), true)
	return s.done(fmt.Sprintf("batch, fill %v", fill), fill)
}

const sampleUID = "00112233445566778899aabbccddeeff"

// sampleLine is a line of a sample with its newline.
func sampleLine(prev uint32, seq, dur int64, body []byte) []byte {
	end, _ := line.Ends(sampleUID)
	text, _ := line.AppendEnd(nil, prev, seq, dur, body, end)
	return text
}

// aligned is a journal whose last record, as the writer would have written it first,
// has its newline at the start of a sector: the case that pad exists for.
func aligned(t testing.TB, fill bool) sample {
	s := newSampler(t, "aligned")
	s.add(s.body(journal.KindStep, "a").CleanValue([]byte("1")), true)
	size := s.j.Size()
	last := s.body(journal.KindStep, "b").Bytes()
	probe := sampleLine(0, 3, 2, last)
	free := 512 - (size+int64(len(probe))-1)%512
	s.n--
	s.add(s.body(journal.KindStep, "b").Str("x", string(bytes.Repeat([]byte("x"), int(free)-len(`,"x":""`)))), true)
	if got := s.j.Size(); got%512 == 1 || got%512 > 12 {
		t.Fatalf("the record ends at byte %d of its sector: not the case to be tested", got%512)
	}
	return s.done(fmt.Sprintf("aligned, fill %v", fill), fill)
}

// atSector is a journal whose last record, the only one that calls the others durable,
// begins at the start of a sector.
func atSector(t testing.TB, fill bool) sample {
	s := newSampler(t, "at a sector")
	probe := sampleLine(0, 2, 1, s.body(journal.KindStep, "a").Str("x", "").Bytes())
	s.n--
	free := 1024 - (s.j.Size()+int64(len(probe)))%512
	s.add(s.body(journal.KindStep, "a").Str("x", string(bytes.Repeat([]byte("x"), int(free)))), true)
	if got := s.j.Size(); got%512 != 0 {
		t.Fatalf("the record begins at byte %d of its sector: not the case to be tested", got%512)
	}
	s.add(s.body(journal.KindStep, "b").CleanValue([]byte("2")), true)
	return s.done(fmt.Sprintf("at a sector, fill %v", fill), fill)
}

func samples(t testing.TB) []sample {
	all := []sample{
		allKinds(t, "r", false), allKinds(t, "r", true), batch(t, false), batch(t, true),
		aligned(t, false), aligned(t, true), atSector(t, false), atSector(t, true),
	}
	for i := range all {
		all[i].n = i
	}
	return all
}

// twin is a journal of another run with as many records, each as long as that of s.
func (s sample) twin() []string {
	lines := make([]string, len(s.lines))
	prev := uint32(0)
	for i, text := range s.lines {
		h, _, _ := line.ParseHead([]byte(text))
		body := bytes.ReplaceAll([]byte(text[h.Size:]), []byte(`"00112233`), []byte(`"99112233`))
		var l []byte
		l, prev = line.Append(nil, prev, h.Seq, h.Dur, body)
		lines[i] = string(l[:len(l)-1])
	}
	return lines
}

// forged is a record that has the right prev and not the right number.
func (s sample) forged(after int) string {
	h, _, _ := line.ParseHead([]byte(s.lines[after]))
	text := sampleLine(h.CRC, h.Seq+2, h.Seq, line.NewBody(journal.KindStep, "forged", time.Time{}).Bytes())
	return string(text[:len(text)-1])
}

// scan reads bytes with the reader under test.
func scan(b []byte) outcome {
	var r outcome
	sc := journal.NewScanner(bytes.NewReader(b), int64(len(b)))
	for sc.Scan() {
		r.lines = append(r.lines, string(sc.Record().Text))
	}
	tail := sc.Tail()
	r.end, r.noNewline = int(tail.End), tail.NoNewline
	switch err := sc.Err(); {
	case err == nil && tail.Torn == 0:
		r.verdict = "clean"
	case err == nil:
		r.verdict = "torn"
	case isCorrupt(err):
		r.verdict = "damaged"
	case isNewer(err):
		r.verdict = "newer"
	default:
		r.verdict = err.Error()
	}
	return r
}
