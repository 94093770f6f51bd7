package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

var errBusy = errors.New("the service is busy")

// failing fails n times, then returns how often it was called.
func failsFor(n int, err error, calls *int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		if *calls++; *calls <= n {
			return 0, err
		}
		return *calls, nil
	}
}

func TestRetryUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls, begin := 0, time.Now()
		v, err := run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", failsFor(3, errBusy, &calls), retry.Tries(5))
		})
		if v != 4 || err != nil || calls != 4 {
			t.Fatalf("%d, %v after %d calls", v, err, calls)
		}
		// Full jitter: between nothing and 1 + 2 + 4 seconds.
		if took := time.Since(begin); took > 7*time.Second {
			t.Errorf("it took %v", took)
		}
		tries, err := s.Tries(t.Context(), "r", "ask")
		ckNil(t, err)
		if len(tries) != 4 || tries[0].Error == "" || tries[0].Next.Before(tries[0].Ended) || tries[2].N != 3 || !tries[3].Done || tries[3].Error != "" {
			t.Errorf("tries: %+v", tries)
		}
	})
}

// What ends a series: its number, its time, an error that is permanent, one that is not worth
// it, one of pawl's own. The next start begins a new series, unless the failure is final.
func TestSeriesEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  []pawl.StepOption
		err   error
		calls int  // in the first start
		final bool // so that the second start calls nothing
	}{
		{"no policy", nil, errBusy, 1, false},
		{"tries", []pawl.StepOption{retry.Tries(3)}, errBusy, 3, false},
		{"tries below 1", []pawl.StepOption{retry.Tries(-3)}, errBusy, 1, false},
		{"default", []pawl.StepOption{retry.With(retry.Policy{})}, errBusy, 5, false},
		{"final at the end", []pawl.StepOption{retry.With(retry.Policy{Tries: 3, Final: true})}, errBusy, 3, true},
		{"elapsed", []pawl.StepOption{retry.With(retry.Policy{Tries: 1000, Elapsed: time.Nanosecond})}, retry.After(errBusy, time.Second), 1, false},
		{"permanent", []pawl.StepOption{retry.Tries(3)}, fmt.Errorf("wrapped: %w", retry.Permanent(errBusy)), 1, true},
		{"permanent without a policy", nil, retry.Permanent(errBusy), 1, true},
		{"keep", []pawl.StepOption{retry.Tries(3), retry.KeepError(func(err error) bool { return errors.Is(err, errBusy) })}, errBusy, 1, true},
		{"keep something else", []pawl.StepOption{retry.KeepError(func(error) bool { return false })}, errBusy, 1, false},
		{"if", []pawl.StepOption{retry.With(retry.Policy{If: func(err error) bool { return !errors.Is(err, errBusy) }})}, errBusy, 1, false},
		{"our own word", []pawl.StepOption{retry.Tries(3)}, nil, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pawltest.NewStore(t)
				calls := 0
				start := func() error {
					_, err := run(t, s, func(ctx context.Context) (int, error) {
						return pawl.Step(ctx, "ask", func(sctx context.Context) (int, error) {
							calls++
							if tt.err != nil {
								return 0, tt.err
							}
							return pawl.Step(ctx, "ask", func(context.Context) (int, error) { return 0, nil })
						}, tt.opts...)
					})
					return err
				}
				err := start()
				var se *pawl.StepError
				if !errors.As(err, &se) || calls != tt.calls || se.Tries != calls || se.Final != tt.final || errors.Is(err, errBusy) != (!tt.final && tt.err != nil) {
					t.Fatalf("%+v after %d calls", err, calls)
				}
				again := start()
				if tt.final {
					if again.Error() != err.Error() || calls != tt.calls {
						t.Errorf("the second start: %v, the first: %v; %d calls", again, err, calls)
					}
					return
				}
				if calls != 2*tt.calls {
					t.Errorf("%d calls in the second start, a new series has %d", calls-tt.calls, tt.calls)
				}
			})
		})
	}
}

