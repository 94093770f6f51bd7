package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/wait"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func name(i int) string { return fmt.Sprint(i) }

// TestSteps: steps and items of several runs take turns, each try has one, and what is answered
// from the record needs none.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := pawltest.NewStore(t)
		l := limit.New(fresh(t), 8, limit.PerSecond(10))
		work := func() {
			var all sync.WaitGroup
			for run := range 3 {
				all.Go(func() {
					_, err := pawl.Do(t.Context(), store, fmt.Sprint("run ", run), func(ctx context.Context) (int, error) {
						if _, err := pawl.Map(ctx, "m", numbers(10), name, func(_ context.Context, i int) (int, error) {
							time.Sleep(300 * time.Millisecond)
							return i, nil
						}, pawl.Parallel(4), l); err != nil {
							return 0, err
						}
						if _, err := pawl.Step(ctx, "free", func(context.Context) (int, error) { return 0, nil }); err != nil {
							return 0, err
						}
						_, err := pawl.Step(ctx, "tried again", func(ctx context.Context) (int, error) {
							if pawl.Try(ctx) < 3 {
								return 0, errors.New("not yet")
							}
							return 0, nil
						}, l, retry.With(retry.Policy{Base: time.Nanosecond}))
						return 0, err
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		start := time.Now()
		work()
		if s := l.Stats(); s.Started != 3*(10+3) || s.Running != 0 {
			t.Errorf("stats = %+v", s)
		}
		if took := time.Since(start); took < 3800*time.Millisecond || took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		start = time.Now()
		work()
		if s := l.Stats(); s.Started != 39 || time.Since(start) != 0 {
			t.Errorf("a second start took %v, stats = %+v", time.Since(start), s)
		}
	})
}

// A limiter that cannot be is an error of the step, of which nothing is recorded.
func TestStepWithMisuse(t *testing.T) {
	store := pawltest.NewStore(t)
	for _, l := range []*limit.Limiter{limit.New("", 1, limit.Unlimited()), limit.New(fresh(t), 1, limit.PerMinute(0)), conflicting()} {
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { t.Error("called"); return 0, nil }, l, retry.Tries(3))
		})
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v", err)
		}
	}
	n, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int64, error) {
		return pawl.Step(ctx, "s", func(ctx context.Context) (int64, error) { return int64(pawl.Try(ctx)), nil }, limit.New(fresh(t), 1, limit.Unlimited()))
	})
	if n != 1 || err != nil {
		t.Errorf("try %d, %v", n, err)
	}
}

// tooMany is an error of a service, as a client has them.
type tooMany struct{ wait time.Duration }

func (e *tooMany) Error() string             { return "429" }
func (e *tooMany) RetryAfter() time.Duration { return e.wait }

// TestRetryAfter: one is told to wait, and all who use the name do, in steps and outside; who
// uses another name does not. Its place is free meanwhile.
func TestRetryAfter(t *testing.T) {
	for how, refusal := range map[string]error{
		"by a method": fmt.Errorf("asking: %w", &tooMany{20 * time.Second}),
		"by After":    retry.After(errors.New("429"), 20*time.Second),
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := pawltest.NewStore(t)
				l, other := limit.New(fresh(t), 1, limit.Unlimited()), limit.New(fresh(t), 1, limit.Unlimited())
				start := time.Now()
				var all sync.WaitGroup
				do := func(id string, l *limit.Limiter, want time.Duration, fn func(ctx context.Context) (int, error)) {
					all.Go(func() {
						_, err := pawl.Do(t.Context(), store, id, func(ctx context.Context) (int, error) {
							return pawl.Step(ctx, "s", fn, l, retry.With(retry.Policy{Base: time.Nanosecond}))
						})
						if took := time.Since(start).Round(time.Millisecond); err != nil || took != want {
							t.Errorf("%s: %v after %v, want %v", id, err, took, want)
						}
					})
				}
				do("told", l, 20*time.Second, func(ctx context.Context) (int, error) {
					if pawl.Try(ctx) == 1 {
						return 0, refusal
					}
					return 0, nil
				})
				time.Sleep(time.Second)
				fine := func(context.Context) (int, error) { return 0, nil }
				do("the same", l, 20*time.Second, fine)
				do("another", other, time.Second, fine)
				synctest.Wait()
				if s := l.Stats(); s.Running != 0 || s.Waiting != 1 || s.PausedUntil.Sub(start) != 20*time.Second {
					t.Errorf("stats = %+v", s)
				}
				release, err := l.Acquire(t.Context())
				if took := time.Since(start); err != nil || took != 20*time.Second {
					t.Errorf("by hand: %v after %v", err, took)
				}
				release()
				all.Wait()
			})
		})
	}
}

// TestSeveral: several limits of one step are passed in the order given, and when it gives up
// in front of the second, the first is free again.
func TestSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := pawltest.NewStore(t)
		first, second := limit.New(fresh(t), 1, limit.Unlimited()), limit.New(fresh(t), 1, limit.Unlimited())
		release, err := second.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(time.Second)
			if a, b := first.Stats(), second.Stats(); a.Running != 1 || b.Waiting != 1 {
				t.Errorf("first %+v, second %+v", a, b)
			}
		}()
		called := 0
		do := func(ctx context.Context) error {
			_, err := pawl.Do(t.Context(), store, "r", func(run context.Context) (int, error) {
				step, cancel := context.WithCancel(run)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				return pawl.Step(step, "s", func(context.Context) (int, error) { called++; return 0, nil }, first, second)
			})
			return err
		}
		if err := do(ctx); !errors.Is(err, context.Canceled) || called != 0 {
			t.Errorf("%v, called %d times", err, called)
		}
		if a, b := first.Stats(), second.Stats(); a.Running != 0 || b.Waiting != 0 || b.Running != 1 {
			t.Errorf("first %+v, second %+v", a, b)
		}
		release()
		if err := do(t.Context()); err != nil || called != 1 {
			t.Errorf("%v, called %d times", err, called)
		}
	})
}

