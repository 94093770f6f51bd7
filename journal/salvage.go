package journal

import (
	"bytes"
	"fmt"
	"io"

	"github.com/pawlgo/pawl/internal/line"
)

// Lost is a stretch of a damaged journal that cannot be used.
type Lost struct {
	Offset int64  `json:"offset"`
	Len    int64  `json:"len"`
	Reason string `json:"reason"`
}

// Salvage finds what is still good in a damaged journal: it calls keep for every
// record that is whole and in its order, and lost for every stretch in between. A
// record whose predecessor is missing counts if its successor confirms it, or if it
// is the last one; so a foreign or repeated line never displaces the run's own.
//
// The record given to keep is valid during the call.
func Salvage(src io.ReaderAt, size int64, keep func(*Record) error, lost func(Lost)) error {
	var last *Record // accepted last, without its text
	accept := func(r *Record) error {
		last = &Record{Seq: r.Seq, crc: r.crc}
		return keep(r)
	}
	f := &finder{src: src, size: size}
	gap := int64(0) // where unusable bytes began
	report := func(end int64, reason string) {
		if end > gap && !f.onlyNewlines(gap, end) {
			lost(Lost{gap, end - gap, reason})
		}
	}
	cur, err := f.next(0)
	for cur != nil && err == nil {
		end := cur.Offset + int64(len(cur.Text))
		var after *Record
		after, err = f.next(end)
		if err != nil {
			break
		}
		switch why := misplaced(last, cur, after); why {
		case "":
			report(cur.Offset, "no record")
			gap = end
			if err = accept(cur); err != nil {
				return err
			}
		default:
			report(cur.Offset, "no record")
			gap = cur.Offset
			report(end, why)
			gap = end
		}
		cur = after
	}
	if err == nil {
		report(size, "no record")
	}
	return err
}

// misplaced says why a whole record does not belong where it stands.
func misplaced(last, r, after *Record) string {
	confirmed := after == nil || after.Seq == r.Seq+1 && after.Prev() == r.crc
	switch {
	case last == nil && (r.Kind == KindRun || confirmed):
		return ""
	case last == nil:
		return fmt.Sprintf("record %d follows nothing and nothing follows it", r.Seq)
	case r.Seq <= last.Seq:
		return fmt.Sprintf("record %d once more, or out of order", r.Seq)
	case r.Seq == last.Seq+1 && r.Prev() != last.crc:
		return fmt.Sprintf("a record %d that does not continue record %d", r.Seq, last.Seq)
	case r.Seq > last.Seq+1 && !confirmed:
		return fmt.Sprintf("record %d, without the one before it and not confirmed by the one behind it", r.Seq)
	}
	return ""
}

// finder finds whole records at any byte.
type finder struct {
	src  io.ReaderAt
	size int64

	buf []byte // window of the file
	off int64  // where it begins
}

// next returns the first whole record from a position on, nil if there is none.
func (f *finder) next(from int64) (*Record, error) {
	s := &Scanner{src: f.src, size: f.size}
	for pos := from; pos < f.size; {
		b, err := f.at(pos)
		if err != nil || len(b) == 0 {
			return nil, err
		}
		i := bytes.Index(b, []byte(line.Prefix))
		if i < 0 {
			if pos+int64(len(b)) >= f.size {
				return nil, nil
			}
			pos += int64(max(1, len(b)-len(line.Prefix)+1))
			continue
		}
		pos += int64(i)
		r, err := s.recordAt(pos)
		if err != nil || r != nil {
			return r, err
		}
		pos++
	}
	return nil, nil
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

func (f *finder) onlyNewlines(from, to int64) bool {
	buf := make([]byte, 4096)
	for off := from; off < to; {
		n, err := f.src.ReadAt(buf[:min(int64(len(buf)), to-off)], off)
		if n == 0 && err != nil {
			return false
		}
		if len(bytes.Trim(buf[:n], "\n")) > 0 {
			return false
		}
		off += int64(n)
	}
	return true
}
