package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

var bubbles atomic.Int64

// A timeout of a step is a failure of that step, whatever the steps inside are doing then, and
// is tried again.
func TestTimeoutAroundSteps(t *testing.T) {
	inner := func(ctx context.Context, opts ...pawl.StepOption) (int, error) {
		return pawl.Step(ctx, "in", func(context.Context) (int, error) { return 7, nil }, opts...)
	}
	for name, work := range map[string]func(ctx context.Context, call int, l *limit.Limiter) (int, error){
		"in the inner function": func(ctx context.Context, call int, _ *limit.Limiter) (int, error) {
			return pawl.Step(ctx, "in", func(ctx context.Context) (int, error) {
				if call < 3 {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return 7, nil
			})
		},
		"an inner one is about to start": func(ctx context.Context, call int, _ *limit.Limiter) (int, error) {
			if call < 3 {
				time.Sleep(11 * time.Second)
			}
			return inner(ctx)
		},
		"an inner one waits for its next try": func(ctx context.Context, _ int, _ *limit.Limiter) (int, error) {
			return pawl.Step(ctx, "in", func(ctx context.Context) (int, error) {
				if pawl.Try(ctx) < 2 {
					return 0, retry.After(errBusy, 25*time.Second)
				}
				return 7, nil
			}, retry.Tries(3))
		},
		"it sleeps inside": func(ctx context.Context, _ int, _ *limit.Limiter) (int, error) {
			return 7, wait.Sleep(ctx, "nap", 25*time.Second)
		},
		"an inner one waits for a limit": func(ctx context.Context, _ int, l *limit.Limiter) (int, error) {
			return inner(ctx, l)
		},
		"items wait for a limit": func(ctx context.Context, _ int, l *limit.Limiter) (int, error) {
			_, err := pawl.Map(ctx, "m", []string{"a", "b"}, sameName, func(ctx context.Context, _ string) (int, error) { return inner(ctx) }, pawl.Parallel(2), l)
			return 7, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pawltest.NewStore(t)
				l := limit.New(fmt.Sprint(t.Name(), bubbles.Add(1)), 1, limit.Unlimited()) // it must not outlive its bubble
				free, err := l.Acquire(t.Context())
				ckNil(t, err)
				time.AfterFunc(25*time.Second, free)
				calls := 0
				v, err := run(t, s, func(ctx context.Context) (int, error) {
					return pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
						calls++
						return work(ctx, calls, l)
					}, retry.With(retry.Policy{Tries: 5, Timeout: 10 * time.Second, Base: time.Millisecond}))
				})
				if v != 7 || err != nil || calls != 3 {
					t.Errorf("%d, %v after %d calls", v, err, calls)
				}
			})
		})
	}
}

// Of two errors inside, one final and one not, the outer step can still mend one: it is tried
// again, in whichever order they come. When nothing else is left it is not.
func TestRetryAroundSeveralFailures(t *testing.T) {
	for _, order := range [][]string{{"final", "busy"}, {"busy", "final"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pawltest.NewStore(t)
				outer, called := 0, map[string]int{}
				_, err := run(t, s, func(ctx context.Context) (int, error) {
					return pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
						outer++
						var errs []error
						for _, key := range order {
							_, err := pawl.Step(ctx, key, func(context.Context) (int, error) {
								called[key]++
								if key == "final" {
									return 0, retry.Permanent(errors.New("no"))
								}
								if called[key] < 3 {
									return 0, errBusy
								}
								return 1, nil
							})
							errs = append(errs, err)
						}
						return 0, errors.Join(errs...)
					}, retry.Tries(5))
				})
				if outer != 3 || called["final"] != 1 || called["busy"] != 3 || err == nil {
					t.Errorf("outer called %d times, inside %v: %v", outer, called, err)
				}
			})
		})
	}
}

// What fails finally inside fails the step around it without another try, though not finally;
// and who retries that one means what is inside.
func TestRetryReopensInside(t *testing.T) {
	s := openStore(t)
	outer, inner := 0, 0
	work := func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			outer++
			return pawl.Step(ctx, "inner", func(context.Context) (int, error) {
				if inner++; inner == 1 {
					return 0, retry.Permanent(errors.New("no such account"))
				}
				return inner, nil
			})
		}, retry.Tries(5))
	}
	for i := range 2 {
		_, err := run(t, s, work)
		if se, ok := errors.AsType[*pawl.StepError](err); !ok || se.Key != "outer" || se.Final || outer != i+1 || inner != 1 {
			t.Fatalf("%v; outer called %d times, inner %d", err, outer, inner)
		}
	}
	keys, err := s.Retry(t.Context(), "r", "outer", "ann", "opened")
	if !slices.Equal(keys, []string{"outer", "outer/inner"}) || err != nil {
		t.Fatalf("%v, %v", keys, err)
	}
	if v, err := run(t, s, work); v != 2 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// A budget is no word of fn's: it is not kept, however much the step around it keeps.
