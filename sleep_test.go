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
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

func TestSleepWaitsTheRest(t *testing.T) {
	for _, kind := range []string{"sleep", "until"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pawltest.NewStore(t)
				begin, woken := time.Now(), 0
				work := func(ctx context.Context) (int, error) {
					var err error
					if kind == "sleep" {
						err = wait.Sleep(ctx, "cool down", time.Hour)
					} else {
						err = wait.SleepUntil(ctx, "cool down", time.Now().Add(time.Hour)) // the first one counts
					}
					woken++
					return woken, err
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				_, err := pawl.Do(ctx, s, "r", work)
				wantErr(t, err, context.DeadlineExceeded)
				steps, err := s.Steps(t.Context(), "r")
				ckNil(t, err)
				if len(steps) != 1 || !steps[0].Until.Equal(begin.Add(time.Hour)) || steps[0].Status != "running" {
					t.Errorf("%+v", steps)
				}
				ckNil(t, second(s.Compact(t.Context(), "r")))
				time.Sleep(20 * time.Minute)
				if _, err := pawl.Do(t.Context(), s, "r", work); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took != time.Hour {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A sleep that is over is not repeated, whatever the clock says then; and one of a length of
// time never gets longer.
func TestSleepWhenClocksAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off time.Duration
		s := pawltest.NewStore(t, pawltest.Clock(func() time.Time { return time.Now().Add(off) }))
		var fail bool
		work := func(ctx context.Context) (int, error) {
			if err := wait.Sleep(ctx, "first", time.Hour); err != nil {
				return 0, err
			}
			if fail {
				return 0, errBusy
			}
			return 1, wait.Sleep(ctx, "second", time.Hour)
		}
		fail = true
		_, err := run(t, s, work)
		wantErr(t, err, errBusy)
		fail = false
		off = -240 * time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err = pawl.Do(ctx, s, "r", work)
		wantErr(t, err, context.DeadlineExceeded)
		off = -2400 * time.Hour // and once more, in the second sleep
		if _, err := run(t, s, work); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > time.Hour+time.Second {
			t.Errorf("the second sleep took %v", took)
		}
	})
}

func TestSleepYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		worked := 0
		work := func(ctx context.Context) (string, error) {
			// Several waits at once: the run can go on when the first is over.
			_, err := pawl.Map(ctx, "m", []int{3, 0, 1, 2}, func(n int) string { return fmt.Sprint(n) }, func(ctx context.Context, n int) (int, error) {
				if n == 0 {
					worked++
					return 0, nil
				}
				return n, wait.Sleep(ctx, "nap", time.Duration(n)*time.Hour)
			}, pawl.Parallel(1))
			if err != nil {
				return "", err
			}
			return "done", nil
		}
		begin := time.Now()
		starts := 0
		for {
			starts++
			v, err := pawl.Do(t.Context(), s, "r", work, wait.Yield(time.Second))
			if err == nil {
				if v != "done" || starts != 4 || worked != 1 || time.Since(begin) != 3*time.Hour {
					t.Errorf("%q after %d starts and %v; worked %d times", v, starts, time.Since(begin), worked)
				}
				return
			}
			wantErr(t, err, pawl.ErrWaiting)
			info := mustInspect(t, s, "r")
			if want := begin.Add(time.Duration(starts) * time.Hour); info.Status != runs.Waiting || !info.WakeAt.Equal(want) || info.Failed != 0 {
				t.Fatalf("after start %d: %s until %v, not %v", starts, info.Status, info.WakeAt, want)
			}
			time.Sleep(time.Until(info.WakeAt))
		}
	})
}

func TestSleepIsAStep(t *testing.T) {
	s := openStore(t)
	wantErr(t, wait.Sleep(t.Context(), "k", time.Second), pawl.ErrNoRun)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if err := wait.Sleep(ctx, "k", -time.Second); err != nil { // no time at all
			return 0, err
		}
		if err := wait.SleepUntil(ctx, "past", time.Unix(0, 0)); err != nil {
			return 0, err
		}
		wantErr(t, wait.Sleep(ctx, "k", time.Second), pawl.ErrDuplicateKey)
		wantErr(t, wait.Sleep(ctx, "", time.Second), pawl.ErrInvalid)
		return 1, nil
	})
	ckNil(t, err)
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls := 0
		work := func(ctx context.Context) (int, error) {
			calls++
			return pawl.Step(ctx, "hang", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			})
		}
		start := func(d, patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := pawl.Do(ctx, s, "r", work, wait.Deadline(d))
			return err
		}
		begin := time.Now()
		err := start(time.Hour, 10*time.Minute)
		if info := mustInspect(t, s, "r"); err == nil || info.Status != runs.InProgress || !info.Deadline.Equal(begin.Add(time.Hour)) {
			t.Fatalf("%v: %+v", err, info)
		}
		time.Sleep(20 * time.Minute)
		err = start(time.Hour, 1000*time.Hour) // has 30 minutes left
		wantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(begin); took != time.Hour || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("after %v: %v", took, err)
		}
		if info := mustInspect(t, s, "r"); info.Status != runs.Failed || info.Failed != 1 {
			t.Errorf("a deadline is a failure: %+v", info)
		}
		calls = 0
		err = start(time.Hour, time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) || calls != 0 {
			t.Errorf("a start behind the deadline: %v, %d calls", err, calls)
		}
		if info := mustInspect(t, s, "r"); info.Status != runs.Failed || info.Owner != nil {
			t.Errorf("%+v", info)
		}
		err = start(3*time.Hour, 1000*time.Hour) // moved: 3 hours from the first start on
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Hour || calls != 1 {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
