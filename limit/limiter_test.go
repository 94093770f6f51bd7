package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
)

var names atomic.Int64

// fresh returns a name that no limiter has, also when a test runs again in this process.
func fresh(t *testing.T) string { return fmt.Sprint(t.Name(), " ", names.Add(1)) }

// begun notes when calls begin.
type begun struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration
	who   []string
}

func (b *begun) note(who string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = append(b.at, time.Since(b.start))
	b.who = append(b.who, who)
}

// call lets who wait for its turn in a goroutine, run for d and end. It returns when it waits or
// runs.
func (b *begun) call(t *testing.T, l *limit.Limiter, who string, d time.Duration) {
	t.Helper()
	go func() {
		release, err := l.Acquire(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		b.note(who)
		time.Sleep(d)
		release()
	}()
	synctest.Wait()
}

// TestSpacing: when calls begin that all want to at once, by rate, burst and places.
func TestSpacing(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for name, tt := range map[string]struct {
		n    int
		rate limit.Rate
		took time.Duration
		want []time.Duration
	}{
		"evenly":          {10, limit.PerSecond(10), 0, []time.Duration{0, 100 * ms, 200 * ms, 300 * ms}},
		"burst":           {10, limit.PerSecond(10).Burst(3), 0, []time.Duration{0, 0, 0, 100 * ms, 200 * ms}},
		"no rate":         {3, limit.Unlimited(), 50 * ms, []time.Duration{0, 0, 0, 50 * ms, 50 * ms, 50 * ms, 100 * ms}},
		"one at a time":   {1, limit.Unlimited(), time.Second, []time.Duration{0, time.Second, 2 * time.Second}},
		"places and rate": {2, limit.PerSecond(10), 250 * ms, []time.Duration{0, 100 * ms, 250 * ms, 350 * ms, 500 * ms}},
		"minute":          {8, limit.PerMinute(500), 0, []time.Duration{0, 120 * ms, 240 * ms}},
		"hour":            {8, limit.PerHour(2), 0, []time.Duration{0, 30 * time.Minute, time.Hour}},
		// Up to 2 ms earlier than evenly, for which the gap is 2.004 ms.
		"fast":              {8, limit.PerSecond(500), 0, []time.Duration{0, 4 * us, 2008 * us, 4012 * us}},
		"very fast":         {8, limit.PerSecond(2000), 0, []time.Duration{0, 0, 0, 0, 4 * us, 505 * us, 1006 * us}},
		"rounded up":        {8, limit.Per(3, 10), 0, []time.Duration{0, 4, 8, 12}},
		"a gap of almost 0": {8, limit.Per(5, 2), 0, []time.Duration{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limit.New(fresh(t), tt.n, tt.rate)
				b := begun{start: time.Now()}
				for i := range tt.want {
					go func() { // not by call: that would let each begin before the next wants to
						release, err := l.Acquire(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						defer release()
						b.note(fmt.Sprint(i))
						time.Sleep(tt.took)
					}()
				}
				time.Sleep(3 * time.Hour)
				synctest.Wait()
				if !slices.Equal(b.at, tt.want) {
					t.Errorf("began at %v, want %v", b.at, tt.want)
				}
				if s := l.Stats(); s != (limit.Stats{Started: int64(len(tt.want))}) {
					t.Errorf("at the end: %+v", s)
				}
			})
		})
	}
}

// What was not used is not saved up, beyond the burst.
func TestNothingSavedUp(t *testing.T) {
	for burst, want := range map[int][]time.Duration{
		1: {0, 100 * time.Millisecond, 200 * time.Millisecond},
		2: {0, 0, 100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := limit.New(fresh(t), 10, limit.PerSecond(10).Burst(burst))
			for range 2 {
				time.Sleep(time.Hour)
				b := begun{start: time.Now()}
				for i := range 3 {
					b.call(t, l, fmt.Sprint(i), 0)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if !slices.Equal(b.at, want) {
					t.Errorf("burst %d: began at %v, want %v", burst, b.at, want)
				}
			}
		})
	}
}

// First come, first served: also when many of one run came before one of another, when some
// give up in between, and when one comes at the very moment when a place becomes free.
func TestFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(fresh(t), 1, limit.Unlimited())
		b := begun{start: time.Now()}
		var want []string
		for i := range 50 {
			who := fmt.Sprint("run ", i%3, " item ", i)
			if i%7 == 3 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Second/2)
				defer cancel()
				go func() {
					if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("item %d: %v", i, err)
					}
				}()
				synctest.Wait()
				continue
			}
			b.call(t, l, who, time.Second)
			want = append(want, who)
		}
		if s := l.Stats(); s.Running != 1 || s.Waiting != 49 {
			t.Errorf("stats = %+v", s)
		}
		time.Sleep(10 * time.Second) // one ends, and one comes
		b.call(t, l, "the last", 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		if want = append(want, "the last"); !slices.Equal(b.who, want) {
			t.Errorf("began: %q\nwant:  %q", b.who, want)
		}
		if last := b.at[len(b.at)-1]; last != time.Duration(len(want)-1)*time.Second {
			t.Errorf("the last began after %v: those who left held it up", last)
		}
	})
}

