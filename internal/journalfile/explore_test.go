package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// explorer crashes a journal at every operation, and again while it recovers.
type explorer struct {
	plot  plot
	m     *model
	quiet bool // do not crash at all

	seen     map[uint64]seen      // distinct images, by hash
	points   map[crashfs.Kind]int // crash points per kind of operation
	refused  map[string]int       // images refused although nothing but the power failed
	checked  int                  // images opened
	failures []string
}

// seen is what is known of an image.
type seen struct {
	records int          // in it, or one of those below
	by      crashfs.Kind // the operation that was cut
}

const (
	wasRefused = -1
	inRecovery = -2 // seen in a crash of a recovery only, whose promises are others
)

func newExplorer(p plot, m *model) *explorer {
	return &explorer{
		plot: p, m: m,
		seen: map[uint64]seen{}, points: map[crashfs.Kind]int{}, refused: map[string]int{},
	}
}

// noCrash is for the story alone.
func noCrash(m *model) *explorer {
	x := newExplorer(plot{}, m)
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
		if op.Kind.Changes() && changes%x.plot.stride == 0 {
			x.powerCuts(base, op, "before ")
		}
	}
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() {
			return
		}
		if changes%x.plot.stride == 0 {
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
	for img, v := range base.Images(x.plot.first) {
		where := func() string {
			return fmt.Sprintf("power cut %s%v %d %s (%v)", when, op.Kind, op.N, op.Path, v)
		}
		h := img.Hash()
		if s, known := x.seen[h]; known && s.records != inRecovery {
			if s.records >= 0 && s.records < x.m.least() {
				x.fail(where(), fmt.Errorf("invariant 1: %d records, and %d were acknowledged", s.records, x.m.least()))
			}
			continue
		}
		x.seen[h] = seen{x.recover(img, h, v, where), op.Kind}
		if x.full() {
			return
		}
	}
}

// recover opens an image, goes on with it, and crashes it again. It returns the
// number of its records, or wasRefused.
func (x *explorer) recover(img *crashfs.FS, h uint64, v crashfs.Variant, where func() string) int {
	again := x.copyOf(img, h)
	x.checked++
	m := x.m.in(img)
	j, n, err := m.open(img, m.acked)
	switch {
	case x.mayRefuse(img, v, err):
		return wasRefused
	case err != nil:
		x.fail(where(), err)
		return wasRefused
	case j == nil:
		return 0
	}
	if again != nil {
		x.recoverCut(m, again, n, x.plot.depth, where)
	}
	return m.total(n)
}

// copyOf returns a copy of one in so many images, to be recovered once more.
func (x *explorer) copyOf(img *crashfs.FS, h uint64) *crashfs.FS {
	if h%x.plot.every != 0 {
		return nil
	}
	return img.Clone()
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
	m := x.m.in(base.Clone())
	j, n, err := m.open(base.Clone(), m.alive)
	if err != nil {
		x.fail(where(), err)
		return
	}
	if j != nil && op.N%x.plot.kills == 0 {
		x.recoverCut(m, base.Clone(), n, 0, where)
	}
}

// recoverCut recovers a file system with n records of a model and appends two more,
// and crashes that at every operation, and some of the recoveries from that again:
// invariants 5 and 6; and 10, what the recovery keeps aside is there whenever it was cut
// short.
func (x *explorer) recoverCut(from *model, base *crashfs.FS, n, depth int, first func() string) {
	m, kept := from.after(n), from.aside
	known := map[uint64]int{} // with the records in it
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() || x.full() {
			return
		}
		for img, v := range base.Images(x.plot.second) {
			where := func() string {
				return fmt.Sprintf("%s; then power cut after %v %d %s (%v)", first(), op.Kind, op.N, op.Path, v)
			}
			h := img.Hash()
			got, ok := known[h]
			if !ok {
				got = x.recoverAgain(m, img, h, op, v, kept, depth, where)
				known[h] = got
			}
			if got >= 0 && got < m.least() {
				x.fail(where(), fmt.Errorf("invariant 5: %d records, and %d were acknowledged", got, m.least()))
			}
		}
	}
	j, got, err := m.open(base, n)
	if err != nil || got != n {
		x.fail(first(), fmt.Errorf("invariant 5: recovered %d records, then %d: %w", n, got, err))
		return
	}
	m.settle(base, n) // what Open returned is durable
	m.other = nil
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

// recoverAgain opens an image of a crash in a recovery. It returns the number of its
// records, or wasRefused.
func (x *explorer) recoverAgain(m *model, img *crashfs.FS, h uint64, op crashfs.Op, v crashfs.Variant, kept aside, depth int, where func() string) int {
	x.checked++
	if _, all := x.seen[h]; !all {
		x.seen[h] = seen{inRecovery, op.Kind}
	}
	var again *crashfs.FS
	if depth > 0 {
		again = x.copyOf(img, h)
	}
	m = m.in(img)
	j, got, err := m.open(img, m.acked)
	switch {
	case x.mayRefuse(img, v, err):
		return wasRefused
	case err != nil:
		x.fail(where(), err)
		return wasRefused
	case kept.lost(img):
		x.fail(where(), fmt.Errorf("invariant 10: %d torn bytes are gone, and not in %s", len(kept.text), kept.name))
	}
	if again != nil && j != nil {
		x.recoverCut(m, again, got, depth-1, where)
	}
	if j == nil {
		return 0
	}
	return m.total(got)
}

// braceShort reports whether all that is wrong with the line that a journal is refused
// for is that its closing brace is missing.
func braceShort(img *crashfs.FS, err error) bool {
	damage, ok := errors.AsType[*journal.CorruptError](err)
	if !ok {
		return false
	}
	b := img.Content(path).AppendRange(nil, damage.Offset, damage.Offset+1<<20)
	text, _, _ := bytes.Cut(bytes.TrimLeft(b, "\n"), []byte("\n"))
	text, _, _ = bytes.Cut(text, []byte{0})
	text = append(bytes.Clone(text), '}')
	h, ok, _ := line.ParseHead(text)
	return ok && line.Verify(text, h)
}