func TestKeepErrorLeavesTheBudget(t *testing.T) {
	s := openStore(t)
	work := func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			for i := range 3 {
				if _, err := spend(ctx, fmt.Sprint(i), 1, 0); err != nil {
					return 0, fmt.Errorf("spending: %w", err)
				}
			}
			return 1, nil
		}, retry.KeepError(func(error) bool { return true }), retry.Tries(3))
	}
	_, err := run(t, s, work, meter.Budget("usd", 2))
	wantErr(t, err, pawl.ErrBudget)
	if info := inspect(t, s); info.Final != 0 || info.Spent["usd"] != 2 {
		t.Errorf("%+v", info)
	}
	if v, err := run(t, s, work, meter.Budget("usd", 3)); v != 1 || err != nil {
		t.Errorf("with a higher budget: %d, %v", v, err)
	}
}

// That another run was cancelled is a failure of the step that asked for it, and of its run; it
// is tried again like any other.
func TestAnotherRunIsCancelled(t *testing.T) {
	s := openStore(t)
	stop := errors.New("stop")
	sub := func(ctx context.Context) (int, error) { return 3, nil }
	_, err := pawl.Do(t.Context(), s, "sub", func(context.Context) (int, error) { return 0, stop })
	wantErr(t, err, stop)
	ckNil(t, s.Cancel(t.Context(), "sub", "ann", "not now"))
	calls := 0
	work := func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
			calls++
			return pawl.Do(ctx, s, "sub", sub)
		}, retry.With(retry.Policy{Tries: 2, Base: 1}))
	}
	_, err = run(t, s, work)
	wantErr(t, err, pawl.ErrCancelled)
	if info := inspect(t, s); calls != 2 || info.Status != runs.Failed || info.Failed != 1 || info.Running != 0 {
		t.Errorf("%d calls: %+v", calls, info)
	}
	// And while it is at work.
	ckNil(t, s.Reopen(t.Context(), "sub", "ann", "now"))
	sub = func(ctx context.Context) (int, error) {
		ckNil(t, s.Cancel(context.WithoutCancel(ctx), "sub", "ann", "no"))
		<-ctx.Done()
		return 0, ctx.Err()
	}
	_, err = run(t, s, work)
	wantErr(t, err, pawl.ErrCancelled)
	if info := inspect(t, s); calls != 4 || info.Status != runs.Failed || info.Running != 0 {
		t.Errorf("%d calls: %+v", calls, info)
	}
	// With nothing else in the way it works.
	ckNil(t, s.Reopen(t.Context(), "sub", "ann", "now"))
	sub = func(context.Context) (int, error) { return 3, nil }
	if v, err := run(t, s, work); v != 3 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// So it is beside another failure, in whatever order they stand: the step and the run have failed.
func TestAnotherRunIsCancelledBesideAFailure(t *testing.T) {
	s := openStore(t)
	stop := errors.New("stop")
	_, err := pawl.Do(t.Context(), s, "sub", func(context.Context) (int, error) { return 0, stop })
	wantErr(t, err, stop)
	ckNil(t, s.Cancel(t.Context(), "sub", "ann", "not now"))
	for _, first := range []string{"other", "own"} {
		_, err = pawl.Do(t.Context(), s, first, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
				_, other := pawl.Do(ctx, s, "sub", func(context.Context) (int, error) { return 1, nil })
				_, own := pawl.Step(ctx, "", func(context.Context) (int, error) { return 1, nil })
				if first == "other" {
					return 0, errors.Join(other, own)
				}
				return 0, errors.Join(own, other)
			})
		})
		wantErr(t, err, pawl.ErrCancelled)
		wantErr(t, err, pawl.ErrInvalid)
		if info := mustInspect(t, s, first); info.Status != runs.Failed || info.Failed != 1 || info.Running != 0 {
			t.Errorf("%s first: %s, %d steps failed, %d under way", first, info.Status, info.Failed, info.Running)
		}
	}
}
