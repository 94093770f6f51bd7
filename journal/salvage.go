package journal

import (
	"fmt"
	"io"
)

// Lost is a stretch of a damaged journal that cannot be used.
type Lost struct {
	Offset int64  `json:"offset"`
	Len    int64  `json:"len"`
	Reason string `json:"reason"`
}

// Salvage finds what is still good in a damaged journal: it calls keep for every record
// that is whole and in its order, and lost for every stretch in between.
//
// A line that is a part of another line's value is no record: what tools return may look
// like a journal. Where lines are marked with their run (see spec/journal-v1.md), those of
// one run count, and no others. Where they are not, a record whose
// predecessor is missing counts if its successor confirms it, or if it is the last one. A
// record that contradicts the one before it does not count, and neither does what
// continues it.
//
// The record given to keep is valid during the call.
func Salvage(src io.ReaderAt, size int64, keep func(*Record) error, lost func(Lost)) error {
	f := &finder{src: src, size: size}
	found, err := f.all()
	if err != nil {
		return err
	}
	reasons := misplaced(found)
	gap := int64(0) // where unusable bytes began
	report := func(end int64, reason string) error {
		if end <= gap {
			return nil
		}
		blank, err := f.onlyNewlines(gap, end)
		if err == nil && !blank {
			lost(Lost{gap, end - gap, reason})
		}
		return err
	}
	s := &Scanner{src: src, size: size}
	for i, c := range found {
		if err := report(c.off, "no record"); err != nil {
			return err
		}
		gap = c.off
		if reasons[i] == "" {
			r, err := s.recordAt(c.off)
			if err != nil {
				return err
			}
			if r == nil {
				return fmt.Errorf("byte %d: the file changes while it is read", c.off)
			}
			gap = c.end()
			if err := keep(r); err != nil {
				return err
			}
			continue
		}
		if err := report(c.end(), reasons[i]); err != nil {
			return err
		}
		gap = c.end()
	}
	return report(size, "no record")
}

// misplaced says of each line that was found why it is not a record of the journal, "" if it is
// one.
func misplaced(found []candidate) []string {
	reasons := make([]string, len(found))
	tag := runTag(found)
	var last, next *candidate
	var wrong *candidate // contradicts the record before it, or continues one that does
	behind := followers(found, tag)
	for i := range found {
		c := &found[i]
		next = behind[i]
		confirmed := tag != "" || next == nil || next.seq == c.seq+1 && next.prev == c.crc
		switch {
		case c.tag != tag:
			reasons[i] = fmt.Sprintf("record %d of another run", c.seq)
			continue
		case last == nil && !c.header && !confirmed:
			reasons[i] = fmt.Sprintf("record %d follows nothing and nothing follows it", c.seq)
			continue
		case last == nil:
		case c.seq <= last.seq:
			reasons[i] = fmt.Sprintf("record %d once more, or out of order", c.seq)
			continue
		case wrong != nil && c.seq == wrong.seq+1 && c.prev == wrong.crc:
			reasons[i] = fmt.Sprintf("record %d continues one that does not belong here", c.seq)
			wrong = c
			continue
		case c.seq == last.seq+1 && c.prev != last.crc:
			reasons[i] = fmt.Sprintf("a record %d that does not continue record %d", c.seq, last.seq)
			wrong = c
			continue
		case c.seq > last.seq+1 && (!confirmed || tag != "" && next != nil && next.seq <= c.seq):
			reasons[i] = fmt.Sprintf("record %d, without the one before it and not confirmed by the one behind it", c.seq)
			continue
		}
		last = c
	}
	return reasons
}

// followers returns for each line the next one of the same run, nil if there is none.
func followers(found []candidate, tag string) []*candidate {
	behind := make([]*candidate, len(found))
	var next *candidate
	for i := len(found) - 1; i >= 0; i-- {
		behind[i] = next
		if found[i].tag == tag {
			next = &found[i]
		}
	}
	return behind
}

// runTag returns the tag of the run that the journal is of, "" if no line has one: that of
// the first header that the line behind it continues, or else the one that most lines have.
func runTag(found []candidate) string {
	count := map[string]int{}
	best := ""
	for i, c := range found {
		if c.tag == "" {
			continue
		}
		if c.header && i+1 < len(found) && found[i+1].tag == c.tag && found[i+1].prev == c.crc {
			return c.tag
		}
		if count[c.tag]++; best == "" || count[c.tag] > count[best] {
			best = c.tag
		}
	}
	return best
}
