package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// explorer crashes a journal at every operation, and again while it recovers.
type explorer struct {
	m      *model
	limits crashfs.Limits // of the first crash
	second crashfs.Limits // of the crash in the recovery
	every  uint64         // second crashes for one in so many images
	stride int            // crash at one in so many operations
	quiet  bool           // do not crash at all

	seen     map[uint64]int       // distinct images, with the records that were in them
	points   map[crashfs.Kind]int // crash points per kind of operation
	distinct map[crashfs.Kind]int // distinct images per kind of operation
	refused  map[string]int       // images refused although nothing but the power failed
	checked  int                  // images opened
	failures []string
}

func newExplorer(m *model) *explorer {
	return &explorer{
		m: m, every: 1, stride: 1,
		seen: map[uint64]int{}, points: map[crashfs.Kind]int{}, distinct: map[crashfs.Kind]int{}, refused: map[string]int{},
	}
}

// noCrash is for the story alone.
func noCrash(m *model) *explorer {
	x := newExplorer(m)
	x.quiet = true
	return x
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
	if x.quiet {
		base.Before, base.After = nil, nil
		return
	}
	changes := 0
	base.Before = func(op crashfs.Op) {
		if op.Kind.Changes() && changes%x.stride == 0 {
			x.powerCuts(base, op, "before ")
		}
	}
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() {
			return
		}
		if changes%x.stride == 0 {
			x.powerCuts(base, op, "after ")
			x.kill(base, op)
		}
		changes++
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
	case x.mayRefuse(img, v, err):
		return -1
	case err != nil:
		x.fail(where(), err)
		return -1
	case j == nil:
		return 0
	}
	if h%x.every == 0 {
		x.recoverCut(again, n, x.m.aside, where)
	}
	return n
}

// mayRefuse counts what a journal is refused for although nothing but the power
// failed, which is allowed in three cases, all beyond what disks do: a sector holds
// bytes that nobody wrote; exactly one byte of a sector was not written, which
// cannot be told from a changed bit; or a cut inside a sector spares all of a line but
// its closing brace, which cannot be told from a whole line with a damaged brace.
func (x *explorer) mayRefuse(img *crashfs.FS, v crashfs.Variant, err error) bool {
	why := ""
	switch {
	case !errors.Is(err, errRefused):
		return false
	case v.Garbage:
		why = "garbage"
	case v.Inside && v.Off == crashfs.Sector-1:
		why = "one byte of a sector short"
	case v.Inside && braceShort(img, err):
		why = "a brace short"
	default:
		return false
	}
	x.refused[why]++
	return true
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
		x.recoverCut(base.Clone(), n, x.m.aside, where)
	}
}

// recoverCut recovers a file system with n records and appends one more, and
// crashes that at every operation: invariants 5 and 6; and 10, what the recovery keeps
// aside is there whenever it was cut short.
func (x *explorer) recoverCut(base *crashfs.FS, n int, kept aside, first func() string) {
	m := &model{wrap: x.m.wrap, bodies: slices.Clone(x.m.bodies[:min(n, len(x.m.bodies))]), lines: slices.Clip(x.m.lines[:min(n, len(x.m.lines))]), alive: n, acked: x.m.acked}
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
				if _, got, err = m.open(img, m.acked); err != nil {
					got = -1
					if !x.mayRefuse(img, v, err) {
						x.fail(where(), err)
					}
				} else if kept.lost(img) {
					x.fail(where(), fmt.Errorf("invariant 10: %d torn bytes are gone, and not in %s", len(kept.text), kept.name))
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
		if err := m.append(base, j, body(journal.KindStep, n+1000+i, 40), durable); err != nil {
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

// counts are what explorers counted, summed.
type counts struct {
	points, distinct map[crashfs.Kind]int
	refused          map[string]int
	images, opened   int
}

func (c *counts) add(x *explorer) {
	if c.points == nil {
		c.points, c.distinct, c.refused = map[crashfs.Kind]int{}, map[crashfs.Kind]int{}, map[string]int{}
	}
	for k, n := range x.points {
		c.points[k] += n
	}
	for k, n := range x.distinct {
		c.distinct[k] += n
		c.images += n
	}
	for why, n := range x.refused {
		c.refused[why] += n
	}
	c.opened += x.checked
}

// String is a table of the counts per operation.
func (c *counts) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(c.points)) {
		fmt.Fprintf(&b, "%-9v %7d crash points %9d distinct images\n", k, c.points[k], c.distinct[k])
	}
	fmt.Fprintf(&b, "%d distinct images, opened %d times; refused: %v", c.images, c.opened, c.refused)
	return b.String()
}

// braceShort reports whether all that is wrong with the line that a journal is refused
// for is that its closing brace is missing.
func braceShort(img *crashfs.FS, err error) bool {
	damage, ok := errors.AsType[*journal.CorruptError](err)
	f, openErr := img.OpenFile(path, os.O_RDONLY, 0)
	if !ok || openErr != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 1<<20)
	n, _ := f.ReadAt(b, damage.Offset)
	text, _, _ := bytes.Cut(bytes.TrimLeft(b[:n], "\n"), []byte("\n"))
	text, _, _ = bytes.Cut(text, []byte{0})
	text = append(bytes.Clone(text), '}')
	h, ok, _ := line.ParseHead(text)
	return ok && line.Verify(text, h)
}
