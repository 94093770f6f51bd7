package journalfile_test

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// plot says what story is told and how closely it is looked at.
type plot struct {
	seed    uint64
	records int  // about how many
	from    int  // do not crash before that record
	noRoom  bool // the disk has no room for what is filled ahead
	huge    bool // a huge record at the end
	stride  int  // crash at one in so many operations

	every  uint64         // crash the recovery of one in so many images too
	kills  int            // and the recovery from one in so many kills
	depth  int            // and so many times the recoveries from these
	first  crashfs.Limits // of the first crash
	second crashfs.Limits // of those in a recovery
}

// plotOf is a plot as [TestCrashEveryOperation] has them.
func plotOf(seed uint64, records, stride int) plot {
	return plot{
		seed: seed, records: records, stride: stride, every: 64, kills: 1,
		first:  crashfs.Limits{Sectors: 9, Random: 3, Seed: seed},
		second: crashfs.Limits{Sectors: 2, Random: 1, Plain: true, Seed: seed},
	}
}

// tell tells a story and crashes it everywhere.
func (p plot) tell(wrap func(vfs.FS) vfs.FS) (*explorer, *story, error) {
	m := &model{wrap: wrap}
	if p.noRoom {
		m.fault = refuseFill
	}
	x := newExplorer(p, m)
	x.quiet = p.from > 0
	s := newStory(x, p.seed)
	err := s.live(p.records)
	if err == nil && p.huge && !x.full() {
		err = s.append(70<<10, true)
	}
	if err == nil && !x.full() {
		err = s.reopen()
	}
	return x, s, err
}

// refuseFill is a disk that is so full that a record fits and what is filled ahead does
// not: how much of that is written before it is told is anything.
func refuseFill(op crashfs.Op) crashfs.Fault {
	if op.Kind != crashfs.Write || op.Size < 64<<10 {
		return crashfs.Fault{}
	}
	return crashfs.Fault{Err: syscall.ENOSPC, Short: []int{0, 1, 90, 700, 3000}[op.N%5]}
}

// TestCrashEveryOperation is the proof of the journal under power cuts and kills:
// records waited for and not, of all sizes, restarts of all kinds, torn tails, a disk
// too full to fill ahead, crashed before and behind every operation, and again while
// they recover. Invariants 1, 2, 3, 5, 6, 10 and 12; rules 1, 2, 4 to 12, 14.
//
// [TestCrashMillions1] and its like go on with other stories.
func TestCrashEveryOperation(t *testing.T) {
	first, want := seed(t), 100_000
	var plots []plot
	if scale() < 1 {
		want = 300
		plots = []plot{plotOf(first, 20, 5), plotOf(first+1, 20, 5)}
	} else {
		for k := range uint64(17) {
			p := plotOf(first+k, 60, 1)
			p.noRoom = k%4 != 0
			p.depth = int(k % 2)
			if k == 0 { // filled ahead more than once
				p.records, p.from, p.huge = 215, 140, true
			}
			plots = append(plots, p)
		}
	}
	total := newCounts()
	sum := tellAll(t, slices.Values(plots), total)
	t.Logf("%d records, %d recoveries that cut something off, %d compactions\n%v", sum.records, sum.torn, sum.compacted, total)
	if scale() >= 1 && sum.compacted < 17 && !t.Failed() {
		t.Errorf("%d compactions", sum.compacted)
	}
	if total.images() < want && !t.Failed() {
		t.Errorf("%d distinct images, fewer than %d: the test has become weaker", total.images(), want)
	}
}

// told is what was told in stories.
type told struct{ records, torn, compacted int }

// tellAll tells stories, as many at a time as there are processors, until there is no
// further one, or one failed, and adds to the counts.
func tellAll(t *testing.T, plots iter.Seq[plot], total *counts) (sum told) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, stop := iter.Pull(plots)
	defer stop()
	draw := func() (plot, bool) {
		mu.Lock()
		defer mu.Unlock()
		p, ok := next()
		return p, ok && !t.Failed()
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p, ok := draw(); ok; p, ok = draw() {
				x, s, err := p.tell(nil)
				if err != nil {
					x.failures = append(x.failures, err.Error())
				}
				for _, f := range x.failures {
					t.Errorf("%+v: %s", p, f)
				}
				mu.Lock()
				total.add(x)
				sum.records += s.m.alive
				sum.torn += s.torn
				sum.compacted += s.compacted
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum
}
