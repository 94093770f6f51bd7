package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
		return fmt.Errorf("invariant 3: a record that nobody wrote: %v", got)
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
		return fmt.Errorf("invariant 4, rule 8: %d records, and what is left says that more were durable", len(got.lines))
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

// samplesWant is what becomes of the damaged copies of each of the samples, in their
// order. The numbers say what a journal cannot know of itself; they are part of
// the documentation, so a change of them is one of the promise.
var samplesWant = map[string][]tally{
	"cut": {
		{Refused: 239, Intact: 1, Torn: 4756, Unseen: 23},    // all kinds, fill false
		{Refused: 239, Intact: 1126, Torn: 4756, Unseen: 23}, // all kinds, fill true
		{Refused: 200, Intact: 1, Torn: 1760, Unseen: 8},     // batch, fill false
		{Refused: 200, Intact: 1104, Torn: 1760, Unseen: 8},  // batch, fill true
		{Refused: 202, Intact: 1, Torn: 317, Unseen: 2},      // aligned, fill false
		{Refused: 202, Intact: 1527, Torn: 317, Unseen: 2},   // aligned, fill true
		{Refused: 206, Intact: 1, Torn: 964, Unseen: 2},      // at a sector, fill false
		{Refused: 206, Intact: 1388, Torn: 964, Unseen: 2},   // at a sector, fill true
	},
	"bit": {
		{Refused: 40144, Intact: 8, Torn: 0, Unseen: 0},    // all kinds, fill false
		{Refused: 40952, Intact: 8200, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 15744, Intact: 8, Torn: 0, Unseen: 0},    // batch, fill false
		{Refused: 16376, Intact: 8200, Torn: 0, Unseen: 0}, // batch, fill true
		{Refused: 4168, Intact: 8, Torn: 0, Unseen: 0},     // aligned, fill false
		{Refused: 8184, Intact: 8200, Torn: 0, Unseen: 0},  // aligned, fill true
		{Refused: 9376, Intact: 8, Torn: 0, Unseen: 0},     // at a sector, fill false
		{Refused: 12280, Intact: 8200, Torn: 0, Unseen: 0}, // at a sector, fill true
	},
	"byte": {
		{Refused: 24964, Intact: 4, Torn: 0, Unseen: 0},    // all kinds, fill false
		{Refused: 25368, Intact: 4100, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 9823, Intact: 4, Torn: 0, Unseen: 0},     // batch, fill false
		{Refused: 10139, Intact: 4100, Torn: 0, Unseen: 0}, // batch, fill true
		{Refused: 2600, Intact: 4, Torn: 0, Unseen: 0},     // aligned, fill false
		{Refused: 4608, Intact: 4100, Torn: 0, Unseen: 0},  // aligned, fill true
		{Refused: 5852, Intact: 4, Torn: 1, Unseen: 0},     // at a sector, fill false
		{Refused: 7304, Intact: 4100, Torn: 1, Unseen: 0},  // at a sector, fill true
	},
	"sector": {
		{Refused: 72, Intact: 0, Torn: 4, Unseen: 0},  // all kinds, fill false
		{Refused: 101, Intact: 9, Torn: 4, Unseen: 0}, // all kinds, fill true
		{Refused: 13, Intact: 0, Torn: 6, Unseen: 0},  // batch, fill false
		{Refused: 20, Intact: 9, Torn: 10, Unseen: 0}, // batch, fill true
		{Refused: 4, Intact: 0, Torn: 4, Unseen: 0},   // aligned, fill false
		{Refused: 7, Intact: 9, Torn: 6, Unseen: 0},   // aligned, fill true
		{Refused: 9, Intact: 0, Torn: 2, Unseen: 2},   // at a sector, fill false
		{Refused: 15, Intact: 11, Torn: 2, Unseen: 2}, // at a sector, fill true
	},
	"line": {
		{Refused: 395, Intact: 0, Torn: 0, Unseen: 1}, // all kinds, fill false
		{Refused: 395, Intact: 0, Torn: 0, Unseen: 1}, // all kinds, fill true
		{Refused: 80, Intact: 0, Torn: 0, Unseen: 1},  // batch, fill false
		{Refused: 80, Intact: 0, Torn: 0, Unseen: 1},  // batch, fill true
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // aligned, fill false
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // aligned, fill true
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // at a sector, fill false
		{Refused: 17, Intact: 0, Torn: 0, Unseen: 1},  // at a sector, fill true
	},
	"foreign line": {
		{Refused: 95, Intact: 1, Torn: 0, Unseen: 0}, // all kinds, fill false
		{Refused: 95, Intact: 1, Torn: 0, Unseen: 0}, // all kinds, fill true
		{Refused: 35, Intact: 1, Torn: 0, Unseen: 0}, // batch, fill false
		{Refused: 35, Intact: 1, Torn: 0, Unseen: 0}, // batch, fill true
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // aligned, fill false
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // aligned, fill true
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // at a sector, fill false
		{Refused: 11, Intact: 1, Torn: 0, Unseen: 0}, // at a sector, fill true
	},
	"random": {
		{Refused: 5944, Intact: 0, Torn: 56, Unseen: 0},     // all kinds, fill false
		{Refused: 5526, Intact: 426, Torn: 48, Unseen: 0},   // all kinds, fill true
		{Refused: 5764, Intact: 1, Torn: 235, Unseen: 0},    // batch, fill false
		{Refused: 4713, Intact: 1033, Torn: 252, Unseen: 2}, // batch, fill true
		{Refused: 5612, Intact: 0, Torn: 388, Unseen: 0},    // aligned, fill false
		{Refused: 3014, Intact: 2699, Torn: 286, Unseen: 1}, // aligned, fill true
		{Refused: 5437, Intact: 2, Torn: 561, Unseen: 0},    // at a sector, fill false
		{Refused: 4001, Intact: 1614, Torn: 385, Unseen: 0}, // at a sector, fill true
	},
}

// checkDamage does every damage of one kind to every sample.
func checkDamage(kind string, all []sample, read reader) error {
	for _, d := range damages {
		if d.name != kind {
			continue
		}
		var miscounted error // all of them, so that they can be compared at a glance
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
			if failed != nil {
				return failed
			}
			if n != samplesWant[kind][s.n] {
				miscounted = errors.Join(miscounted, fmt.Errorf("%s: %v, want %v", s.name, n, samplesWant[kind][s.n]))
			}
		}
		return miscounted
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
	many := map[string]bool{"cut": true, "bit": true, "byte": true, "random": true}
	n, every := 0, 7
	if raceEnabled {
		every = 29
	}
	for _, d := range damages {
		for _, s := range fewer(samples(t)) {
			d.each(s, func(b []byte, what string) {
				if n++; n%every != 0 && many[d.name] {
					return // the second reader is slow
				}
				if got, want := scan(b), (oracle{}).read(b); !equal(got, want) && !t.Failed() {
					t.Errorf("%s, %s: %v, and the second reader says: %v", s.name, what, got, want)
				}
			})
		}
	}
}

// checkOneByte: rule 9, a bit of an acknowledged record that changes into a newline at the end of
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

// TestOneByteOfFill: rule 9, see checkOneByte.
func TestOneByteOfFill(t *testing.T) {
	if err := checkOneByte(t, scan); err != nil {
		t.Error(err)
	}
}
