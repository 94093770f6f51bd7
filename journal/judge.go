package journal

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
)

// sector is the unit in which a disk loses or tears data.
const sector = int64(512)

// judge decides what the bytes from x on are, which do not continue the journal:
// what a crash left of writes that were never acknowledged (cut it), or damage to
// something that was (refuse).
//
// A record says in dur what was durable when it was written. So a valid record
// anywhere behind x whose dur reaches beyond the last good record proves that
// acknowledged data stood here. Without such a witness the bytes must look like
// an interrupted write, see [Scanner.looksTorn]. Anything else was changed by
// something that is not a crash.
//
// It sets the tail or the error, and reports whether the bytes are damage.
func (s *Scanner) judge(x int64, why string) bool {
	if s.lastSeq == 0 {
		s.err = s.corrupt(x, why) // a journal gets its name only once its first record is durable
		return true
	}
	claim, err := s.claimBehind(x)
	if err != nil {
		s.err = err
		return false
	}
	if claim != nil {
		s.err = s.corrupt(x, fmt.Sprintf("%s, and record %d at byte %d says that %d was durable", why, claim.Seq, claim.Offset, claim.Dur))
		return true
	}
	torn, err := s.looksTorn(x)
	if err != nil {
		s.err = err
		return false
	}
	if torn == "" {
		s.err = s.corrupt(x, why+", and it does not look like an interrupted write")
		return true
	}
	s.tail = Tail{End: x, Torn: s.size - x, Reason: torn, NoNewline: s.noLF}
	return false
}

// claimBehind searches every byte from x on for a valid record that says that
// more than the last good record was durable.
func (s *Scanner) claimBehind(x int64) (*Record, error) {
	const overlap = len(line.Prefix) - 1
	buf := make([]byte, min(window, s.size-x))
	for off := x; off < s.size; {
		n, err := s.src.ReadAt(buf[:min(int64(len(buf)), s.size-off)], off)
		if err != nil && err != io.EOF {
			return nil, err
		}
		for i := 0; ; i++ {
			j := bytes.Index(buf[i:n], []byte(line.Prefix))
			if j < 0 {
				break
			}
			i += j
			if r, err := s.claimAt(off + int64(i)); r != nil || err != nil {
				return r, err
			}
		}
		if n <= overlap || off+int64(n) >= s.size {
			break
		}
		off += int64(n - overlap)
	}
	return nil, nil
}

// claimAt returns the record at off if it is valid, says that more than the last good
// record was durable, and is not a part of another record's value: a tool may well
// return the lines of some journal, and what they claim is not about this one. A
// line of this journal has a newline on both sides. What is cheap to see comes first:
// a value may hold any number of heads that claim to be long.
func (s *Scanner) claimAt(off int64) (*Record, error) {
	h, err := s.headAt(off)
	if err != nil || h.Dur <= s.lastSeq {
		return nil, err
	}
	if inside, err := s.isInside(off, h.Len); inside || err != nil {
		return nil, err
	}
	r, err := s.recordAt(off)
	if r != nil && s.foreign(r.Text) {
		return nil, err
	}
	return r, err
}

// isByte reports whether the byte at off is one of some.
func (s *Scanner) isByte(off int64, some string) (bool, error) {
	if off < 0 {
		return false, nil
	}
	var b [1]byte
	n, err := s.src.ReadAt(b[:], off)
	if err != nil && err != io.EOF {
		return false, err
	}
	return n == 1 && strings.IndexByte(some, b[0]) >= 0, nil
}

// headAt returns the head of the line at off, zero if there is none or the line would
// not fit in the file.
func (s *Scanner) headAt(off int64) (line.Head, error) {
	b := make([]byte, min(int64(line.MaxHead), s.size-off))
	if _, err := s.src.ReadAt(b, off); err != nil && err != io.EOF {
		return line.Head{}, err
	}
	h, ok, _ := line.ParseHead(b)
	if !ok || h.Len > s.size-off {
		return line.Head{}, nil
	}
	return h, nil
}

// recordAt returns the valid record at off, nil if there is none.
func (s *Scanner) recordAt(off int64) (*Record, error) {
	h, err := s.headAt(off)
	if err != nil || h.Len == 0 {
		return nil, err
	}
	text := make([]byte, h.Len)
	if _, err := s.src.ReadAt(text, off); err != nil && err != io.EOF {
		return nil, err
	}
	if !line.Verify(text, h) {
		return nil, nil
	}
	r := parseRecord(h, text, off)
	return &r, nil
}

// looksTorn returns why the bytes from x on look like an interrupted write, "" if
// they do not. Power cuts lose whole sectors: what was not written is NUL in a file
// that grew, and newline in a file that was filled ahead with newlines. So one of
// these must hold for the line that begins at the first byte y >= x that is not a
// newline, and ends at the next newline p:
//
//   - a sector begins behind x and not behind y: the line's beginning is missing;
//   - there is no p: the file ends inside the line;
//   - a sector, as far as it is behind x, is all NUL;
//   - p is at the start of a sector that is all newlines: its rest is missing;
//   - it breaks off inside a sector, see [breaksOff].
//
// Lines follow each other without a gap, and writers never let a newline stand at
// the start of a sector, so that a whole record with a damaged byte is none of
// these.
func (s *Scanner) looksTorn(x int64) (string, error) {
	buf := make([]byte, sector)
	y := int64(-1)
	nul := false // one was seen in the line
	for off := x; off < s.size; {
		piece := buf[:min(sector-off%sector, s.size-off)]
		n, err := s.src.ReadAt(piece, off)
		if err != nil && err != io.EOF {
			return "", err
		}
		if piece = piece[:n]; n == 0 {
			break // cut while we read
		}
		if allAre(piece, 0) {
			return fmt.Sprintf("the sector at byte %d was never written", off-off%sector), nil
		}
		for i, c := range piece {
			at := off + int64(i)
			switch {
			case c != '\n' && y < 0:
				y = at
				if start := y - y%sector; start > x {
					return fmt.Sprintf("the sector before byte %d was never written", start), nil
				}
			case c == '\n' && y >= 0 && at%sector == 0 && allAre(piece, '\n'):
				return fmt.Sprintf("the sector at byte %d was never written", at), nil
			}
			if y >= 0 && (c == '\n' || c == 0 && !nul) {
				if broken, err := s.breaksOff(y, at, piece[i:]); err != nil || broken {
					return fmt.Sprintf("the write broke off at byte %d", at), err
				}
				if c == '\n' {
					return "", nil // the line has an end, and no piece of it is missing
				}
				nul = true
			}
		}
		off += int64(len(piece))
	}
	return "the file ends inside a record", nil
}

// breaksOff reports whether the line at y looks interrupted at q, inside a sector
// whose rest is given: nothing but fill follows in it, and what stands before is
// the beginning of a record and not all of it. One byte of fill is not enough, since
// one changed bit can make it.
func (s *Scanner) breaksOff(y, q int64, rest []byte) (bool, error) {
	if q == y || len(rest) < 2 || !allAre(rest, rest[0]) {
		return false, nil
	}
	text := make([]byte, q-y)
	if _, err := s.src.ReadAt(text, y); err != nil && err != io.EOF {
		return false, err
	}
	h, ok, more := line.ParseHead(text)
	// With only its closing brace missing it may as well be a whole record whose brace
	// was changed into the newline behind it.
	return more || ok && int64(len(text)) < h.Len-1 && line.Unclosed(text), nil
}

func allAre(b []byte, v byte) bool {
	for _, c := range b {
		if c != v {
			return false
		}
	}
	return true
}
