package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// crash is what a power cut left of a journal, and what was acknowledged then.
type crash struct {
	bytes []byte
	what  string
	acked int
	lines []string // all that was ever handed to the writer
}

// crashes collects what power cuts leave at every write of a journal: records of
// all sizes, waited for or not, one of which holds another journal's records.
func crashes(t testing.TB) []crash {
	var all []crash
	s := newSampler(t, "crash")
	limits := crashfs.Limits{Sectors: 12, Random: 6}
	if raceEnabled {
		limits = crashfs.Limits{Sectors: 2, Random: 1}
	}
	s.base.After = func(op crashfs.Op) {
		if op.Kind != crashfs.Write {
			return
		}
		for img, v := range s.base.Images(limits) {
			if b := img.AppendBytes(nil, samplePath); !v.Garbage && !(v.Inside && v.Off == crashfs.Sector-1) {
				all = append(all, crash{bytes: trimFill(b), what: fmt.Sprintf("write %d (%v)", op.OfKind, v), acked: s.s.acked})
			}
		}
	}
	foreign := allKinds(t, "foreign", false)
	for i := range 24 {
		b := s.body(journal.KindStep, fmt.Sprint("k", i))
		switch {
		case i%9 == 4:
			b.CleanValue([]byte("[" + foreign.lines[5] + "," + foreign.lines[len(foreign.lines)-1] + "]"))
		case i%5 == 3:
			b.CleanValue(append(append([]byte{'"'}, bytes.Repeat([]byte("p"), 700+i*90)...), '"'))
		default:
			b.CleanValue(fmt.Appendf(nil, `{"n":%d,"x":"%s"}`, i, bytes.Repeat([]byte("q"), i*17%200)))
		}
		s.add(b, i%4 == 2)
	}
	s.base.After = nil
	lines := s.done("crash", true).lines
	for i := range all {
		all[i].lines = lines
	}
	return all
}

// trimFill shortens a long fill: the images are many.
func trimFill(b []byte) []byte {
	end := len(bytes.TrimRight(b, "\n")) + 1
	return slices.Clone(b[:min(len(b), (end/512+3)*512)])
}

// braceShort reports whether all that is wrong is the closing brace of the last line.
func braceShort(b []byte) bool {
	b = append(bytes.TrimRight(b, "\n"), "}\n"...)
	return scan(b).verdict == "clean"
}

// checkCrashes: rules 8 to 12 and 14, invariants 1 to 3, of the reader alone: whatever
// a power cut leaves is no damage, holds what was acknowledged, and in order nothing
// but what was written.
func checkCrashes(all []crash, read reader) error {
	for _, c := range all {
		got := read(c.bytes)
		switch {
		case got.verdict == "damaged" && braceShort(c.bytes):
			// A cut inside a sector, which disks do not make, that spares all of a
			// line but its brace: it could be a whole line with a damaged brace.
		case got.verdict != "clean" && got.verdict != "torn":
			return fmt.Errorf("%s: refused: %v", c.what, got)
		case len(got.lines) < c.acked:
			return fmt.Errorf("%s: %v, and %d were acknowledged", c.what, got, c.acked)
		case len(got.lines) > len(c.lines) || !slices.Equal(got.lines, c.lines[:len(got.lines)]):
			return fmt.Errorf("%s: records that nobody wrote: %v", c.what, got)
		}
	}
	return nil
}

func TestCrashImages(t *testing.T) {
	all := crashes(t)
	if err := checkCrashes(all, scan); err != nil {
		t.Error(err)
	}
	if err := checkCrashes(all, (oracle{}).read); err != nil {
		t.Errorf("the second reader: %v", err)
	}
	for _, c := range all {
		if got, want := scan(c.bytes), (oracle{}).read(c.bytes); !equal(got, want) {
			t.Fatalf("%s: %v, and the second reader says: %v", c.what, got, want)
		}
	}
	t.Logf("%d images", len(all))
}

// checkLastNewline: rule 10, a record is whole without its newline, and it was
// acknowledged.
func checkLastNewline(all []sample, read reader) error {
	for _, s := range all {
		end := s.ends[len(s.ends)-1]
		for name, b := range map[string][]byte{
			"missing": s.bytes[:end-1],
			"changed": append(slices.Clone(s.bytes[:end-1]), '\v'),
			"NUL":     append(slices.Clone(s.bytes[:end-1]), 0),
		} {
			got := read(b)
			if len(got.lines) != len(s.lines) || !got.noNewline || got.end != end-1 {
				return fmt.Errorf("%s, last newline %s: %v", s.name, name, got)
			}
		}
	}
	return nil
}

func TestLastNewline(t *testing.T) {
	if err := checkLastNewline(samples(t), scan); err != nil {
		t.Error(err)
	}
}

