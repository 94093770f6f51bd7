package journal

import (
	"bytes"
	"io"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
)

// candidate is a valid line that may be a record of the journal it was found in.
type candidate struct {
	off, len  int64
	seq       int64
	crc, prev uint32
	tag       string // of its run, "" if it has none
	header    bool   // a first record
	runID     string // that it names
	inc       int64  // its incarnation
}

// end returns the offset behind the line, without its newline.
func (c *candidate) end() int64 { return c.off + c.len }

// finder finds valid lines at any byte.
type finder struct {
	src  io.ReaderAt
	size int64

	buf  []byte // window of the file
	off  int64  // where it begins
	tags map[string]string
}

// all returns the valid lines of the file that are not parts of others.
func (f *finder) all() ([]candidate, error) {
	var found []candidate
	s := &Scanner{src: f.src, size: f.size}
	f.tags = map[string]string{}
	for pos := int64(0); ; {
		at, err := f.prefix(pos)
		if err != nil || at < 0 {
			return found, err
		}
		r, err := s.topLevelAt(at)
		if err != nil {
			return found, err
		}
		if r == nil {
			pos = at + 1
			continue
		}
		found = append(found, f.candidate(r))
		pos = found[len(found)-1].end()
	}
}

func (f *finder) candidate(r *Record) candidate {
	tag := string(line.Tag(r.Text))
	if known, ok := f.tags[tag]; ok {
		tag = known // not a string for each of a million lines
	}
	f.tags[tag] = tag
	c := candidate{off: r.Offset, len: int64(len(r.Text)), seq: r.Seq, crc: r.crc, prev: r.prev, tag: tag, header: r.Kind == KindRun}
	if c.header {
		c.runID, c.inc = r.Str("id"), r.Int("inc")
	}
	if c.header && tag != "" && !strings.HasPrefix(r.Str("uid"), tag) {
		c.header = false // it says itself that it is another's
	}
	return c
}

// topLevelAt returns the valid record at off, nil if there is none or it is a part of
// another record's value. What is cheap to see comes first, see [Scanner.claimAt].
func (s *Scanner) topLevelAt(off int64) (*Record, error) {
	h, err := s.headAt(off)
	if err != nil || h.Len == 0 {
		return nil, err
	}
	if inside, err := s.isInside(off, h.Len); inside || err != nil {
		return nil, err
	}
	return s.recordAt(off)
}

// isInside reports whether a line stands where only a part of a JSON value can. A line of
// the journal itself has a newline on both sides, or what damage made of it.
func (s *Scanner) isInside(off, length int64) (bool, error) {
	if inside, err := s.isByte(off-1, ":,["); inside || err != nil {
		return inside, err
	}
	return s.isByte(off+length, "},]")
}

// prefix returns the first offset from a position on at which a line could begin, -1 if
// there is none.
func (f *finder) prefix(pos int64) (int64, error) {
	for pos < f.size {
		b, err := f.at(pos)
		if err != nil || len(b) == 0 {
			return -1, err
		}
		if i := bytes.Index(b, []byte(line.Prefix)); i >= 0 {
			return pos + int64(i), nil
		}
		if pos+int64(len(b)) >= f.size {
			return -1, nil
		}
		pos += int64(max(1, len(b)-len(line.Prefix)+1))
	}
	return -1, nil
}

// at returns bytes of the file from pos on, at least as many as a search needs unless
// the file ends.
func (f *finder) at(pos int64) ([]byte, error) {
	have := f.off + int64(len(f.buf)) - pos
	if pos < f.off || have < int64(len(line.Prefix)) && f.off+int64(len(f.buf)) < f.size {
		if f.buf == nil {
			f.buf = make([]byte, window)
		}
		f.buf = f.buf[:min(int64(window), f.size-pos)]
		n, err := f.src.ReadAt(f.buf, pos)
		if err != nil && err != io.EOF {
			return nil, err
		}
		f.buf, f.off = f.buf[:n], pos
	}
	return f.buf[min(pos-f.off, int64(len(f.buf))):], nil
}

func (f *finder) onlyNewlines(from, to int64) (bool, error) {
	buf := make([]byte, 4096)
	for off := from; off < to; {
		n, err := f.src.ReadAt(buf[:min(int64(len(buf)), to-off)], off)
		if n == 0 && err != nil {
			if err == io.EOF {
				return true, nil // cut while we read
			}
			return false, err
		}
		if len(bytes.Trim(buf[:n], "\n")) > 0 {
			return false, nil
		}
		off += int64(n)
	}
	return true, nil
}
