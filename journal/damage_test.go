package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/journal"
)

func isCorrupt(err error) bool { return errors.Is(err, journal.ErrCorrupt) }
func isNewer(err error) bool   { return errors.Is(err, journal.ErrNewerFormat) }

// tally counts what became of damaged copies of a journal.
type tally struct {
	Refused int // as damaged, or as newer: nothing is changed, somebody looks
	Intact  int // every record is read
	Torn    int // records are missing, and the reader says that bytes were cut off
	Unseen  int // records are missing, and nothing shows it
}

func (n tally) String() string {
	return fmt.Sprintf("refused %d, intact %d, torn %d, unseen %d", n.Refused, n.Intact, n.Torn, n.Unseen)
}

// judge reads a damaged copy of s and counts it. What holds for every damage:
// invariant 3, never a record that nobody wrote, and never one out of order; and
// rule 8, never less than what the bytes that are left say was durable.
func (n *tally) judge(read reader, s sample, b []byte) error {
	got := read(b)
	if got.verdict == "damaged" || got.verdict == "newer" {
		n.Refused++
		return nil
	}
	if len(got.lines) > len(s.lines) || !slices.Equal(got.lines, s.lines[:len(got.lines)]) {
		return fmt.Errorf("a record that nobody wrote: %v", got)
	}
	switch {
	case len(got.lines) == len(s.lines):
		n.Intact++
	case got.verdict == "torn" || got.noNewline:
		n.Torn++
	default:
		n.Unseen++
	}
	if len(got.lines) < len(s.lines) && knows(b[got.end:], len(got.lines)) {
		return fmt.Errorf("%d records, and what is left says that more were durable", len(got.lines))
	}
	return nil
}

// A reader reads the bytes of a journal.
type reader func(b []byte) outcome

// knows reports whether a line in b, whole and behind a newline, says that more than
// n records were durable. Damage that changes both a record and the newline before
// the next is left to the reader's own search.
func knows(b []byte, n int) bool {
	for text := range bytes.SplitSeq(b, []byte("\n")) {
		if l := (oracle{}).lineAt(text, 0); l != nil && l.dur > n {
			return true
		}
	}
	return false
}

func equal(a, b outcome) bool {
	if a.verdict == "damaged" || a.verdict == "newer" {
		return a.verdict == b.verdict && slices.Equal(a.lines, b.lines)
	}
	return a.verdict == b.verdict && a.end == b.end && a.noNewline == b.noNewline && slices.Equal(a.lines, b.lines)
}