// A final failure is the same error on every start, whatever else is asked, until somebody
// retries it; and its idempotency key stays.
func TestRetryReopensFinalFailures(t *testing.T) {
	s := openStore(t)
	var keys []string
	broken := true
	work := func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "pay", func(ctx context.Context) (string, error) {
			keys = append(keys, pawl.IdempotencyKey(ctx))
			if broken {
				return "", retry.Permanent(errors.New("no such account"))
			}
			return fmt.Sprint("paid in try ", pawl.Try(ctx)), nil
		})
	}
	for range 3 {
		_, err := run(t, s, work)
		if se, ok := errors.AsType[*pawl.StepError](err); !ok || !se.Final || se.Tries != 1 || se.Message != "no such account" || len(keys) != 1 {
			t.Fatalf("%v after %d calls", err, len(keys))
		}
	}
	if _, err := s.Retry(t.Context(), "r", "nothing", "ann", ""); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("of a step that is not there: %v", err)
	}
	got, err := s.Retry(t.Context(), "r", "", "ann", "the account is open now")
	if err != nil || len(got) != 1 || got[0] != "pay" {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := s.Retry(t.Context(), "r", "", "ann", ""); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("a second time: %v", err)
	}
	ckNil(t, second(s.Compact(t.Context(), "r"))) // it keeps what was said
	broken = false
	if v, err := run(t, s, work); v != "paid in try 2" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("idempotency keys %v", keys)
	}
	if _, err := s.Retry(t.Context(), "r", "pay", "ann", ""); !errors.Is(err, pawl.ErrComplete) {
		t.Errorf("of a complete run: %v", err)
	}
}

func second(_, _ int64, err error) error { return err }

// The wait between two tries outlives the process: the next start has the rest of it, and
// the series goes on counting.
func TestSeriesGoesOnAfterAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls, begin := 0, time.Now()
		opts := retry.With(retry.Policy{Tries: 4})
		work := func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", failsFor(100, retry.After(errBusy, time.Hour), &calls), opts)
		}
		for i := range 3 { // interrupted in each of its waits
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := pawl.Do(ctx, s, "r", work)
			cancel()
			wantErr(t, err, context.DeadlineExceeded)
			if calls != i+1 {
				t.Fatalf("%d calls before wait %d", calls, i+1)
			}
			steps, err := s.Steps(t.Context(), "r")
			ckNil(t, err)
			if st := steps[0]; st.Status != "failed" || st.Fails != i+1 || st.Next.Sub(st.Ended) != time.Hour {
				t.Fatalf("%+v", st)
			}
			if i == 1 {
				ckNil(t, second(s.Compact(t.Context(), "r")))
			}
			time.Sleep(59 * time.Minute)
		}
		_, err := pawl.Do(t.Context(), s, "r", work)
		if !errors.Is(err, errBusy) || calls != 4 {
			t.Errorf("%v after %d calls", err, calls)
		}
		if took := time.Since(begin); took < 3*time.Hour || took > 3*time.Hour+time.Minute {
			t.Errorf("three waits of an hour took %v", took)
		}
	})
}

// Yield gives the wait back to the caller instead.
func TestYieldBetweenTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls := 0
		work := func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", failsFor(1, retry.After(errBusy, time.Hour), &calls), retry.Tries(2))
		}
		_, err := pawl.Do(t.Context(), s, "r", work, wait.Yield(time.Minute))
		wantErr(t, err, pawl.ErrWaiting)
		at, ok := wait.Until(err)
		if info := mustInspect(t, s, "r"); !ok || time.Until(at) > time.Hour || info.Status != runs.Waiting || !info.WakeAt.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("until %v, %v: %+v", at, ok, info)
		}
		time.Sleep(time.Until(at))
		if v, err := pawl.Do(t.Context(), s, "r", work, wait.Yield(time.Minute)); v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
}