// TestCancel: the error of a context that ends while its call waits, for a place, for the rate
// and for the end of a pause; and nothing is held by it.
func TestCancel(t *testing.T) {
	cause := errors.New("the user left")
	for name, block := range map[string]func(t *testing.T, l *limit.Limiter){
		"for a place": func(t *testing.T, l *limit.Limiter) {
			release, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Hour, release)
		},
		"for the rate": func(t *testing.T, l *limit.Limiter) {
			release, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			release()
		},
		"for the end of a pause": func(_ *testing.T, l *limit.Limiter) { l.Pause(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limit.New(fresh(t), 1, limit.PerHour(1))
				start := time.Now()
				block(t, l)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(cause) })
				for range 2 { // while it waits, and when the context has ended before
					release, err := l.Acquire(ctx)
					_, is := errors.AsType[*pawl.RunError](err)
					if !is || release != nil || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) || time.Since(start) != time.Second {
						t.Errorf("%v: %v", time.Since(start), err)
					}
				}
				if s := l.Stats(); s.Waiting != 0 {
					t.Errorf("stats = %+v", s)
				}
				release, err := l.Acquire(t.Context())
				if err != nil || time.Since(start) != time.Hour {
					t.Errorf("the next began after %v, %v", time.Since(start), err)
				}
				release()
			})
		})
	}
}

// A context that ends at the moment at which its turn comes: either it is served or not, and if
// not, its place in the rate is somebody else's.
func TestCancelAtTheMoment(t *testing.T) {
	served := 0
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			l := limit.New(fresh(t), 1, limit.PerHour(1))
			start := time.Now()
			release, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			release()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			want := time.Hour
			if release, err := l.Acquire(ctx); err == nil {
				served++
				want = 2 * time.Hour
				release()
			}
			if release, err = l.Acquire(t.Context()); err != nil || time.Since(start) != want {
				t.Errorf("the next began after %v, %v; want %v", time.Since(start), err, want)
			}
			release()
			if s := l.Stats(); s.Running != 0 || s.Waiting != 0 || s.Started != 1+int64(want/time.Hour) {
				t.Errorf("stats = %+v", s)
			}
		})
	}
	t.Logf("served in %d of 100", served)
}

func TestReleaseTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(fresh(t), 2, limit.Unlimited())
		first, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(first)
		}
		all.Wait()
		if s := l.Stats(); s.Running != 1 {
			t.Errorf("stats = %+v", s)
		}
		second()
	})
}

// TestPause: nobody begins in it, it only gets longer, and nobody rushes out of it.
func TestPause(t *testing.T) {
	const day = 24 * time.Hour
	type pause struct{ at, d time.Duration }
	for name, tt := range map[string]struct {
		rate   limit.Rate
		pauses []pause
		want   []time.Duration // of three calls that all want to begin after a second
	}{
		"one":                {limit.PerSecond(1), []pause{{0, 20 * time.Second}}, []time.Duration{20 * time.Second, 21 * time.Second, 22 * time.Second}},
		"over already":       {limit.PerSecond(1), []pause{{0, time.Second / 2}}, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}},
		"while they wait":    {limit.PerSecond(1), []pause{{1500 * time.Millisecond, 3 * time.Second}}, []time.Duration{time.Second, 4500 * time.Millisecond, 5500 * time.Millisecond}},
		"shorter, later":     {limit.Unlimited(), []pause{{0, 20 * time.Second}, {2 * time.Second, time.Second}}, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}},
		"longer, later":      {limit.Unlimited(), []pause{{0, 20 * time.Second}, {2 * time.Second, time.Minute}}, []time.Duration{62 * time.Second, 62 * time.Second, 62 * time.Second}},
		"none":               {limit.Unlimited(), []pause{{0, 0}, {0, -time.Hour}, {0, -1 << 63}}, []time.Duration{time.Second, time.Second, time.Second}},
		"for ever":           {limit.Unlimited(), []pause{{0, 1<<63 - 1}}, []time.Duration{day, day, day}},
		"no burst behind it": {limit.PerSecond(1).Burst(3), []pause{{0, 20 * time.Second}}, []time.Duration{20 * time.Second, 21 * time.Second, 22 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limit.New(fresh(t), 3, tt.rate)
				b := begun{start: time.Now()}
				for _, p := range tt.pauses {
					time.AfterFunc(p.at, func() { l.Pause(p.d) })
				}
				time.Sleep(time.Second)
				for i := range 3 {
					b.call(t, l, fmt.Sprint(i), 0)
				}
				time.Sleep(2 * day)
				synctest.Wait()
				if !slices.Equal(b.at, tt.want) {
					t.Errorf("began at %v, want %v", b.at, tt.want)
				}
			})
		})
	}
}

