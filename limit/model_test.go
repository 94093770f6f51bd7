package limit_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/limit"
)

// visit is a call in the model: when it comes, how long it runs, when it gives up.
type visit struct {
	comes, runs, leaves time.Duration
	began               time.Duration // -1: it gave up
}

type pauseAt struct{ at, d time.Duration }

// world is what happens to a limiter, and how it is made.
type world struct {
	n, calls, burst int
	per             time.Duration
	visits          []visit // by when they come
	pauses          []pauseAt
}

// TestModel compares when calls begin, to the nanosecond, with what a second, simpler telling
// of the rules says; and what they are for, whatever the model says: no window sees more than
// the rate, no moment more than the places.
func TestModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("PAWL_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("PAWL_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range 150 {
		w := makeWorld(rnd)
		want := w.predict()
		synctest.Test(t, func(t *testing.T) {
			w.live(t, limit.New(fresh(t), w.n, limit.Per(w.calls, w.per).Burst(w.burst)))
		})
		for k, v := range w.visits {
			if v.began != want[k] {
				t.Errorf("visit %d of %+v began at %v, want %v", k, v, v.began, want[k])
			}
		}
		w.check(t)
		if t.Failed() {
			t.Fatalf("world %d: %d places, %d in %v, burst %d, pauses %v", i, w.n, w.calls, w.per, w.burst, w.pauses)
		}
	}
}

func makeWorld(rnd *rand.Rand) *world {
	w := &world{n: 1 + rnd.IntN(6), calls: 1 + rnd.IntN(100), burst: 1}
	w.per = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, time.Minute}[rnd.IntN(4)]
	if rnd.IntN(2) == 0 {
		w.burst = 1 + rnd.IntN(20)
	}
	gap := w.per / time.Duration(w.calls)
	// No two things happen at one moment: what comes first then is nobody's promise.
	moment := time.Duration(0)
	unique := func(d time.Duration) time.Duration {
		moment++
		return d/10_000*10_000 + moment
	}
	load := 0.3 + 2*rnd.Float64()
	for at := time.Duration(0); len(w.visits) < 120; {
		at += time.Duration(rnd.ExpFloat64() * float64(gap) / load)
		if rnd.IntN(30) == 0 {
			at += 20 * gap // a lull
		}
		v := visit{comes: unique(at), runs: unique(time.Duration(rnd.ExpFloat64() * float64(gap) * float64(w.n))), leaves: 1 << 62}
		if rnd.IntN(4) == 0 {
			v.leaves = unique(at + 10_000 + time.Duration(rnd.ExpFloat64()*5*float64(gap)))
		}
		w.visits = append(w.visits, v)
		if rnd.IntN(40) == 0 {
			w.pauses = append(w.pauses, pauseAt{unique(at + 10_000), time.Duration(rnd.ExpFloat64() * 10 * float64(gap))})
		}
	}
	return w
}

// predict says when each begins, one after the other as they came: a call begins when those
// before it have begun or left, a place is free, and the rate and the pauses let it.
func (w *world) predict() []time.Duration {
	calls := time.Duration(w.calls)
	gap := (w.per + calls - 1) / calls
	slack := gap * time.Duration(w.burst-1)
	if ms := time.Millisecond; w.burst == 1 && gap < 20*ms && w.per >= 200*ms {
		gap, slack = (w.per+2*ms+calls-1)/calls, 2*ms
	}
	began := make([]time.Duration, len(w.visits))
	pauses := slices.Clone(w.pauses)
	var ends []time.Duration // of those who run, when they all have
	due, turn, paused := time.Duration(-1<<62), time.Duration(0), time.Duration(0)
	for i, v := range w.visits {
		turn = max(turn, v.comes)
		at := turn
		if len(ends) >= w.n {
			slices.SortFunc(ends, cmp.Compare)
			at = max(at, ends[len(ends)-w.n])
		}
		place := at
		for {
			at = max(place, due-slack, paused)
			if len(pauses) == 0 || pauses[0].at > min(at, v.leaves) {
				break
			}
			p := pauses[0]
			pauses = pauses[1:]
			if end := p.at + p.d; p.d > 0 && end > paused {
				paused, due = end, max(due, end+slack)
			}
		}
		if at > v.leaves {
			began[i], turn = -1, max(turn, v.leaves)
			continue
		}
		began[i], turn, due = at, at, max(due, at)+gap
		ends = append(ends, at+v.runs)
	}
	return began
}

// live lets it happen.
func (w *world) live(t *testing.T, l *limit.Limiter) {
	start := time.Now()
	var all sync.WaitGroup
	for i := range w.pauses {
		p := w.pauses[i]
		all.Go(func() {
			time.Sleep(p.at)
			l.Pause(p.d)
		})
	}
	for i := range w.visits {
		v := &w.visits[i]
		all.Go(func() {
			time.Sleep(v.comes)
			ctx := t.Context()
			if v.leaves < 1<<62 {
				c, cancel := context.WithDeadline(ctx, start.Add(v.leaves))
				defer cancel()
				ctx = c
			}
			release, err := l.Acquire(ctx)
			if err != nil {
				v.began = -1
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				return
			}
			v.began = time.Since(start)
			time.Sleep(v.runs)
			release()
		})
	}
	all.Wait()
	if s := l.Stats(); s.Running != 0 || s.Waiting != 0 {
		t.Errorf("at the end: %+v", s)
	}
}

// check holds against what happened what a limiter is for.
func (w *world) check(t *testing.T) {
	t.Helper()
	var begins []time.Duration
	for _, v := range w.visits {
		if v.began >= 0 {
			begins = append(begins, v.began)
		}
	}
	if !slices.IsSorted(begins) {
		t.Error("not first come, first served")
	}
	for i, from := range begins {
		seen := 0
		for _, at := range begins[i:] {
			if at < from+w.per {
				seen++
			}
		}
		if most := w.calls + w.burst - 1; seen > most {
			t.Errorf("%v from %v see %d, the most is %d", w.per, from, seen, most)
		}
		running := 0
		for _, v := range w.visits {
			if v.began >= 0 && v.began <= from && from < v.began+v.runs {
				running++
			}
		}
		if running > w.n {
			t.Errorf("%d run at %v, the most is %d", running, from, w.n)
		}
		for _, p := range w.pauses {
			if p.at < from && from < p.at+p.d {
				t.Errorf("one began at %v, in the pause at %v for %v", from, p.at, p.d)
			}
		}
	}
}
