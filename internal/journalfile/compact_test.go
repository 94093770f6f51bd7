package journalfile_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// compaction is a journal that is compacted, and the two journals that may be there
// while that happens.
type compaction struct {
	story    *story
	old, new *model
	wrap     func(vfs.FS) vfs.FS
}

// newCompacting makes a journal of which half is history, and finds out on a copy
// what it is compacted to.
func newCompacting(wrap func(vfs.FS) vfs.FS) (*compaction, error) {
	s := newStory(noCrash(&model{wrap: wrap}), 1)
	if err := s.create(); err != nil {
		return nil, err
	}
	for i := range 12 {
		if err := s.m.append(s.base, s.j, body(journal.KindStep, i%6, 200), i%4 == 3); err != nil {
			return nil, err
		}
	}
	c := &compaction{story: s, old: s.m, wrap: wrap}
	copied := s.base.Clone()
	j, n, err := (&model{bodies: s.m.bodies, lines: s.m.lines}).open(copied, 0)
	if err != nil {
		return nil, err
	}
	if _, err := j.Compact(func(string) {}); err != nil {
		return nil, err
	}
	c.new = &model{wrap: wrap, first: n + 1}
	c.new.bodies = make([][]byte, 100)
	c.new.settle(copied, int(j.Seq())-n)
	return c, nil
}

// either opens the journal, which must be the old or the new one, whole. Done says
// that it must be the new one.
func (c *compaction) either(base *crashfs.FS, done bool) (*model, error) {
	m := &model{wrap: c.wrap, first: c.new.first, bodies: c.new.bodies, lines: c.new.lines, alive: c.new.alive, acked: c.new.acked}
	_, _, newErr := m.open(base.Clone(), m.acked)
	if newErr == nil || done {
		return m, newErr
	}
	m = &model{wrap: c.wrap, bodies: c.old.bodies, lines: c.old.lines, alive: c.old.alive, acked: c.old.acked}
	_, _, oldErr := m.open(base.Clone(), m.acked)
	if oldErr != nil {
		return nil, fmt.Errorf("neither the old journal (%w) nor the new one (%w)", oldErr, newErr)
	}
	return m, nil
}

// goOn opens what is left, appends, and cuts the power again: whichever of the two
// journals was there then stays, with what was appended (invariant 6).
func (c *compaction) goOn(base *crashfs.FS, done bool) error {
	m, err := c.either(base, done)
	if err != nil {
		return err
	}
	j, n, err := m.open(base, m.acked)
	if err != nil {
		return err
	}
	m.settle(base, n)
	if err := m.append(base, j, body(journal.KindStep, 500, 30), true); err != nil {
		return err
	}
	for img, v := range base.Images(crashfs.Limits{Sectors: 2, Plain: true}) {
		if _, _, err := m.open(img, m.acked); err != nil {
			return fmt.Errorf("after going on, power cut (%v): %w", v, err)
		}
	}
	return nil
}

// crashCompaction compacts and crashes that at every operation.
func crashCompaction(wrap func(vfs.FS) vfs.FS) (images int, err error) {
	c, err := newCompacting(wrap)
	if err != nil {
		return 0, err
	}
	base := c.story.base
	seen := map[uint64]bool{}
	var failed error
	crash := func(op crashfs.Op, done bool) {
		if !op.Kind.Changes() || failed != nil {
			return
		}
		where := fmt.Sprintf("%v %d %s", op.Kind, op.N, op.Path)
		for img, v := range base.Images(crashfs.Limits{Sectors: 6, Random: 2}) {
			if h := img.Hash(); !seen[h] && !v.Garbage {
				seen[h] = true
				images++
				if err := c.goOn(img, done); err != nil {
					failed = fmt.Errorf("power cut after %s (%v): %w", where, v, err)
					return
				}
			}
		}
		if err := c.goOn(base.Clone(), done); err != nil {
			failed = fmt.Errorf("kill after %s: %w", where, err)
		}
	}
	base.After = func(op crashfs.Op) { crash(op, false) }
	if _, err := c.story.j.Compact(func(string) {}); err != nil {
		return images, errors.Join(failed, err)
	}
	base.After = nil
	clear(seen)
	crash(crashfs.Op{Kind: crashfs.SyncDir, Path: "the end"}, true)
	if failed != nil {
		return images, failed
	}
	m := c.new
	if err := m.append(base, c.story.j, body(journal.KindStep, 600, 900), true); err != nil {
		return images, err
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		if _, _, err := m.open(img, m.acked); err != nil {
			return images, fmt.Errorf("after appending to the new journal, power cut (%v): %w", v, err)
		}
	}
	return images, nil
}

// TestCrashWhileCompacting: at every moment one of the two journals is there, whole,
// and what is appended afterwards stays (invariants 1, 5, 6, rule 6).
func TestCrashWhileCompacting(t *testing.T) {
	n, err := crashCompaction(nil)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d distinct images", n)
}

// TestFaultsWhileCompacting: rules 3 and 6, invariants 1, 7 and 8: whatever fails, one of the two journals is there, and
// if the handle still appends, that is durable.
func TestFaultsWhileCompacting(t *testing.T) {
	runs := 0
	errs, often := errnos, crashfs.Times
	if scale() < 1 {
		errs, often = errs[:1], often[:1]
	}
	for _, kind := range crashfs.Kinds() {
		for _, fault := range faultsOfAll(kind, errs) {
			for _, times := range often {
				for n := 1; ; n++ {
					c, err := newCompacting(nil)
					if err != nil {
						t.Fatal(err)
					}
					base := c.story.base
					first := base.Count(kind)
					base.Fault = crashfs.Nth(kind, first+n, times, fault)
					_, compactErr := c.story.j.Compact(func(string) {})
					if base.Count(kind) < first+n {
						break
					}
					runs++
					base.Fault = nil
					where := fmt.Sprintf("%v %d of %d times, %+v", kind, n, times, fault)
					if compactErr != nil && !errors.Is(compactErr, fault.Err) {
						t.Errorf("%s: the error is %v", where, compactErr)
					}
					m, err := c.either(base, compactErr == nil)
					if err != nil {
						t.Errorf("%s: %v", where, err)
						continue
					}
					if err := m.append(base, c.story.j, body(journal.KindStep, 700, 30), true); err != nil && compactErr == nil {
						t.Errorf("%s: appending: %v", where, err)
					}
					m.lying = true
					for img, v := range base.Images(crashfs.Limits{Sectors: 2, Plain: true}) {
						_, _, err := m.open(img, m.acked)
						if m.acked == c.old.acked || m.acked == c.new.acked { // nothing was appended
							_, err = c.either(img, compactErr == nil)
						}
						if err != nil {
							t.Errorf("%s: power cut (%v): %v", where, v, err)
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs with a fault", runs)
}

// faultsOfAll lists how an operation of a kind may fail with these errors.
func faultsOfAll(kind crashfs.Kind, errs []syscall.Errno) (all []crashfs.Fault) {
	for _, errno := range errs {
		all = append(all, faultsOf(kind, errno)...)
	}
	return all
}
