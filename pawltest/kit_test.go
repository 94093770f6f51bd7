package pawltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
)

// judged is a test that notes its errors.
type judged struct {
	testing.TB
	errs []string
}

func (r *judged) Helper()      {}
func (r *judged) Failed() bool { return len(r.errs) > 0 }
func (r *judged) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}

func (r *judged) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// research is a program with all that the kit should bear: nested steps, a Map, a state, notes,
// a step that fails and is asked again.
func research(ctx context.Context, store *pawl.Store) (string, error) {
	return pawl.Do(ctx, store, "research", func(ctx context.Context) (string, error) {
		list, err := pawl.Step(ctx, "list", func(context.Context) ([]string, error) { return []string{"a", "b", "c"}, nil })
		if err != nil {
			return "", err
		}
		found, err := pawl.Map(ctx, "analyze", list, func(s string) string { return s }, func(ctx context.Context, s string) (string, error) {
			return pawl.Step(ctx, "fetch", func(ctx context.Context) (string, error) {
				if err := pawl.Note(ctx, pawl.Try(ctx)); err != nil {
					return "", err
				}
				return strings.ToUpper(s), nil
			})
		}, pawl.Parallel(3))
		if err != nil {
			return "", err
		}
		n, _, err := pawl.LoadState[int](ctx)
		for ; err == nil && n < 3; n++ {
			err = pawl.SaveState(ctx, n+1)
		}
		if err != nil {
			return "", err
		}
		_, err = pawl.Step(ctx, "flaky", func(context.Context) (int, error) { return 0, errors.New("no") })
		if _, failed := errors.AsType[*pawl.StepError](err); !failed {
			return "", err
		}
		return strings.Join(found, " "), nil
	})
}

func TestCrashEverywhere(t *testing.T) {
	pawltest.CrashEverywhere(t, research)
	pawltest.CrashEverywhere(t, func(ctx context.Context, s *pawl.Store) (int, error) {
		return pawl.Do(ctx, s, "fails", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 0, errors.New("always") })
		})
	})
}

// What CrashEverywhere claims to find, it finds.
func TestCrashEverywhereHasTeeth(t *testing.T) {
	one := func(context.Context) (int, error) { return 1, nil }
	do := func(fn func(ctx context.Context) (int, error)) func(context.Context, *pawl.Store) (int, error) {
		return func(ctx context.Context, s *pawl.Store) (int, error) { return pawl.Do(ctx, s, "r", fn) }
	}
	var starts atomic.Int64
	for name, tt := range map[string]struct {
		program func(context.Context, *pawl.Store) (int, error)
		want    string
	}{
		"keys by chance": {do(func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, fmt.Sprint("step ", rand.Uint64()), one)
		}), "keys must not come from"},
		"keys by a counter that a death resets, the other way round": {do(func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, fmt.Sprint("attempt ", pawl.Resumed(ctx).Attempt), one)
		}), "keys must not come from"},
		"result from outside": {do(func(ctx context.Context) (int, error) {
			_, err := pawl.Step(ctx, "s", one)
			return int(starts.Add(1)), err
		}), "returned"},
		"refuses to resume": {do(func(ctx context.Context) (int, error) {
			if pawl.Resumed(ctx).Attempt > 1 {
				return 0, errors.New("I cannot go on")
			}
			return pawl.Step(ctx, "s", one)
		}), "I cannot go on"},
		"panics when resumed": {do(func(ctx context.Context) (int, error) {
			if pawl.Resumed(ctx).Attempt > 1 {
				panic("no")
			}
			return pawl.Step(ctx, "s", one)
		}), "panicked"},
		"leaves steps behind": {do(func(ctx context.Context) (int, error) {
			if pawl.Resumed(ctx).Steps == 0 {
				if _, err := pawl.Step(ctx, "first", one); err != nil {
					return 0, err
				}
			}
			return pawl.Step(ctx, "second", one)
		}), "nobody asked for"},
		"pays again": {func(ctx context.Context, s *pawl.Store) (int, error) {
			if _, err := s.Inspect(ctx, "r"); err == nil {
				if _, err := s.Clear(ctx, "r"); err != nil {
					return 0, err
				}
				s.Inspect(ctx, "r") //nolint:errcheck // absent by now
			}
			return pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
				if _, err := pawl.Step(ctx, fmt.Sprint("s", pawl.IdempotencyKey(ctx)), one); err != nil {
					return 0, err
				}
				return int(starts.Add(1)), nil
			})
		}, "returned"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &judged{}
			func() {
				defer func() {
					if p := recover(); p != nil && p != any(r) {
						panic(p)
					}
				}()
				pawltest.CrashEverywhere(r, tt.program)
			}()
			if !strings.Contains(strings.Join(r.errs, "\n"), tt.want) {
				t.Errorf("found: %q, want %q", r.errs, tt.want)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	r := &judged{TB: t}
	s := pawltest.NewStore(t, pawltest.Strict(r))
	one := func(context.Context) (int, error) { return 1, nil }
	for i := range 2 {
		pawl.Do(t.Context(), s, "r", func(ctx context.Context) (int, error) { //nolint:errcheck // the first start fails on purpose
			if _, err := pawl.Step(ctx, fmt.Sprint("key of start ", i), one); err != nil || i == 0 {
				return 0, errors.New("again")
			}
			return 1, nil
		})
	}
	if len(r.errs) != 1 || !strings.Contains(r.errs[0], "nobody asked for") {
		t.Errorf("errors = %q", r.errs)
	}
}