// What a pause is for, seen from outside; and what an error says in it.
func TestPauseIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New("a service", 3, limit.Unlimited())
		l.Pause(time.Minute)
		l.Pause(time.Second)
		if s := l.Stats(); !s.PausedUntil.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("stats = %+v", s)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := l.Acquire(ctx)
		const want = `pawl: wait for limiter "a service": context deadline exceeded; nothing was called; 0 of 3 run, 1 wait, and nobody begins for 40s (docs/errors.md#interrupted)`
		if err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
		time.Sleep(40 * time.Second)
		if s := l.Stats(); !s.PausedUntil.IsZero() {
			t.Errorf("stats = %+v", s)
		}
	})
}

// TestRegistry: one name is one limiter, and other numbers are an error at their first use, in
// words that say where.
func TestRegistry(t *testing.T) {
	first := limit.New("shared", 2, limit.PerSecond(5))
	if again := limit.New("shared", 2, limit.Per(5, time.Second)); again != first {
		t.Error("the same numbers, another limiter")
	}
	if other := limit.New("shared elsewhere", 2, limit.PerSecond(5)); other == first {
		t.Error("another name, the same limiter")
	}
	other := limit.New("shared", 3, limit.PerSecond(5))
	other.Pause(time.Hour) // of no limiter
	_, err := other.Acquire(t.Context())
	if !errors.Is(err, pawl.ErrInvalid) || strings.Count(err.Error(), "limit/limiter_test.go:") != 2 || !strings.Contains(err.Error(), "2 at once, 5 in 1s, but") {
		t.Errorf("other numbers: %v", err)
	}
	if limit.New("shared", 2, limit.PerSecond(5)) != first {
		t.Error("it is forgotten")
	}
	release, err := first.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// TestMisuse: what cannot be is an error at its first use, and no panic before.
func TestMisuse(t *testing.T) {
	for name, tt := range map[string]struct {
		l    *limit.Limiter
		want string
	}{
		"no name":                {limit.New("", 1, limit.Unlimited()), "without a name"},
		"no place":               {limit.New("misuse", 0, limit.Unlimited()), "0 calls at once; the least is 1"},
		"less than none":         {limit.New("misuse", -1, limit.Unlimited()), "-1 calls"},
		"zero rate":              {limit.New("misuse", 1, limit.Rate{}), "limit.Unlimited()"},
		"nobody ever":            {limit.New("misuse", 1, limit.PerMinute(0)), "a rate of 0 calls"},
		"no time":                {limit.New("misuse", 1, limit.Per(1, 0)), "no time"},
		"back in time":           {limit.New("misuse", 1, limit.Per(1, -time.Second)), "no time"},
		"burst of none":          {limit.New("misuse", 1, limit.PerMinute(1).Burst(0)), "a burst of 0"},
		"burst of too many":      {limit.New("misuse", 1, limit.PerHour(1).Burst(1<<62)), "more than a year"},
		"burst of what":          {limit.New("misuse", 1, limit.Unlimited().Burst(2)), "needs a rate"},
		"made by somebody else":  {new(limit.Limiter), "limit.New did not make"},
		"not its name's numbers": {conflicting(), "each a name of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				release, err := tt.l.Acquire(t.Context())
				if _, is := errors.AsType[*pawl.RunError](err); !is || !errors.Is(err, pawl.ErrInvalid) || release != nil {
					t.Fatalf("%v", err)
				}
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v", err)
				}
			}
			tt.l.Pause(time.Second)
			if s := tt.l.Stats(); s.Running != 0 || s.Waiting != 0 || s.Started != 0 {
				t.Errorf("stats = %+v", s)
			}
		})
	}
	// None of them has taken the name.
	release, err := limit.New("misuse", 1, limit.Unlimited()).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func conflicting() *limit.Limiter {
	limit.New("misuse of a name", 1, limit.PerMinute(7))
	return limit.New("misuse of a name", 1, limit.PerMinute(7).Burst(2))
}

// A limiter of the whole process goes through tests that have clocks of their own, which all
// begin in the year 2000: what was noted by a clock that was further holds nobody up.
func TestAnotherClock(t *testing.T) {
	l := limit.New(fresh(t), 1, limit.PerHour(1))
	once := func(t *testing.T) {
		start := time.Now()
		release, err := l.Acquire(t.Context())
		if err != nil || time.Since(start) > time.Minute {
			t.Errorf("%v, %v", time.Since(start), err)
		}
		release()
		l.Pause(time.Hour)
	}
	once(t)
	for hours := range 3 {
		synctest.Test(t, func(t *testing.T) {
			once(t)
			time.Sleep(time.Duration(5-hours) * time.Hour)
			l.Pause(time.Hour)
		})
	}
	once(t)
}

// With the real clock and the race detector: many come, many leave in the middle of it, and
// all places are free in the end.
func TestManyGoroutines(t *testing.T) {
	l := limit.New(fresh(t), 3, limit.PerSecond(100_000).Burst(100))
	var all sync.WaitGroup
	var mu sync.Mutex
	running, most := 0, 0
	for i := range 200 {
		all.Go(func() {
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				release, err := l.Acquire(ctx)
				if err == nil {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(10 * time.Microsecond)
					mu.Lock()
					running--
					mu.Unlock()
					release()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if s := l.Stats(); most != 3 || s.Running != 0 || s.Waiting != 0 {
		t.Errorf("%d at once, %+v", most, s)
	}
}