// damages are the ways in which the tests damage a journal. Each calls do with every
// damaged copy; it must not keep it.
var damages = []struct {
	name string
	each func(s sample, do func(b []byte, what string))
}{
	{"cut", func(s sample, do func([]byte, string)) {
		for n := range len(s.bytes) {
			do(s.bytes[:n], fmt.Sprintf("cut at %d", n))
		}
	}},
	{"bit", func(s sample, do func([]byte, string)) {
		b := bytes.Clone(s.bytes)
		for i := range len(b) * 8 {
			b[i/8] ^= 1 << (i % 8)
			do(b, fmt.Sprintf("bit %d of byte %d", i%8, i/8))
			b[i/8] ^= 1 << (i % 8)
		}
	}},
	{"byte", func(s sample, do func([]byte, string)) {
		b := bytes.Clone(s.bytes)
		for i := range b {
			for _, c := range []byte{0, '\n', ' ', '}', 0xff} {
				if old := b[i]; old != c {
					b[i] = c
					do(b, fmt.Sprintf("byte %d set to %q", i, c))
					b[i] = old
				}
			}
		}
	}},
	{"sector", func(s sample, do func([]byte, string)) {
		for i := 0; i < len(s.bytes); i += 512 {
			end := min(i+512, len(s.bytes))
			for name, c := range map[string]byte{"NUL": 0, "newlines": '\n', "0xff": 0xff} {
				b := bytes.Clone(s.bytes)
				copy(b[i:end], bytes.Repeat([]byte{c}, end-i))
				do(b, fmt.Sprintf("sector at %d all %s", i, name))
			}
			for k := i + 512; k+512 <= len(s.bytes); k += 512 {
				b := bytes.Clone(s.bytes)
				copy(b[i:], s.bytes[k:k+512])
				copy(b[k:], s.bytes[i:i+512])
				do(b, fmt.Sprintf("sectors at %d and %d swapped", i, k))
			}
			b := bytes.Clone(s.bytes)
			do(slices.Delete(b, i, end), fmt.Sprintf("sector at %d missing", i))
		}
	}},
	{"line", func(s sample, do func([]byte, string)) {
		fill := string(s.bytes[s.ends[len(s.ends)-1]:])
		join := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n" + fill) }
		for i := range s.lines {
			do(join(slices.Delete(slices.Clone(s.lines), i, i+1)), fmt.Sprintf("line %d dropped", i+1))
			do(join(slices.Insert(slices.Clone(s.lines), i, s.lines[i])), fmt.Sprintf("line %d doubled", i+1))
			do(join(append(slices.Clone(s.lines), s.lines[i])), fmt.Sprintf("line %d once more at the end", i+1))
			for k := i + 1; k < len(s.lines); k++ {
				l := slices.Clone(s.lines)
				l[i], l[k] = l[k], l[i]
				do(join(l), fmt.Sprintf("lines %d and %d swapped", i+1, k+1))
			}
			l := slices.Clone(s.lines)
			l[i] = strings.Replace(l[i], `"kind"`, `"Kind"`, 1)
			do(join(l), fmt.Sprintf("line %d edited", i+1))
			l[i] = s.lines[i][:len(s.lines[i])-2] + "}"
			do(join(l), fmt.Sprintf("line %d edited and shorter", i+1))
		}
	}},
	{"foreign line", func(s sample, do func([]byte, string)) {
		fill := string(s.bytes[s.ends[len(s.ends)-1]:])
		join := func(lines ...[]string) []byte {
			return []byte(strings.Join(slices.Concat(lines...), "\n") + "\n" + fill)
		}
		twin := s.twin()
		for i := range s.lines {
			do(join(s.lines[:i], twin[i:i+1], s.lines[i+1:]), fmt.Sprintf("line %d of another run", i+1))
			do(join(s.lines[:i+1], twin[i+1:]), fmt.Sprintf("lines of another run behind line %d", i+1))
			do(join(s.lines[:i+1], []string{s.forged(i)}, s.lines[i+1:]), fmt.Sprintf("a forged line behind line %d", i+1))
			do(join(s.lines[:i+1], []string{s.forged(i)}), fmt.Sprintf("a forged last line behind line %d", i+1))
		}
	}},
	{"random", func(s sample, do func([]byte, string)) {
		r := rand.New(rand.NewPCG(7, 7))
		for k := range 6000 {
			b := bytes.Clone(s.bytes)
			for range 1 + r.IntN(3) {
				i := r.IntN(len(b))
				n := min(1+r.IntN(60), len(b)-i)
				if r.IntN(8) == 0 {
					n = min(r.IntN(1500), len(b)-i)
				}
				switch r.IntN(6) {
				case 0:
					clear(b[i : i+n])
				case 1:
					copy(b[i:i+n], bytes.Repeat([]byte("\n"), n))
				case 2:
					b = slices.Delete(b, i, i+n)
				case 3:
					b = slices.Insert(b, i, s.bytes[r.IntN(len(s.bytes)-1):][:1]...)
				case 4:
					copy(b[i:], s.bytes[r.IntN(len(s.bytes)):]) // a part moved
				default:
					for j := i; j < i+n; j++ {
						b[j] = byte(r.Uint32())
					}
				}
				if len(b) == 0 {
					b = append(b, 0)
				}
			}
			do(b, fmt.Sprintf("random damage %d", k))
		}
	}},
}

