package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
)

// spend is a step that costs x and fails in its first n tries.
func spend(ctx context.Context, key string, x float64, fails int) (int, error) {
	return pawl.Step(ctx, key, func(ctx context.Context) (int, error) {
		if err := errors.Join(meter.Add(ctx, "usd", x), meter.Add(ctx, "tokens", 1000*x)); err != nil {
			return 0, err
		}
		if pawl.Try(ctx) <= fails {
			return 0, errBusy
		}
		return pawl.Try(ctx), nil
	}, retry.With(retry.Policy{Base: 1}))
}

func TestMeterCountsAllTries(t *testing.T) {
	s := openStore(t)
	stop := true
	work := func(ctx context.Context) (string, error) {
		if err := meter.Add(ctx, "usd", 0.5); err != nil { // outside of all steps: on each start
			return "", err
		}
		_, err := pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			if err := meter.Add(ctx, "usd", 1); err != nil {
				return 0, err
			}
			return spend(ctx, "inner", 2, 1)
		})
		if err == nil {
			_, err = spend(ctx, "last", 4, 0)
		}
		if err != nil {
			return "", err
		}
		if stop {
			return "", errors.New("not yet")
		}
		r := pawl.Resumed(ctx)
		return fmt.Sprint(r.Steps, r.Units["usd"], r.Units["tokens"]), nil
	}
	_, err := run(t, s, work)
	if err == nil {
		t.Fatal("no error")
	}
	for range 2 { // before and after a compaction
		info := inspect(t, s)
		if info.Spent["usd"] != 9.5 || info.Spent["tokens"] != 8000 || info.Kept["usd"] != 7 || info.Kept["tokens"] != 6000 {
			t.Errorf("spent %v, kept %v", info.Spent, info.Kept)
		}
		steps, err := s.Steps(t.Context(), "r")
		ckNil(t, err)
		if got := fmt.Sprint(steps[0].Spent["usd"], steps[1].Spent["usd"], steps[2].Spent["usd"]); got != "1 4 4" {
			t.Errorf("steps spent %s", got)
		}
		ckNil(t, second(s.Compact(t.Context(), "r")))
	}
	stop = false
	if v, err := run(t, s, work); v != "2 7 6000" || err != nil {
		t.Errorf("the second start: %q, %v", v, err)
	}
	if info := inspect(t, s); info.Spent["usd"] != 10 {
		t.Errorf("spent %v", info.Spent)
	}
}

func TestMeterRefuses(t *testing.T) {
	wantErr(t, meter.Add(t.Context(), "usd", 1), pawl.ErrNoRun)
	s := pawltest.NewStore(t)
	var left context.Context
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
			wantErr(t, meter.Add(ctx, "usd", bad), pawl.ErrInvalid)
		}
		for _, unit := range []string{"", "a\x00", "\xff", strings.Repeat("x", 257)} {
			wantErr(t, meter.Add(ctx, unit, 1), pawl.ErrInvalid)
		}
		return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) { left = ctx; return 0, meter.Add(ctx, "calls", 1e300) })
	})
	ckNil(t, err)
	wantErr(t, meter.Add(left, "usd", 1), pawl.ErrComplete)
	if info := inspect(t, s); len(info.Spent) != 1 || info.Spent["calls"] != 1e300 {
		t.Errorf("%v", info.Spent)
	}
	for _, bad := range []pawl.RunOption{meter.Budget("", 1), meter.Budget("usd", -1), meter.Budget("usd", math.NaN())} {
		_, err := pawl.Do(t.Context(), s, "other", func(context.Context) (int, error) { return 0, nil }, bad)
		wantErr(t, err, pawl.ErrInvalid)
	}
}

// A budget holds over starts, and a higher one lets the run go on where it stopped.
func TestBudget(t *testing.T) {
	s := openStore(t)
	calls := 0
	work := func(ctx context.Context) (int, error) {
		for i := range 10 {
			_, err := pawl.Step(ctx, fmt.Sprint(i), func(ctx context.Context) (int, error) {
				calls++
				return i, meter.Add(ctx, "usd", 0.1) // three of them are not 0.3 in binary
			})
			if err != nil {
				return 0, err
			}
		}
		return calls, nil
	}
	for range 3 {
		_, err := run(t, s, work, meter.Budget("usd", 0.3), meter.Budget("tokens", 5))
		wantErr(t, err, pawl.ErrBudget)
		if calls != 3 || !strings.Contains(err.Error(), "0.3 of 0.3 usd") {
			t.Fatalf("%d calls: %v", calls, err)
		}
	}
	info := inspect(t, s)
	if info.Status != runs.Failed || info.Failed != 0 || info.Budget["usd"] != 0.3 || info.Budget["tokens"] != 5 {
		t.Errorf("%+v", info)
	}
	if _, err := run(t, s, work, meter.Budget("usd", 0.75)); !errors.Is(err, pawl.ErrBudget) || calls != 8 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if v, err := run(t, s, work); v != 10 || err != nil {
		t.Errorf("without a budget: %d, %v", v, err)
	}
}

// A budget of nothing lets nothing begin, and it ends a series of tries; the step around one
// that may not begin has failed, and is not retried for that.
func TestBudgetEndsSeries(t *testing.T) {
	s := pawltest.NewStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) { return spend(ctx, "s", 1, 0) }, meter.Budget("usd", 0))
	wantErr(t, err, pawl.ErrBudget)
	outer := 0
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			outer++
			return spend(ctx, "s", 1, 100)
		}, retry.Tries(5))
	}, meter.Budget("usd", 3))
	wantErr(t, err, pawl.ErrBudget)
	if info := inspect(t, s); outer != 1 || info.Spent["usd"] != 3 {
		t.Errorf("outer was called %d times, spent %v", outer, info.Spent)
	}
}

// A unit that Redact changes is the budget's unit all the same.
func TestBudgetOfARedactedUnit(t *testing.T) {
	s := pawltest.NewStore(t, pawl.Redact(func(s string) string { return strings.ReplaceAll(s, "acme", "***") }))
	calls := 0
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for i := range 5 {
			_, err := pawl.Step(ctx, fmt.Sprint(i), func(ctx context.Context) (int, error) {
				calls++
				return i, meter.Add(ctx, "acme-tokens", 1)
			})
			if err != nil {
				return 0, err
			}
		}
		return 1, nil
	}, meter.Budget("acme-tokens", 2))
	wantErr(t, err, pawl.ErrBudget)
	if info := inspect(t, s); calls != 2 || info.Spent["***-tokens"] != 2 || info.Budget["***-tokens"] != 2 || strings.Contains(err.Error(), "acme") {
		t.Errorf("%d calls, spent %v of %v: %v", calls, info.Spent, info.Budget, err)
	}
}