// Clocks that are set between two starts make a wait neither longer than it was nor negative.
func TestRetryWhenClocksAreSet(t *testing.T) {
	for _, set := range []time.Duration{-1000 * time.Hour, 0, 1000 * time.Hour} {
		t.Run(set.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var off time.Duration
				s := pawltest.NewStore(t, pawltest.Clock(func() time.Time { return time.Now().Add(off) }))
				calls := 0
				work := func(ctx context.Context) (int, error) {
					return pawl.Step(ctx, "ask", failsFor(1, retry.After(errBusy, time.Hour), &calls), retry.Tries(2))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := pawl.Do(ctx, s, "r", work)
				wantErr(t, err, context.DeadlineExceeded)
				off = set
				begin := time.Now()
				v, err := pawl.Do(t.Context(), s, "r", work)
				if v != 2 || err != nil {
					t.Fatalf("%d, %v", v, err)
				}
				want := time.Hour
				switch {
				case set > 0:
					want = 0
				case set == 0:
					want -= time.Second
				}
				if took := time.Since(begin); took.Round(time.Second) != want {
					t.Errorf("it waited %v, not %v", took, want)
				}
			})
		})
	}
}

func TestStepTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		var causes []error
		hang := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			return 0, errors.New("cut off")
		}
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", hang, retry.With(retry.Policy{Tries: 2, Timeout: time.Minute}))
		})
		wantErr(t, err, context.DeadlineExceeded)
		if len(causes) != 2 || !strings.Contains(err.Error(), "longer than its 1m0s: cut off") || !strings.Contains(causes[0].Error(), "longer than its 1m0s") {
			t.Errorf("%v, causes %v", err, causes)
		}
		if info := mustInspect(t, s, "r"); info.Status != runs.Failed || info.Failed != 1 {
			t.Errorf("its own timeout is a failure: %+v", info)
		}
		// The end of the run's context is none.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = pawl.Do(ctx, s, "other", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", hang, retry.Timeout(time.Minute))
		})
		if info := mustInspect(t, s, "other"); err == nil || info.Status != runs.InProgress || info.Failed != 0 || causes[2] != context.DeadlineExceeded {
			t.Errorf("%v: %+v, cause %v", err, info, causes[2])
		}
		// Who returns a value after his time has worked.
		v, err := pawl.Do(t.Context(), s, "late", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "ask", func(ctx context.Context) (int, error) { <-ctx.Done(); return 7, nil }, retry.Timeout(time.Minute))
		})
		if v != 7 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		// Of what must not happen twice nobody knows whether it has.
		_, err = pawl.Do(t.Context(), s, "once", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "pay", hang, retry.Timeout(time.Minute), retry.Tries(3), pawl.AtMostOnce())
		})
		wantErr(t, err, pawl.ErrInDoubt)
		if len(causes) != 4 {
			t.Errorf("a step in doubt was tried %d times", len(causes)-3)
		}
	})
}

// Each try may ask for the keys inside it again, and what has a result there is not done again.
func TestRetryKeepsWhatIsDoneInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		fetched, calls := 0, 0
		v, err := run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "doc", func(ctx context.Context) (int, error) {
				n, err := pawl.Step(ctx, "fetch", func(context.Context) (int, error) { fetched++; return 7, nil })
				if err != nil {
					return 0, err
				}
				if calls++; calls < 3 {
					return 0, errBusy
				}
				return n * calls, nil
			}, retry.Tries(3))
		})
		if v != 21 || err != nil || fetched != 1 {
			t.Errorf("%d, %v, fetched %d times", v, err, fetched)
		}
	})
}

// In a Map each item has a series of its own.
func TestRetryItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls := map[string]int{}
		out, err := run(t, s, func(ctx context.Context) ([]int, error) {
			return pawl.Map(ctx, "m", []string{"a", "b", "c"}, func(s string) string { return s }, func(_ context.Context, item string) (int, error) {
				if calls[item]++; calls[item] < len(item)+int(item[0]-'a') {
					return 0, errBusy
				}
				return calls[item], nil
			}, retry.Tries(3), pawl.Parallel(1))
		})
		if fmt.Sprint(out) != "[1 2 3]" || err != nil {
			t.Errorf("%v, %v", out, err)
		}
	})
}