// TestRunsTakeTurns: a run with a thousand items that came first does not keep the one item of
// another for longer than what it has under way.
func TestRunsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := pawltest.NewStore(t)
		l := limit.New(fresh(t), 2, limit.Unlimited())
		var all sync.WaitGroup
		var done atomic.Int64
		all.Go(func() {
			if _, err := pawl.Do(t.Context(), store, "large", func(ctx context.Context) ([]int, error) {
				return pawl.Map(ctx, "m", numbers(1000), name, func(context.Context, int) (int, error) {
					time.Sleep(time.Second)
					done.Add(1)
					return 0, nil
				}, pawl.Parallel(8), l)
			}); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(10*time.Second + time.Second/2)
		before := done.Load()
		if _, err := pawl.Do(t.Context(), store, "small", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 0, nil }, l)
		}); err != nil {
			t.Error(err)
		}
		if passed := done.Load() - before; passed > 8 {
			t.Errorf("%d passed it", passed)
		}
		all.Wait()
	})
}

// A step that dies by a panic gives its place back.
func TestPanicGivesBack(t *testing.T) {
	store := pawltest.NewStore(t)
	l := limit.New(fresh(t), 1, limit.Unlimited())
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Error(p)
			}
		}()
		pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { panic("boom") }, l)
		})
	}()
	if s := l.Stats(); s.Running != 0 || s.Started != 1 {
		t.Errorf("stats = %+v", s)
	}
}

// An option list may be shared and used for many steps.
func TestOptionIsShared(t *testing.T) {
	store := pawltest.NewStore(t)
	l := limit.New(fresh(t), 1, limit.Unlimited())
	opts := slices.Clip([]pawl.StepOption{l, retry.Tries(2)})
	_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int, error) {
		for i := range 3 {
			if _, err := pawl.Step(ctx, name(i), func(context.Context) (int, error) { return 0, nil }, opts...); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if s := l.Stats(); err != nil || s.Started != 3 {
		t.Errorf("%v, %+v", err, s)
	}
}

// Whatever ends the wait for a turn is an error of the step and of the item, whose function is not
// called; nobody waits any more, and no place is lost.
func TestTurnThatDoesNotCome(t *testing.T) {
	for _, tt := range []struct {
		name string
		want error
		opts []pawl.RunOption
		end  func(ctx context.Context, store *pawl.Store, cancel func(), free func()) error // after a second
	}{
		{"the run's context ends", context.Canceled, nil, func(_ context.Context, _ *pawl.Store, cancel, _ func()) error { cancel(); return nil }},
		{"cancelled", pawl.ErrCancelled, nil, func(ctx context.Context, store *pawl.Store, _, _ func()) error {
			return store.Cancel(context.WithoutCancel(ctx), "r", "ann", "")
		}},
		{"deadline", context.DeadlineExceeded, []pawl.RunOption{wait.Deadline(time.Second)}, func(context.Context, *pawl.Store, func(), func()) error { return nil }},
		{"budget", pawl.ErrBudget, []pawl.RunOption{meter.Budget("usd", 3)}, func(ctx context.Context, _ *pawl.Store, _, free func()) error {
			defer free() // the turn comes too late
			return meter.Add(ctx, "usd", 5)
		}},
		{"timeout of the step around", context.DeadlineExceeded, nil, nil},
	} {
		for _, items := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", items ", items), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := pawltest.NewStore(t)
					l := limit.New(fresh(t), 1, limit.Unlimited())
					free, err := l.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					called := 0
					fn := func(context.Context) (int, error) { called++; return 1, nil }
					waiting := func(ctx context.Context) (int, error) {
						if !items {
							return pawl.Step(ctx, "s", fn, l, retry.Tries(3))
						}
						_, err := pawl.Map(ctx, "m", numbers(5), name, func(ctx context.Context, _ int) (int, error) { return fn(ctx) }, pawl.Parallel(3), l, retry.Tries(3))
						return 0, err
					}
					_, err = pawl.Do(ctx, store, "r", func(ctx context.Context) (int, error) {
						if tt.end == nil {
							return pawl.Step(ctx, "outer", waiting, retry.Timeout(time.Second))
						}
						time.AfterFunc(time.Second, func() {
							if err := tt.end(ctx, store, cancel, free); err != nil {
								t.Error(err)
							}
						})
						return waiting(ctx)
					}, tt.opts...)
					if !errors.Is(err, tt.want) || called != 0 {
						t.Errorf("%v, called %d times", err, called)
					}
					free()
					synctest.Wait()
					if s := l.Stats(); s.Running != 0 || s.Waiting != 0 {
						t.Errorf("stats = %+v", s)
					}
				})
			})
		}
	}
}

// So is a limiter that cannot be, in an item.
func TestItemsWithMisuse(t *testing.T) {
	store := pawltest.NewStore(t)
	_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]int, error) {
		return pawl.Map(ctx, "m", numbers(5), name, func(context.Context, int) (int, error) { t.Error("called"); return 0, nil }, limit.New("", 1, limit.Unlimited()), retry.Tries(3))
	})
	if !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("%v", err)
	}
}
