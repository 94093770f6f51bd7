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
// like a journal. Lines that continue each other are a chain; those chains are kept whose
// numbers rise and which hold the most records together. Where lines are marked with their
// run (see spec/journal-v1.md), only those of one run count: that of the first record with
// this run ID, if one is there, or else the one that most lines are of. Where they are not, a
// single record counts only if it continues a chain, or begins or ends the file.
//
// The record given to keep is valid during the call.
func Salvage(src io.ReaderAt, size int64, runID string, keep func(*Record) error, lost func(Lost)) error {
	f := &finder{src: src, size: size}
	found, err := f.all()
	if err != nil {
		return err
	}
	reasons := misplaced(found, runID)
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

// misplaced says of each line that was found why it is not a record of the journal, "" if
// it is one.
func misplaced(found []candidate, runID string) []string {
	reasons := make([]string, len(found))
	tag := runTag(found, runID)
	var own []int // lines of the run
	for i, c := range found {
		if c.tag == tag {
			own = append(own, i)
		} else {
			reasons[i] = fmt.Sprintf("record %d of another run", c.seq)
		}
	}
	kept := make([]bool, len(found))
	for _, ch := range bestChains(chainsOf(found, own), tag != "") {
		for _, i := range ch.lines {
			kept[i] = true
		}
	}
	var last *candidate
	for _, i := range own {
		c := &found[i]
		switch {
		case kept[i]:
			last = c
		case last != nil && c.seq <= last.seq:
			reasons[i] = fmt.Sprintf("record %d once more, or out of order", c.seq)
		case last != nil && c.seq == last.seq+1 && c.prev != last.crc:
			reasons[i] = fmt.Sprintf("a record %d that does not continue record %d", c.seq, last.seq)
		default:
			reasons[i] = fmt.Sprintf("record %d, without the one before it and not confirmed by the one behind it", c.seq)
		}
	}
	return reasons
}

// runTag returns the tag of the run that the journal is of, "" if no line has one.
func runTag(found []candidate, runID string) string {
	count := map[string]int{}
	best := ""
	for i, c := range found {
		if c.tag == "" {
			continue
		}
		if c.header && runID != "" && c.runID == runID {
			return c.tag
		}
		count[c.tag]++
		if c.header && i+1 < len(found) && found[i+1].tag == c.tag && found[i+1].prev == c.crc {
			count[c.tag]++ // of two runs with as many lines it is rather the one that is begun here
		}
	}
	for _, c := range found { // in their order, so that equal counts have one winner
		if n := count[c.tag]; n > 0 && (best == "" || n > count[best]) {
			best = c.tag
		}
	}
	return best
}
