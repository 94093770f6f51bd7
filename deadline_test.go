package pawl_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

// A deadline is the run's: later starts have what is left of it, also those that do not ask for
// one, and whatever becomes of the clock they never have more than the whole.
func TestDeadlineOfLaterStarts(t *testing.T) {
	again := []pawl.RunOption{wait.Deadline(time.Hour)}
	for _, tt := range []struct {
		name  string
		set   time.Duration // the clock, between the starts
		opts  []pawl.RunOption
		least time.Duration // that the second start has
		most  time.Duration
	}{
		{"with the option", 0, again, 50 * time.Minute, 50 * time.Minute},
		{"without the option", 0, nil, 50 * time.Minute, 50 * time.Minute},
		{"clock set back, with", -1000 * time.Hour, again, 0, time.Hour},
		{"clock set back, without", -1000 * time.Hour, nil, 0, time.Hour},
		{"clock set forward, with", 1000 * time.Hour, again, 0, 0},
		{"clock set forward, without", 1000 * time.Hour, nil, 0, 0},
	} {
		for _, compact := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var off time.Duration
					s := pawltest.NewStore(t, pawltest.Clock(func() time.Time { return time.Now().Add(off) }))
					hang := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
					defer cancel()
					_, err := pawl.Do(ctx, s, "r", hang, again...)
					wantErr(t, err, context.DeadlineExceeded)
					due := inspect(t, s).Deadline
					if compact {
						ckNil(t, second(s.Compact(t.Context(), "r")))
					}
					off = tt.set
					begin := time.Now()
					patient, stop := context.WithTimeout(t.Context(), 5000*time.Hour)
					defer stop()
					_, err = pawl.Do(patient, s, "r", hang, tt.opts...)
					wantErr(t, err, context.DeadlineExceeded)
					if took := time.Since(begin); took < tt.least || took > tt.most {
						t.Errorf("the second start had %v of an hour, of which 10 minutes were over: %v", took, err)
					}
					if info := inspect(t, s); info.Status != runs.Failed || !info.Deadline.Equal(due) {
						t.Errorf("%+v; the deadline was %v", info, due)
					}
				})
			})
		}
	}
}

// What waits at the deadline goes on with its wait when there is a later one.
func TestDeadlineInAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls, begin := 0, time.Now()
		work := func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", failsFor(1, retry.After(errBusy, 3*time.Hour), &calls), retry.Tries(2))
		}
		for range 2 {
			_, err := run(t, s, work, wait.Deadline(time.Hour))
			wantErr(t, err, context.DeadlineExceeded)
		}
		v, err := run(t, s, work, wait.Deadline(10*time.Hour))
		if v != 2 || err != nil || time.Since(begin) != 3*time.Hour {
			t.Errorf("%d, %v after %v", v, err, time.Since(begin))
		}
	})
}
