package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"strconv"

	"github.com/pawlgo/pawl/internal/line"
)

// oracle is a second reader of journals, written from the rules with other means
// (regular expressions, encoding/json, the whole file in memory). The tests compare
// it with the Scanner. With a bug planted it is what they must tell from it.
type oracle struct{ bug string }

// The bugs that can be planted. Each is one line of a careless reader.
const (
	bugNewlineSearch = "looks for later records only behind newlines"
	bugNoDur         = "does not look whether a later record calls the bytes durable"
	bugAnyDur        = "takes any later record for a proof of damage"
	bugEmbedded      = "takes a record inside a value for one of the journal"
	bugNoPrev        = "does not check prev"
	bugNoSeq         = "does not check seq"
	bugNoCRC         = "does not check crc"
	bugAlwaysTorn    = "takes every bad tail for an interrupted write"
	bugNeverTorn     = "takes every bad tail for damage"
	bugNoFillShape   = "does not know that a missing sector may be newlines"
	bugNoInside      = "does not know that a write may break off inside a sector"
	bugOneByte       = "takes one byte of fill for a write that broke off"
	bugClosed        = "takes a shorter line, whole as JSON, for one that broke off"
	bugNoLFTorn      = "drops a last record that only lacks its newline"
	bugSplitOnly     = "does not check len"
)

var oracleBugs = []string{
	bugNewlineSearch, bugNoDur, bugAnyDur, bugEmbedded, bugNoPrev, bugNoSeq, bugNoCRC, bugAlwaysTorn, bugNeverTorn,
	bugNoFillShape, bugNoInside, bugOneByte, bugClosed, bugNoLFTorn, bugSplitOnly,
}

// outcome is what a reader makes of the bytes of a journal.
type outcome struct {
	lines     []string
	verdict   string // clean, torn, damaged, newer
	end       int    // where a writer goes on, unless damaged
	noNewline bool
}

func (r outcome) String() string {
	return fmt.Sprintf("%d records, %s, end %d, newline missing %v", len(r.lines), r.verdict, r.end, r.noNewline)
}

var headForm = regexp.MustCompile(`^\{"crc":"([0-9a-f]{8})","len":(0|[1-9]\d{0,14}),"prev":"([0-9a-f]{8})","seq":(0|[1-9]\d{0,14}),"dur":(0|[1-9]\d{0,14}),`)

type lineInfo struct {
	text           string
	crc, prev      uint64
	seq, dur, size int
}

// lineAt returns the valid line at off, nil if there is none.
func (o oracle) lineAt(b []byte, off int) *lineInfo {
	m := headForm.FindSubmatch(b[off:min(len(b), off+200)])
	if m == nil {
		return nil
	}
	n := func(i, base int) int {
		v, _ := strconv.ParseUint(string(m[i]), base, 63)
		return int(v)
	}
	length := n(2, 10)
	if o.bug == bugSplitOnly {
		length = bytes.IndexByte(b[off:], '\n')
	}
	if length <= len(m[0]) || length > len(b)-off || n(4, 10) < 1 || n(5, 10) >= n(4, 10) {
		return nil
	}
	text := b[off : off+length]
	crc := crc32.Checksum(text[18:], crc32.MakeTable(crc32.Castagnoli))
	if o.bug != bugNoCRC && crc != uint32(n(1, 16)) || text[length-1] != '}' || bytes.IndexByte(text, '\n') >= 0 {
		return nil
	}
	return &lineInfo{string(text), uint64(n(1, 16)), uint64(n(3, 16)), n(4, 10), n(5, 10), length}
}

