package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

// Of several waits, the first that is over is when the run can go on, in whatever order they
// stand; and who waits has not failed, nor has a question that waits for somebody a time.
func TestUntilIsTheEarliest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		for i, order := range [][]int{{3, 1, 2}, {1, 2, 3}, {3, 2, 1}, {0, 2, 1}} {
			id, begin := fmt.Sprint(i), time.Now()
			var last runs.Progress
			_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
				_, err := pawl.Map(ctx, "m", order, func(n int) string { return fmt.Sprint(n) }, func(ctx context.Context, n int) (int, error) {
					switch n {
					case 0: // for good
						_, err := pawl.Await[bool](ctx, "ok", "really?")
						return 0, err
					case 2:
						return 0, wait.Sleep(ctx, "nap", 2*time.Hour)
					}
					return 0, retry.After(errBusy, time.Duration(n)*time.Hour)
				}, retry.Tries(3), pawl.Parallel(1))
				return 0, fmt.Errorf("map: %w", err)
			}, wait.Yield(time.Minute), pawl.OnProgress(func(p runs.Progress) { last = p }))
			wantErr(t, err, pawl.ErrWaiting)
			at, ok := wait.Until(err)
			info := mustInspect(t, s, id)
			if !ok || !at.Equal(begin.Add(time.Hour)) || info.Status != runs.Waiting || !info.WakeAt.Equal(at) {
				t.Errorf("%v: until %v, the run until %v: %v", order, at.Sub(begin), info.WakeAt.Sub(begin), err)
			}
			if last.Failed != 0 || last.Done != 0 || last.Total != 3 || info.Maps[0].Failed != 0 {
				t.Errorf("%v: progress %+v, and to others %+v", order, last, info.Maps[0])
			}
		}
	})
}

// Where something has failed beside a wait the run has failed, in whatever order they stand.
func TestFailureBesideAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		for i, order := range [][]string{{"bad", "busy"}, {"busy", "bad"}} {
			id := fmt.Sprint(i)
			var last runs.Progress
			_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
				_, err := pawl.Map(ctx, "m", order, sameName, func(_ context.Context, item string) (int, error) {
					time.Sleep(time.Second) // both begin
					if item == "bad" {
						return 0, retry.Permanent(errors.New("no such file"))
					}
					return 0, retry.After(errBusy, time.Hour)
				}, retry.Tries(3), pawl.Parallel(2))
				return 0, err
			}, wait.Yield(time.Minute), pawl.OnProgress(func(p runs.Progress) { last = p }))
			if info := mustInspect(t, s, id); info.Status != runs.Failed || info.Error == "" || last.Failed != 1 || info.Maps[0].Failed != 1 {
				t.Errorf("%v: %v: %+v, progress %+v", order, err, info, last)
			}
		}
	})
}

// A time that no journal can say is the end of the year 9999, on every start.
func TestSleepUntilTheEndOfTime(t *testing.T) {
	s := openStore(t)
	end := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for i := range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			return 1, wait.SleepUntil(ctx, "doomsday", time.Date(12000+i, 1, 1, 0, 0, 0, 0, time.UTC))
		}, wait.Yield(time.Hour))
		wantErr(t, err, pawl.ErrWaiting)
		steps, stepsErr := s.Steps(t.Context(), "r")
		ckNil(t, stepsErr)
		if at, ok := wait.Until(err); !ok || !at.Equal(end) || !steps[0].Until.Equal(end) || !inspect(t, s).WakeAt.Equal(end) {
			t.Errorf("start %d: until %v, the step until %v", i+1, at, steps[0].Until)
		}
		ckNil(t, second(s.Compact(t.Context(), "r")))
	}
}

// What a resume saves is work: a sleep that is over is not.
func TestSleepIsNoSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		var resumed []pawl.Resume
		for range 2 {
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				resumed = append(resumed, pawl.Resumed(ctx))
				if err := wait.Sleep(ctx, "nap", 24*time.Hour); err != nil {
					return 0, err
				}
				if _, err := pawl.Step(ctx, "a", func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil }); err != nil {
					return 0, err
				}
				return 0, errBusy
			})
			wantErr(t, err, errBusy)
		}
		if info := inspect(t, s); resumed[0].Saved != 0 || resumed[1].Saved != time.Minute || info.Took != time.Minute {
			t.Errorf("%+v, took %v", resumed, info.Took)
		}
	})
}
