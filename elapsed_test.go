package pawl_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
)

// The time of a series is counted from its first try on, also if that one was interrupted and
// never failed, and over a compaction.
func TestElapsedOverAnInterruptedTry(t *testing.T) {
	for _, compact := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := pawltest.NewStore(t)
			var began []time.Time
			work := func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
					began = append(began, time.Now())
					if len(began) == 1 {
						<-ctx.Done()
						return 0, ctx.Err()
					}
					return 0, retry.After(errBusy, 4*time.Minute)
				}, retry.With(retry.Policy{Tries: 100, Elapsed: time.Hour, Base: 1}))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
			defer cancel()
			_, err := pawl.Do(ctx, s, "r", work)
			wantErr(t, err, context.DeadlineExceeded)
			if compact {
				ckNil(t, second(s.Compact(t.Context(), "r")))
			}
			_, err = run(t, s, work)
			wantErr(t, err, errBusy)
			if d := began[len(began)-1].Sub(began[0]); len(began) != 4 || d != 58*time.Minute {
				t.Errorf("the last of %d tries began %v behind the first", len(began), d)
			}
		})
	}
}

// A try that was planned within that time runs, however late its process comes to it; none is
// planned behind it.
func TestElapsedWhenNobodyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		calls := 0
		work := func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", failsFor(100, retry.After(errBusy, 10*time.Minute), &calls), retry.With(retry.Policy{Tries: 100, Elapsed: time.Hour, Base: 1}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
		defer cancel()
		_, err := pawl.Do(ctx, s, "r", work)
		wantErr(t, err, context.DeadlineExceeded)
		time.Sleep(100 * time.Hour)
		begin := time.Now()
		_, err = run(t, s, work)
		wantErr(t, err, errBusy)
		if calls != 3 || time.Since(begin) != 0 {
			t.Errorf("%d calls, and it took %v", calls, time.Since(begin))
		}
	})
}