// samplesWant is what becomes of the damaged copies of each of the samples, in their
// order. The numbers say what a journal cannot know of itself; they are part of
// the documentation, so a change of them is one of the promise.
var samplesWant = map[string][]tally{
	"cut": {
		{Refused: 179, Intact: 1, Torn: 3509, Unseen: 18},    // all kinds, fill false
		{Refused: 179, Intact: 1414, Torn: 3509, Unseen: 18}, // all kinds, fill true
		{Refused: 183, Intact: 1, Torn: 1624, Unseen: 8},     // batch, fill false
		{Refused: 183, Intact: 1257, Torn: 1624, Unseen: 8},  // batch, fill true
		{Refused: 185, Intact: 1, Torn: 334, Unseen: 2},      // aligned, fill false
		{Refused: 185, Intact: 1527, Torn: 334, Unseen: 2},   // aligned, fill true
		{Refused: 189, Intact: 1, Torn: 964, Unseen: 2},      // at a sector, fill false
		{Refused: 189, Intact: 1405, Torn: 964, Unseen: 2},   // at a sector, fill true
	},
	"bit": {
		{Refused: 29648, Intact: 8, Torn: 0, Unseen: 0},    // all kinds, fill false
		{Refused: 32760, Intact: 8200, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 14520, Intact: 8, Torn: 0, Unseen: 0},    // batch, fill false
		{Refused: 16376, Intact: 8200, Torn: 0, Unseen: 0}, // batch, fill true
		{Refused: 4168, Intact: 8, Torn: 0, Unseen: 0},     // aligned, fill false
		{Refused: 8184, Intact: 8200, Torn: 0, Unseen: 0},  // aligned, fill true
		{Refused: 9240, Intact: 8, Torn: 0, Unseen: 0},     // at a sector, fill false
		{Refused: 12280, Intact: 8200, Torn: 0, Unseen: 0}, // at a sector, fill true
	},
	"byte": {
		{Refused: 18419, Intact: 4, Torn: 0, Unseen: 0},    // all kinds, fill false
		{Refused: 19975, Intact: 4100, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 9058, Intact: 4, Torn: 0, Unseen: 0},     // batch, fill false
		{Refused: 9986, Intact: 4100, Torn: 0, Unseen: 0},  // batch, fill true
		{Refused: 2600, Intact: 4, Torn: 0, Unseen: 0},     // aligned, fill false
		{Refused: 4608, Intact: 4100, Torn: 0, Unseen: 0},  // aligned, fill true
		{Refused: 5767, Intact: 4, Torn: 1, Unseen: 0},     // at a sector, fill false
		{Refused: 7287, Intact: 4100, Torn: 1, Unseen: 0},  // at a sector, fill true
	},
	"sector": {
		{Refused: 47, Intact: 0, Torn: 6, Unseen: 0},  // all kinds, fill false
		{Refused: 66, Intact: 9, Torn: 10, Unseen: 0}, // all kinds, fill true
		{Refused: 13, Intact: 0, Torn: 6, Unseen: 0},  // batch, fill false
		{Refused: 20, Intact: 9, Torn: 10, Unseen: 0}, // batch, fill true
		{Refused: 4, Intact: 0, Torn: 4, Unseen: 0},   // aligned, fill false
		{Refused: 7, Intact: 9, Torn: 6, Unseen: 0},   // aligned, fill true
		{Refused: 9, Intact: 0, Torn: 2, Unseen: 2},   // at a sector, fill false
		{Refused: 15, Intact: 11, Torn: 2, Unseen: 2}, // at a sector, fill true
	},
	"line": {
		{Refused: 265, Intact: 0, Torn: 0, Unseen: 1}, // all kinds, fill false
		{Refused: 265, Intact: 0, Torn: 0, Unseen: 1}, // all kinds, fill true
		{Refused: 80, Intact: 0, Torn: 0, Unseen: 1},  // batch, fill false
		{Refused: 80, Intact: 0, Torn: 0, Unseen: 1},  // batch, fill true
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // aligned, fill false
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // aligned, fill true
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // at a sector, fill false
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // at a sector, fill true
	},
	"foreign line": {
		{Refused: 75, Intact: 1, Torn: 0, Unseen: 0}, // all kinds, fill false
		{Refused: 75, Intact: 1, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 35, Intact: 1, Torn: 0, Unseen: 0}, // batch, fill false
		{Refused: 35, Intact: 1, Torn: 0, Unseen: 0}, // batch, fill true
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // aligned, fill false
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // aligned, fill true
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // at a sector, fill false
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // at a sector, fill true
	},
	"random": {
		{Refused: 5934, Intact: 0, Torn: 66, Unseen: 0},     // all kinds, fill false
		{Refused: 5293, Intact: 602, Torn: 105, Unseen: 0},  // all kinds, fill true
		{Refused: 5744, Intact: 0, Torn: 255, Unseen: 1},    // batch, fill false
		{Refused: 4548, Intact: 1123, Torn: 328, Unseen: 1}, // batch, fill true
		{Refused: 5575, Intact: 0, Torn: 425, Unseen: 0},    // aligned, fill false
		{Refused: 2966, Intact: 2735, Torn: 299, Unseen: 0}, // aligned, fill true
		{Refused: 5432, Intact: 1, Torn: 566, Unseen: 1},    // at a sector, fill false
		{Refused: 3966, Intact: 1653, Torn: 381, Unseen: 0}, // at a sector, fill true
	},
}

