package journalfile_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// storyOf tells a story of n records, with a huge one at the end, and crashes it
// everywhere.
func storyOf(wrap func(vfs.FS) vfs.FS, seed uint64, n, stride int) (*explorer, *story, error) {
	x := newExplorer(&model{wrap: wrap})
	x.limits = crashfs.Limits{Sectors: 9, Random: 3, Seed: seed}
	x.second = crashfs.Limits{Sectors: 2, Random: 1, Plain: true, Seed: seed}
	x.every = 64
	x.stride = stride
	s := newStory(x, seed)
	err := s.live(n)
	if err == nil && n > 100 && !x.full() {
		err = s.append(70<<10, true)
	}
	if err == nil && !x.full() {
		err = s.reopen()
	}
	return x, s, err
}

// TestCrashEveryOperation is the proof of the journal under power cuts and kills:
// records waited for and not, of all sizes, restarts of all kinds, torn tails,
// crashed before and behind every operation, and again while they recover.
// Invariants 1, 2, 3, 5, 6, 10 and 12; rules 1, 2, 4 to 12, 14.
//
// With PAWL_LONG it goes on with other seeds up to ten million images.
func TestCrashEveryOperation(t *testing.T) {
	first := seed(t)
	stories, records, stride, want := uint64(5), 215, 1, 100_000
	switch s := scale(); {
	case s < 1:
		stories, records, stride, want = 2, 20, 5, 300
	case s > 1:
		stories, want = 1<<62, 10_000_000
	}
	var mu sync.Mutex
	var total counts
	var wg sync.WaitGroup
	var next atomic.Uint64
	var done atomic.Bool
	start := time.Now()
	written, torn := 0, 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for k := next.Add(1); k <= stories && !done.Load(); k = next.Add(1) {
				n := records
				if scale() > 1 && k%8 > 0 {
					n = 80 // the longer ones find no more per image, and take longer
				}
				x, s, err := storyOf(nil, first+k-1, n, stride)
				mu.Lock()
				total.add(x)
				written += s.m.alive
				torn += s.torn
				if err != nil {
					x.failures = append(x.failures, err.Error())
				}
				for _, f := range x.failures {
					t.Errorf("PAWL_SEED=%d, the first story: %s", first+k-1, f)
				}
				if total.images >= want && scale() > 1 || t.Failed() {
					done.Store(true)
				}
				if scale() > 1 {
					fmt.Fprintf(os.Stderr, "%s: story %d (seed %d), %d distinct images\n", time.Since(start).Round(time.Second), k, first+k-1, total.images)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d records, %d recoveries that cut something off\n%v", written, torn, &total)
	if total.images < want && !t.Failed() {
		t.Errorf("%d distinct images, fewer than %d: the test has become weaker", total.images, want)
	}
}
