package journalfile_test

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/pawlgo/pawl/internal/crashfs"
)

// in says which journal a file system holds, while a compaction puts another one in the place of
// that of the model.
func (m *model) in(img *crashfs.FS) *model {
	if m.other != nil && !m.isIn(img) && m.other.isIn(img) {
		return m.other
	}
	return m
}

// isIn reports whether the first record of the journal is the model's.
func (m *model) isIn(img *crashfs.FS) bool {
	if len(m.lines) == 0 {
		return false
	}
	c := img.Content(path)
	return string(c.AppendRange(nil, 0, int64(len(m.lines[0])))) == string(m.lines[0])
}

// total makes of a number of records one that can be compared over compactions, which go on with
// the numbers: the number of the last record.
func (m *model) total(n int) int { return n + max(m.first-1, 0) }

// least is the total that an image must have.
func (m *model) least() int {
	n := m.total(m.acked)
	if m.other != nil {
		n = min(n, m.other.total(m.other.acked))
	}
	return n
}

// compact compacts the journal, crashed at every operation: the old journal or the new one is
// there, whole. What the new one is, is found out on a copy.
func (s *story) compact() error {
	copied := s.base.Clone()
	known := &model{first: s.m.first, bodies: s.m.bodies, lines: s.m.lines}
	j, n, err := known.open(copied, s.m.acked)
	if err == nil {
		_, err = j.Compact(quiet)
	}
	if err != nil {
		return fmt.Errorf("compacting a copy: %w", err)
	}
	next := &model{wrap: s.m.wrap, fault: s.m.fault, first: s.m.total(n) + 1}
	count := int(j.Seq()) - s.m.total(n)
	next.bodies = make([][]byte, count)
	next.settle(copied, count)
	old := s.m
	old.other, next.other = next, old
	_, err = s.j.Compact(quiet)
	old.other, next.other = nil, nil
	if errors.Is(err, syscall.ENOSPC) && old.fault != nil {
		return nil // refuseFill refuses what a large compaction writes, too
	}
	if err != nil {
		return fmt.Errorf("compacting: %w", err)
	}
	s.m, s.x.m = next, next
	s.compacted++
	return nil
}
