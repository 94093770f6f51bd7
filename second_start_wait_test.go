package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

// waitCells are the rows of what is tried again, waits, costs, or is stopped.
func waitCells() []cell {
	// ask is a step that fails and dies, as its number of tries says.
	ask := func(p *program, ctx context.Context, dieIn int, opts ...pawl.StepOption) (string, error) {
		return pawl.Step(ctx, "ask", func(ctx context.Context) (string, error) {
			try := pawl.Try(ctx)
			p.effect(fmt.Sprint("ask-try-", try))
			if try == dieIn {
				die()
			}
			return "", errors.New("busy")
		}, opts...)
	}
	never := func(err error) error { return retry.After(err, 300*24*time.Hour) }
	return []cell{
		{row: "Step that is tried again, Policy", name: "dies in a try", program: func(p *program) error {
			// Three tries in all that fail; the one that the death cut short has not.
			return p.do(func(ctx context.Context) (string, error) {
				return ask(p, ctx, 2, retry.With(retry.Policy{Tries: 3, Base: time.Microsecond}))
			})
		}, want: []string{
			"fn ask-try-1 ask-try-2 killed",
			`fn ask-try-3 ask-try-4 ! pawl: run "r" step "ask" failed (try 4): busy`,
			`fn ask-try-5 ask-try-6 ask-try-7 ! pawl: run "r" step "ask" failed (try 7): busy`, // a new series
		}},
		{row: "Step that is tried again, Policy", name: "dies in the wait", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				p.once(func() { time.AfterFunc(200*time.Millisecond, die) })
				return pawl.Step(ctx, "ask", func(ctx context.Context) (string, error) {
					p.effect("ask")
					return "", never(errors.New("busy"))
				}, retry.Tries(5))
			}, wait.Yield([]time.Duration{365 * 24 * time.Hour, time.Hour, time.Hour}[p.start-1]))
		}, want: []string{"fn ask killed", "fn ! ErrWaiting", "fn ! ErrWaiting"}},
		{row: "Step that failed finally", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				v, err := pawl.Step(ctx, "ask", func(context.Context) (string, error) {
					p.effect("ask")
					return "", retry.Permanent(errors.New("no such model"))
				})
				p.once(die)
				return v, err
			})
		}, want: []string{
			"fn ask killed",
			`fn ! pawl: run "r" step "ask" failed finally (try 1): no such model`,
			`fn ! pawl: run "r" step "ask" failed finally (try 1): no such model`,
			`fn ask ! pawl: run "r" step "ask" failed finally (try 2): no such model`,
		}, between: after(3, func(s *pawl.Store) error {
			_, err := s.Retry(context.Background(), "r", "ask", "ann", "")
			return err
		})},
		{row: "Step under way at n deaths in a row, MaxCrashes", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return ask(p, ctx, p.start, retry.MaxCrashes(2))
			})
		}, want: []string{"fn ask-try-1 killed", "fn ask-try-2 killed", "fn ! ErrPoison", "fn ! ErrPoison"}},
		{row: "Step, the Budget is used up", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				for i := range 4 {
					_, err := pawl.Step(ctx, fmt.Sprint(i), func(ctx context.Context) (int, error) {
						p.effect(fmt.Sprint(i))
						err := meter.Add(ctx, "usd", 1)
						if i == 1 {
							p.once(die) // what it has cost is not forgotten
						}
						return 0, err
					})
					if err != nil {
						return "", err
					}
				}
				return "done", nil
			}, meter.Budget("usd", []float64{3, 3, 3, 6}[p.start-1]))
		}, want: []string{"fn 0 1 killed", "fn 1 ! ErrBudget", "fn ! ErrBudget", `fn 2 3 = "done"`}},
		{row: "Sleep", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				p.once(func() { time.AfterFunc(200*time.Millisecond, die) })
				begin := time.Now()
				err := wait.Sleep(ctx, "nap", 2*time.Second)
				if time.Since(begin) < 1950*time.Millisecond {
					p.effect("the-rest")
				}
				return "", err
			})
		}, want: []string{"fn killed", `fn the-rest = ""`}},
		{row: "Do, waiting", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				if err != nil {
					return "", err
				}
				return a, wait.Sleep(ctx, "nap", 300*time.Millisecond)
			}, wait.Yield(0))
		}, want: []string{"fn a ! ErrWaiting", `fn = "a@1"`}, between: func(t *testing.T, start int, store string) {
			if statusOf(t, store) == runs.Waiting {
				time.Sleep(310 * time.Millisecond)
			}
		}},
		{row: "Do, cancelled", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				p.once(die)
				return a, err
			})
		}, want: []string{"fn a killed", "! ErrCancelled", "! ErrCancelled", `fn = "a@1"`}, between: func(t *testing.T, start int, store string) {
			after(1, func(s *pawl.Store) error { return s.Cancel(context.Background(), "r", "ann", "") })(t, start, store)
			after(3, func(s *pawl.Store) error { return s.Reopen(context.Background(), "r", "ann", "") })(t, start, store)
		}},
		{row: "Do, its Deadline is over", program: func(p *program) error {
			err := p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				p.once(die)
				return a, err
			}, wait.Deadline([]time.Duration{50, 50, 60_000}[p.start-1]*time.Millisecond))
			return err
		}, want: []string{"fn a killed", "! context.DeadlineExceeded", `fn = "a@1"`}, between: func(*testing.T, int, string) { time.Sleep(60 * time.Millisecond) }},
		{row: "cancelled by somebody", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				if _, err := p.step(ctx, "a"); err != nil {
					return "", err
				}
				p.once(func() {
					if err := p.store.Cancel(ctx, "r", "ann", ""); err != nil {
						panic(err)
					}
				})
				return pawl.Step(ctx, "b", func(ctx context.Context) (string, error) {
					p.effect("b")
					if p.start == 1 {
						<-ctx.Done() // and comes to its end all the same
					}
					return p.value("b"), nil
				})
			})
		}, want: []string{"fn a b ! ErrCancelled", "! ErrCancelled", `fn = "b@1"`}, between: after(2, func(s *pawl.Store) error {
			return s.Reopen(context.Background(), "r", "ann", "")
		})},
		{row: "the run's Deadline", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "a", func(ctx context.Context) (string, error) {
					p.effect("a")
					p.once(func() { <-ctx.Done() })
					return p.value("a"), ctx.Err()
				})
			}, wait.Deadline([]time.Duration{100, 60_000}[p.start-1]*time.Millisecond))
		}, want: []string{"fn a ! context.DeadlineExceeded", `fn a = "a@2"`}, between: func(t *testing.T, start int, store string) {
			if got := statusOf(t, store); start == 1 && got != runs.Failed {
				t.Errorf("the run is %s", got)
			}
		}},
	}
}

// after returns what is done by somebody else after so many starts.
func after(starts int, do func(s *pawl.Store) error) func(t *testing.T, start int, store string) {
	return func(t *testing.T, start int, store string) {
		t.Helper()
		if start != starts {
			return
		}
		s, err := pawl.Open(store, pawl.MustExist())
		ckNil(t, err)
		ckNil(t, errors.Join(do(s), s.Close()))
	}
}

func statusOf(t *testing.T, store string) runs.Status {
	t.Helper()
	s, err := pawl.Open(filepath.Clean(store), pawl.MustExist())
	ckNil(t, err)
	defer s.Close()
	return mustInspect(t, s, "r").Status
}