// beside is a file that another process appends to while it is read: the first
// reads show it as it was, later ones as it is.
type beside struct {
	before, now []byte
	reads       int
}

func (f *beside) ReadAt(p []byte, off int64) (int, error) {
	b := f.now
	if f.reads--; f.reads >= 0 {
		b = f.before
	}
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestReadBesideAnOwner: a reader without a lock meets a record half written, and
// when it looks for later ones finds some that say that it is durable. That is no
// damage.
func TestReadBesideAnOwner(t *testing.T) {
	s := batch(t, true)
	at := s.ends[2]
	for cut := at; cut < s.ends[3]; cut++ {
		before := slices.Clone(s.bytes)
		for i := cut; i < len(before); i++ {
			before[i] = '\n'
		}
		for reads := range 4 {
			sc := journal.NewScanner(&beside{before, s.bytes, reads}, int64(len(s.bytes)))
			n := 0
			for sc.Scan() {
				if string(sc.Record().Text) != s.lines[n] {
					t.Fatalf("cut %d, reads %d: record %d is %s", cut, reads, n, sc.Record().Text)
				}
				n++
			}
			if sc.Err() != nil || n < 3 {
				t.Errorf("cut %d, reads %d: %d records, %v", cut-at, reads, n, sc.Err())
			}
		}
	}
}

// failing is a file that cannot be read from some byte on.
type failing struct {
	b    []byte
	from int64
}

var errRead = errors.New("input/output error")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errRead
	}
	return copy(p, f.b[off:]), nil
}

// TestUnreadableIsNotDamaged: an error of reading is reported as what it is, case C-07.
func TestUnreadableIsNotDamaged(t *testing.T) {
	s := allKinds(t, "r", true)
	for _, b := range [][]byte{s.bytes, s.bytes[:s.ends[9]-30]} {
		for _, from := range []int64{0, 1, 600, int64(len(b)) - 1} {
			sc := journal.NewScanner(failing{b, from}, int64(len(b)))
			for sc.Scan() {
				continue
			}
			if err := sc.Err(); !errors.Is(err, errRead) || isCorrupt(err) {
				t.Errorf("unreadable from %d: %v", from, err)
			}
		}
	}
}

// TestBoundedByTheFile: what is allocated is bounded by the file, whatever len says.
func TestBoundedByTheFile(t *testing.T) {
	s := allKinds(t, "r", false)
	b := bytes.Replace(s.bytes, []byte(`"len":`), []byte(`"len":99999999999`), -1)
	b = append(slices.Clone(s.bytes), b...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	scan(b)
	runtime.ReadMemStats(&after)
	if allocated, limit := after.TotalAlloc-before.TotalAlloc, uint64(40*len(b)); allocated > limit {
		t.Errorf("%d bytes allocated for a file of %d", allocated, len(b))
	}
}

// counted counts the bytes that are read.
type counted struct {
	*bytes.Reader
	n int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += n
	return n, err
}

// TestManyFalseHeads: a value with thousands of heads that claim to be long, made by a
// tool with bad intentions, does not make judging a torn tail take for ever.
func TestManyFalseHeads(t *testing.T) {
	s := batch(t, false)
	b := append(slices.Clone(s.bytes), `{"crc":"`...) // torn
	for range 20_000 {
		b = append(b, `,{"crc":"00000000","len":900000,"prev":"00000000","seq":999,"dur":998,"kind":"x"}`...)
	}
	c := &counted{Reader: bytes.NewReader(b)}
	sc := journal.NewScanner(c, int64(len(b)))
	n := 0
	for sc.Scan() {
		n++
	}
	if n != len(s.lines) || sc.Err() != nil || sc.Tail().Torn == 0 {
		t.Errorf("%d records, %+v, %v", n, sc.Tail(), sc.Err())
	}
	if c.n > 10*len(b) {
		t.Errorf("%d bytes read of %d", c.n, len(b))
	}
}

// TestPrefixSearchAtEveryByte: rule 8, a claim is found at whatever byte it begins,
// on both sides of the borders of what is read at a time.
func TestPrefixSearchAtEveryByte(t *testing.T) {
	s := batch(t, false)
	const window = 1 << 18
	good := s.ends[0]
	claim := s.lines[len(s.lines)-1]
	for shift := -len(line.Prefix) - 2; shift <= 2; shift++ {
		b := slices.Clone(s.bytes[:good])
		b = append(b, bytes.Repeat([]byte("?"), window+shift)...)
		b = append(append(b, claim...), '\n')
		if got := scan(b); got.verdict != "damaged" {
			t.Errorf("shift %d: %v", shift, got)
		}
	}
}