func TestSeed(t *testing.T) {
	s := pawltest.NewStore(t, pawltest.Strict(t))
	pawltest.Seed(t, s, "r", map[string]any{"list": []string{"a", "x/y"}, "analyze/a": "A", "analyze/x~1y": "X", "turn/1/model": 7, "u/v/in": "in", "u~1v/in": "in the step u/v"})
	got, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) (string, error) {
		never := func(context.Context) (int, error) { t.Error("ran"); return 0, nil }
		list, err := pawl.Step(ctx, "list", func(context.Context) ([]string, error) { t.Error("ran"); return nil, nil })
		if err != nil {
			return "", err
		}
		found, err := pawl.Map(ctx, "analyze", list, func(s string) string { return s }, func(context.Context, string) (string, error) {
			t.Error("ran")
			return "", nil
		})
		if err != nil {
			return "", err
		}
		in, err := pawl.Step(ctx, "u/v", func(ctx context.Context) (string, error) {
			return pawl.Step(ctx, "in", func(context.Context) (string, error) { t.Error("ran"); return "", nil })
		})
		if in != "in the step u/v" || err != nil {
			t.Errorf("inside a step with a slash: %q, %v", in, err)
		}
		if in, err := pawl.Step(pawl.Scope(ctx, "u/v"), "in", func(context.Context) (string, error) { t.Error("ran"); return "", nil }); in != "in" || err != nil {
			t.Errorf("inside two scopes: %q, %v", in, err)
		}
		n, err := pawl.Step(pawl.Scope(ctx, "turn/1"), "model", never)
		return fmt.Sprint(found, n), err
	})
	if got != "[A X]7" && got != "[A X] 7" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClock(t *testing.T) {
	day := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	s := pawltest.NewStore(t, pawltest.Clock(func() time.Time { return day }))
	if _, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
	}); err != nil {
		t.Fatal(err)
	}
	for e, err := range s.History(t.Context(), "r") {
		if err != nil || !e.At.Equal(day) {
			t.Errorf("record %d at %v, %v", e.Seq, e.At, err)
		}
	}
}

// A whole run in a bubble: time is the bubble's, and nothing in pawl keeps it from
// standing still.
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		begin := time.Now()
		_, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) ([]int, error) {
			return pawl.Map(ctx, "m", []int{1, 2, 3, 4}, func(n int) string { return fmt.Sprint(n) }, func(_ context.Context, n int) (int, error) {
				time.Sleep(time.Hour)
				return n, nil
			}, pawl.Parallel(2))
		})
		if took := time.Since(begin); err != nil || took != 2*time.Hour {
			t.Errorf("took %v, %v", took, err)
		}
		info, err := s.Inspect(t.Context(), "r")
		if err != nil || info.Updated.Sub(info.Created) != 2*time.Hour || info.Took != 4*time.Hour {
			t.Errorf("info = %+v, %v", info, err)
		}
	})
}