// checkDamage does every damage of one kind to every sample.
func checkDamage(kind string, all []sample, read reader) error {
	for _, d := range damages {
		if d.name != kind {
			continue
		}
		for _, s := range all {
			var n tally
			var failed error
			d.each(s, func(b []byte, what string) {
				if failed == nil {
					if err := n.judge(read, s, b); err != nil {
						failed = fmt.Errorf("%s, %s: %w", s.name, what, err)
					}
				}
			})
			if failed == nil && n != samplesWant[kind][s.n] {
				failed = fmt.Errorf("%s: %v, want %v", s.name, n, samplesWant[kind][s.n])
			}
			if failed != nil {
				return failed
			}
		}
	}
	return nil
}

// fewer is some of the samples under the race detector, where all take too long.
func fewer(all []sample) []sample {
	if raceEnabled {
		return []sample{all[4], all[7]}
	}
	return all
}

// TestDamage is level 0 of the pyramid: rules 8, 9, 10, 12, invariants 3 and 4.
func TestDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			if err := checkDamage(d.name, fewer(samples(t)), scan); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTwoReaders: the Scanner and a reader written by other means say the same of
// every damaged copy.
func TestTwoReaders(t *testing.T) {
	n := 0
	for _, d := range damages {
		for _, s := range fewer(samples(t)) {
			d.each(s, func(b []byte, what string) {
				if n++; len(d.name) < 5 && n%7 != 0 {
					return // of cuts, bits and bytes there are many, and the second reader is slow
				}
				if got, want := scan(b), (oracle{}).read(b); !equal(got, want) && !t.Failed() {
					t.Errorf("%s, %s: %v, and the second reader says: %v", s.name, what, got, want)
				}
			})
		}
	}
}

// checkOneByte: a bit of an acknowledged record that changes into a newline at the end of
// a sector is no write that broke off there.
func checkOneByte(t testing.TB, read reader) error {
	s := newSampler(t, "one byte")
	s.add(s.body(journal.KindStep, "a").CleanValue([]byte(`"`+string(bytes.Repeat([]byte("J"), 1500))+`"`)), true)
	j := s.done("a value of J", true)
	for at := 511; at < j.ends[1]; at += 512 {
		if j.bytes[at] != 'J' {
			continue
		}
		b := bytes.Clone(j.bytes)
		b[at] ^= 'J' ^ '\n' // one bit
		if got := read(b); got.verdict != "damaged" {
			return fmt.Errorf("bit flipped at byte %d: %v", at, got)
		}
	}
	return nil
}

func TestOneByteOfFill(t *testing.T) {
	if err := checkOneByte(t, scan); err != nil {
		t.Error(err)
	}
}
