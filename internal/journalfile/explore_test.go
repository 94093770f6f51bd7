package journalfile_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// explorer crashes a journal at every operation, and again while it recovers.
type explorer struct {
	m      *model
	limits crashfs.Limits // of the first crash
	second crashfs.Limits // of the crash in the recovery
	every  uint64         // second crashes for one in so many images

	seen     map[uint64]int       // distinct images, with the records that were in them
	points   map[crashfs.Kind]int // crash points per kind of operation
	distinct map[crashfs.Kind]int // distinct images per kind of operation
	refused  int                  // images with garbage that were refused
	checked  int                  // images opened
	failures []string
}

func newExplorer(m *model) *explorer {
	return &explorer{
		m: m, every: 1,
		seen: map[uint64]int{}, points: map[crashfs.Kind]int{}, distinct: map[crashfs.Kind]int{},
	}
}

const maxFailures = 5

func (x *explorer) fail(where string, err error) {
	if len(x.failures) < maxFailures {
		x.failures = append(x.failures, fmt.Sprintf("%s: %v", where, err))
	}
}

func (x *explorer) full() bool { return len(x.failures) >= maxFailures }

// watch makes the explorer crash base before and after every operation that
// changes something: the state behind one is the state before the next, with
// what was acknowledged in between.
func (x *explorer) watch(base *crashfs.FS) {
	base.Before = func(op crashfs.Op) {
		if op.Kind.Changes() {
			x.powerCuts(base, op, "before ")
		}
	}
	base.After = func(op crashfs.Op) {
		if op.Kind.Changes() {
			x.powerCuts(base, op, "after ")
			x.kill(base, op)
		}
	}
}

// powerCuts opens every image that a power cut here may leave.
func (x *explorer) powerCuts(base *crashfs.FS, op crashfs.Op, when string) {
	if x.full() {
		return
	}
	x.points[op.Kind]++
	for img, v := range base.Images(x.limits) {
		where := func() string {
			return fmt.Sprintf("power cut %s%v %d %s (%v)", when, op.Kind, op.N, op.Path, v)
		}
		h := img.Hash()
		if n, known := x.seen[h]; known {
			if n >= 0 && n < x.m.acked {
				x.fail(where(), fmt.Errorf("invariant 1: %d records, and %d were acknowledged", n, x.m.acked))
			}
			continue
		}
		x.distinct[op.Kind]++
		x.seen[h] = x.recover(img, h, v, where)
		if x.full() {
			return
		}
	}
}

// recover opens an image, goes on with it, and crashes it again. It returns the
// number of its records, -1 if it was refused.
func (x *explorer) recover(img *crashfs.FS, h uint64, v crashfs.Variant, where func() string) int {
	again := img
	if h%x.every == 0 {
		again = img.Clone()
	}
	x.checked++
	j, n, err := x.m.open(img, x.m.acked)
	switch {
	case errors.Is(err, errRefused) && v.Garbage:
		x.refused++
		return -1
	case err != nil:
		x.fail(where(), err)
		return n
	case j == nil:
		return 0
	}
	if h%x.every == 0 {
		x.recoverCut(again, n, where)
	}
	return n
}

// kill opens what the death of the process leaves: every record whose Append
// returned is there, and what opening found is then safe from a power cut.
func (x *explorer) kill(base *crashfs.FS, op crashfs.Op) {
	if x.full() {
		return
	}
	where := func() string { return fmt.Sprintf("kill after %v %d %s", op.Kind, op.N, op.Path) }
	j, n, err := x.m.open(base.Clone(), x.m.alive)
	if err != nil {
		x.fail(where(), err)
		return
	}
	if j != nil {
		x.recoverCut(base.Clone(), n, where)
	}
}

// recoverCut recovers a file system with n records and appends one more, and
// crashes that at every operation: invariants 5 and 6.
func (x *explorer) recoverCut(base *crashfs.FS, n int, first func() string) {
	m := &model{wrap: x.m.wrap, bodies: slices.Clone(x.m.bodies[:min(n, len(x.m.bodies))]), lines: x.m.lines, alive: n, acked: x.m.acked}
	seen := map[uint64]int{}
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() || x.full() {
			return
		}
		for img, v := range base.Images(x.second) {
			where := func() string {
				return fmt.Sprintf("%s; then power cut after %v %d %s (%v)", first(), op.Kind, op.N, op.Path, v)
			}
			h := img.Hash()
			got, known := seen[h]
			if !known {
				x.checked++
				if _, all := x.seen[h]; !all {
					x.seen[h] = -1 // known to be distinct, not to be checked against later promises
					x.distinct[op.Kind]++
				}
				var err error
				if _, got, err = m.open(img, m.acked); errors.Is(err, errRefused) && v.Garbage {
					x.refused++
					got = -1
				} else if err != nil {
					x.fail(where(), err)
				}
				seen[h] = got
			}
			if got >= 0 && got < m.acked {
				x.fail(where(), fmt.Errorf("invariant 5: %d records, and %d were acknowledged", got, m.acked))
			}
		}
	}
	j, got, err := m.open(base, n)
	if err != nil || got != n {
		x.fail(first(), fmt.Errorf("invariant 5: recovered %d records, then %d: %w", n, got, err))
		return
	}
	m.settle(base, n) // what Open returned is durable
	files := base.Files()
	for i, durable := range []bool{false, true} {
		if err := m.append(j, body(journal.KindStep, n+1000+i, 40), durable); err != nil {
			x.fail(first(), fmt.Errorf("invariant 6: appending after recovery: %w", err))
			return
		}
	}
	if err := j.Close(); err != nil {
		x.fail(first(), fmt.Errorf("invariant 6: closing after recovery: %w", err))
	}
	for _, name := range files {
		if name != path && !strings.HasPrefix(name, path+".torn-") {
			x.fail(first(), fmt.Errorf("invariant 12: %s is left", name))
		}
	}
}

// report prints the counts per operation.
func (x *explorer) report() string {
	var b strings.Builder
	total := 0
	for _, k := range slices.Sorted(maps.Keys(x.distinct)) {
		fmt.Fprintf(&b, "%-9s %7d points %8d distinct images\n", k, x.points[k], x.distinct[k])
		total += x.distinct[k]
	}
	fmt.Fprintf(&b, "%d distinct images, %d opened, %d with garbage refused", total, x.checked, x.refused)
	return b.String()
}

var _ = journalfile.ErrClosed