func (o oracle) read(b []byte) outcome {
	r := outcome{}
	var last lineInfo
	for {
		at := r.end
		for at < len(b) && b[at] == '\n' {
			at++
		}
		if at == len(b) {
			r.verdict = "clean"
			if len(r.lines) == 0 {
				r.verdict = "damaged"
			}
			return r
		}
		l := o.lineAt(b, at)
		if r.noNewline && at == r.end {
			l = nil
		}
		if l != nil && len(r.lines) == 0 {
			var first struct {
				Kind   string
				Format int
				Inc    int
			}
			switch err := json.Unmarshal([]byte(l.text), &first); {
			case err == nil && first.Kind == "run" && first.Format > 1:
				r.verdict = "newer"
				return r
			case err != nil || first.Kind != "run" || first.Format < 1 || first.Inc < 1 || first.Inc == 1 && (l.seq != 1 || l.prev != 0):
				l = nil
			}
		} else if l != nil && (o.bug != bugNoSeq && l.seq != last.seq+1 || o.bug != bugNoPrev && l.prev != last.crc) {
			l = nil
		}
		if l == nil {
			r.verdict = o.judge(b, r.end, len(r.lines), last.seq)
			return r
		}
		last = *l
		r.lines = append(r.lines, l.text)
		r.end = at + l.size
		if r.noNewline = r.end == len(b) || b[r.end] != '\n'; !r.noNewline {
			r.end++
		} else if o.bug == bugNoLFTorn {
			r.lines, r.end, r.noNewline = r.lines[:len(r.lines)-1], at, false
			r.verdict = "torn"
			return r
		}
	}
}

// judge tells torn from damaged.
func (o oracle) judge(b []byte, x, records, seq int) string {
	if records == 0 || o.claimed(b, x, seq) {
		return "damaged"
	}
	if o.bug == bugAlwaysTorn || o.bug != bugNeverTorn && o.torn(b, x) {
		return "torn"
	}
	return "damaged"
}

// claimed reports whether a valid line behind x says that more than seq was durable.
func (o oracle) claimed(b []byte, x, seq int) bool {
	for off := x; ; off++ {
		i := bytes.Index(b[off:], []byte(`{"crc":"`))
		if i < 0 || o.bug == bugNoDur {
			return false
		}
		off += i
		l := o.lineAt(b, off)
		if l == nil || l.dur <= seq && o.bug != bugAnyDur || o.bug == bugNewlineSearch && off > 0 && b[off-1] != '\n' {
			continue
		}
		inside := off > 0 && bytes.IndexByte([]byte(":,["), b[off-1]) >= 0 || off+l.size < len(b) && bytes.IndexByte([]byte("},]"), b[off+l.size]) >= 0
		if !inside || o.bug == bugEmbedded {
			return true
		}
	}
}

// torn reports whether the bytes from x on look like an interrupted write.
func (o oracle) torn(b []byte, x int) bool {
	const sector = 512
	y := x
	for b[y] == '\n' {
		y++
	}
	p := y + bytes.IndexByte(b[y:], '\n')
	if p < y {
		p = len(b)
	}
	for s := x / sector * sector; s < p; s += sector {
		piece := b[max(s, x):min(s+sector, len(b))]
		if len(bytes.Trim(piece, "\x00")) == 0 {
			return true // a sector that was never written
		}
	}
	if p == len(b) {
		return true // the file ends inside the line
	}
	rest := func(q int) []byte { return b[q:min((q/sector+1)*sector, len(b))] }
	only := func(q int, c string) bool { return len(bytes.Trim(rest(q), c)) == 0 }
	if o.bug != bugNoFillShape && (y/sector*sector > x || p%sector == 0 && only(p, "\n")) {
		return true // the beginning or the rest of the line was never written
	}
	if o.bug == bugNoInside {
		return false
	}
	enough := 2
	if o.bug == bugOneByte {
		enough = 1
	}
	q := p
	if nul := bytes.IndexByte(b[y:p], 0); nul >= 0 && only(y+nul, "\x00") {
		q = y + nul
	} else if !only(p, "\n") {
		return false
	}
	return q > y && len(rest(q)) >= enough && o.begins(b[y:q])
}

// begins reports whether text is the beginning of a line and not all of it.
func (o oracle) begins(text []byte) bool {
	if _, _, more := line.ParseHead(text); more {
		return true
	}
	m := headForm.FindSubmatch(text)
	if m == nil {
		return false
	}
	if n, _ := strconv.Atoi(string(m[2])); n <= len(text)+1 || n <= len(m[0]) {
		return false
	}
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&v)
	return errors.Is(err, io.ErrUnexpectedEOF) || o.bug == bugClosed && err == nil
}
