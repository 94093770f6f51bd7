package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// endCells are the ways in which fn can end on the first start. The second start's fn
// returns.
func endCells() []cell {
	// ends is a cell whose fn does a step, and then ends in its way; it does neither
	// again.
	ends := func(row, name string, status runs.Status, want []string, end func(p *program, ctx context.Context) (string, error)) cell {
		return cell{row: row, name: name, want: want, between: statusIs(status), program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				v, err := p.step(ctx, "before")
				if err != nil || p.start > 1 {
					return v, err
				}
				return end(p, ctx)
			})
		}}
	}
	failing := func(p *program, ctx context.Context, err error) (string, error) {
		return pawl.Step(ctx, "stop", func(context.Context) (string, error) { p.effect("stop"); return "", err })
	}
	cells := []cell{
		ends("a value", "", runs.Complete, []string{`fn before = "v"`, `= "v"`}, func(*program, context.Context) (string, error) { return "v", nil }),
		ends("an error", "", runs.Failed, []string{"fn before ! boom", `fn = "before@1"`}, func(*program, context.Context) (string, error) {
			return "", errors.New("boom")
		}),
		{row: "the run's context is done", between: statusIs(runs.InProgress), program: func(p *program) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			v, err := pawl.Do(ctx, p.store, "r", func(ctx context.Context) (string, error) {
				v, err := pawl.Step(ctx, "a", func(context.Context) (string, error) {
					p.effect("a")
					p.once(cancel) // in the midst of it: it is recorded all the same
					return p.value("a"), nil
				})
				if err != nil {
					return "", err
				}
				b, err := p.step(ctx, "b")
				return v + " " + b, err
			})
			if errors.Is(err, context.Canceled) {
				p.effect("cancelled")
				die()
			}
			return p.end(v, err)
		}, want: []string{"a cancelled killed", `b = "a@1 b@2"`}},
		ends("a step's own timeout", "", runs.Failed, []string{"fn before deadline-true failed-true ! timed out", `fn = "before@1"`},
			func(p *program, ctx context.Context) (string, error) {
				ctx, cancel := context.WithTimeoutCause(ctx, time.Nanosecond, errors.New("too slow"))
				defer cancel()
				<-ctx.Done()
				_, err := pawl.Step(context.WithoutCancel(ctx), "slow", func(context.Context) (string, error) {
					return "", fmt.Errorf("timed out: %w", errors.Join(ctx.Err(), context.Cause(ctx)))
				})
				p.effect(fmt.Sprint("deadline-", errors.Is(err, context.DeadlineExceeded)))
				_, failed := errors.AsType[*pawl.StepError](err)
				p.effect(fmt.Sprint("failed-", failed))
				return "", errors.New("timed out")
			}),
		ends("a panic", "", runs.Failed, []string{"fn before exit 2", `fn = "before@1"`}, func(*program, context.Context) (string, error) { panic("boom") }),
		ends("a panic", "in a step", runs.Failed, []string{"fn before exit 2", `fn = "before@1"`}, func(p *program, ctx context.Context) (string, error) {
			return pawl.Step(ctx, "bad", func(context.Context) (string, error) { panic("boom") })
		}),
		{row: "a panic", name: "in a step with AtMostOnce", between: statusIs(runs.Failed), program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "pay", func(context.Context) (string, error) { p.effect("pay"); panic("boom") }, pawl.AtMostOnce())
			})
		}, want: []string{"fn pay exit 2"}},
		{row: "Step under way at the death, AtMostOnce", name: "ended by a panic", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "pay", func(context.Context) (string, error) { p.effect("pay"); panic("boom") }, pawl.AtMostOnce())
			})
		}, want: []string{"fn pay exit 2", "fn ! ErrInDoubt", "fn ! ErrInDoubt"}},
		{row: "a panic", name: "that is recovered: the run was let go", between: statusIs(runs.Complete), program: func(p *program) error {
			func() {
				defer func() { p.effect(fmt.Sprint("recovered-", recover())) }()
				p.do(func(context.Context) (string, error) { panic("boom") }) //nolint:errcheck // it panics
			}()
			return p.do(func(context.Context) (string, error) { return "v", nil })
		}, want: []string{`fn recovered-boom fn = "v"`}},
		{row: "runtime.Goexit", between: statusIs(runs.Complete), program: func(p *program) error {
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				p.do(func(ctx context.Context) (string, error) { //nolint:errcheck // it does not return
					return pawl.Step(ctx, "a", func(context.Context) (string, error) { p.effect("a"); runtime.Goexit(); return "", nil })
				})
				p.effect("returned")
			}()
			<-gone
			return p.do(func(ctx context.Context) (string, error) { return p.step(ctx, "a") })
		}, want: []string{`fn a fn a = "a@1"`}},
		{row: "a panic in an item of a Map", between: statusIs(runs.Failed), program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				bad := make(chan struct{})
				vs, err := pawl.Map(ctx, "m", []string{"slow", "bad", "later"}, func(s string) string { return s }, func(_ context.Context, item string) (string, error) {
					switch {
					case p.start > 1:
						p.effect(item)
					case item == "slow":
						<-bad
						time.Sleep(10 * time.Millisecond) // the panic is on its way
						p.effect("slow")
					default:
						defer close(bad)
						panic("boom")
					}
					return p.value(item), nil
				}, pawl.Parallel(max(1, 3-p.start)))
				return fmt.Sprint(vs), err
			})
		}, want: []string{"fn slow exit 2", `fn later bad = "[slow@1 bad@2 later@2]"`}},
		ends("os.Exit", "", runs.InProgress, []string{"fn before exit 3", `fn = "before@1"`}, func(*program, context.Context) (string, error) {
			os.Exit(3)
			return "", nil
		}),
		ends("SIGKILL or a power cut", "", runs.InProgress, []string{"fn before killed", `fn = "before@1"`}, func(*program, context.Context) (string, error) {
			die()
			return "", nil
		}),
	}
	for name, err := range map[string]error{"waiting": pawl.ErrWaiting, "cancelled": pawl.ErrCancelled, "lease lost": pawl.ErrLeaseLost} {
		want := "fn before stop ! " + sentinelOf(err)
		row, status := "ErrCancelled, ErrLeaseLost", runs.InProgress
		if err == pawl.ErrWaiting {
			row, status = "ErrWaiting", runs.Waiting
		}
		cells = append(cells, ends(row, name, status, []string{want, `fn = "before@1"`}, func(p *program, ctx context.Context) (string, error) {
			return failing(p, ctx, err)
		}))
	}
	return cells
}

// statusIs looks at the run as the first start left it, as somebody else's program would.
func statusIs(want runs.Status) func(t *testing.T, start int, store string) {
	return func(t *testing.T, start int, store string) {
		if start > 1 {
			want = runs.Complete
		}
		s, err := pawl.Open(filepath.Join(store), pawl.MustExist())
		ckNil(t, err)
		defer s.Close()
		info := mustInspect(t, s, "r")
		if info.Status != want || info.Owner != nil || (info.Error != "") != (want == runs.Failed) {
			t.Errorf("after start %d the run is %s (%q), want %s", start, info.Status, info.Error, want)
		}
	}
}
