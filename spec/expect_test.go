package spec_test

import (
	"fmt"
	"slices"
	"strings"
)

// vec is a vector as it is written down here: the journal, and what the page says
// about it.
type vec struct {
	name, section, comment string
	file                   []byte
	want                   want
}

// set collects vectors.
type set struct{ list []vec }

func (s *set) add(name, section, comment string, file []byte, w want) {
	s.list = append(s.list, vec{name, section, comment, file, w})
}

// want is what a reader must find, as header lines behind "expect".
type want struct {
	verdict string
	lines   []string
}

// meaning is what the records mean (section 6). Of result and state "" says absent,
// "?" that the vector does not state it, "!" that it must be refused.
type meaning struct {
	status        string
	attempts      int
	steps         string // JSON
	result, state string
}

// clean is a journal of so many records that ends at end.
func clean(records, end int, m meaning) want {
	return want{"clean", append([]string{number("records", records), number("end", end)}, m.lines()...)}
}

// torn is a file of size bytes whose records end at end.
func torn(records, end, size int, m meaning) want {
	lines := []string{number("records", records), number("end", end), number("torn", size-end)}
	return want{"torn", append(lines, m.lines()...)}
}

// noNewline says that the last record lacks its LF.
func (w want) noNewline() want {
	w.lines = append([]string{"no_newline: true"}, w.lines...)
	return w
}

// also states more, as header lines: names and values in turn.
func (w want) also(pairs ...string) want {
	w.lines = slices.Clone(w.lines)
	for i := 0; i < len(pairs); i += 2 {
		w.lines = append(w.lines, pairs[i]+": "+pairs[i+1])
	}
	return w
}

// damaged is a journal that makes sense up to offset, where record seq belongs.
func damaged(records, offset, seq int) want {
	return want{"damaged", []string{number("records", records), number("offset", offset), number("seq", seq)}}
}

// headless is a journal without a valid first record.
func headless() want { return damaged(0, 0, 1) }

func newer() want { return want{verdict: "newer"} }

func (m meaning) lines() []string {
	lines := []string{"status: " + m.status, number("attempts", m.attempts), "steps: " + m.steps}
	return append(append(lines, text("result", m.result)...), text("state", m.state)...)
}

// longest is how long a text may be that stands in a header, in bytes.
const longest = 4096

func text(name, s string) []string {
	switch {
	case s == "?":
		return nil
	case s == "!":
		return []string{name + ": refused"}
	case s == "":
		return []string{name + ": absent"}
	case len(s) > longest || strings.ContainsFunc(s, breaksLines):
		return []string{name + "_sum: " + sum(s)}
	}
	return []string{name + ": " + s}
}

// breaksLines reports whether some program takes r for the end of a line, or would
// change it.
func breaksLines(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

func number(name string, n int) string { return fmt.Sprintf("%s: %d", name, n) }

// bytes is the vector's file.
func (v vec) bytes() []byte {
	lines := append([]string{"comment: " + v.comment, "section: " + v.section, "expect: " + v.want.verdict}, v.want.lines...)
	return file(strings.Join(lines, "\n"), "\n\n", v.file)
}
