package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

func TestAliasAdoptsARenamedStep(t *testing.T) {
	s := openStore(t)
	calls := map[string]int{}
	work := func(what string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			calls[what]++
			return pawl.Step(ctx, "in", func(context.Context) (string, error) { calls[what+"/in"]++; return what, nil })
		}
	}
	item := func(ctx context.Context, n int) (string, error) {
		if n == 3 && calls["item 3"] == 0 {
			calls["item 3"]++
			return "", errors.New("boom")
		}
		calls[fmt.Sprint("item ", n)]++
		return fmt.Sprint(n), nil
	}
	keyOf := func(n int) string { return fmt.Sprint(n) }
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "old", work("step")); err != nil {
			return 0, err
		}
		_, err := pawl.Map(ctx, "olds", []int{1, 2, 3}, keyOf, item, pawl.Parallel(1))
		return 0, err
	})
	if err == nil {
		t.Fatal("no error")
	}
	renamed := func(ctx context.Context) (int, error) {
		v, err := pawl.Step(ctx, "new", work("step"), pawl.Alias("old"))
		if err != nil || v != "step" {
			return 0, fmt.Errorf("%q, %w", v, err)
		}
		vs, err := pawl.Map(ctx, "news", []int{1, 2, 3}, keyOf, item, pawl.Alias("olds"))
		if err != nil {
			return 0, err
		}
		if len(vs) != 3 {
			return 0, fmt.Errorf("%q", vs)
		}
		return 0, errors.New("once more")
	}
	for i := range 3 {
		if _, err := run(t, s, renamed); err == nil || err.Error() != "once more" {
			t.Fatalf("start %d: %v", i, err)
		}
		if _, _, err := s.Compact(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	}
	// Adopted for good: the option may go.
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "new", work("step")); err != nil {
			return 0, err
		}
		_, err := pawl.Map(ctx, "news", []int{1, 2, 3}, keyOf, item)
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"step": 1, "step/in": 1, "item 1": 1, "item 2": 1, "item 3": 2} {
		if calls[what] != want {
			t.Errorf("%s was called %d times, want %d", what, calls[what], want)
		}
	}
}

func TestAliasKeepsTheIdempotencyKey(t *testing.T) {
	s := openStore(t)
	var keys []string
	ask := func(key string, opts ...pawl.StepOption) {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
			return pawl.Step(ctx, key, func(ctx context.Context) (int, error) {
				keys = append(keys, pawl.IdempotencyKey(ctx))
				return 0, errors.New("again")
			}, opts...)
		})
	}
	ask("old")
	ask("new", pawl.Alias("old"))
	if _, _, err := s.Compact(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	ask("new")
	ask("old") // a step of its own by now
	if keys[0] != keys[1] || keys[1] != keys[2] || keys[3] == keys[0] || keys[3] == "" {
		t.Errorf("keys = %q", keys)
	}
}

// What the new key has already is not replaced, and a key that this attempt asks for is
// not taken away.
func TestAliasOfAKeyInUse(t *testing.T) {
	s := openStore(t)
	value := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	v, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "old", value(1)); err != nil {
			return 0, err
		}
		_, err := pawl.Step(ctx, "new", value(2), pawl.Alias("old"))
		wantErr(t, err, pawl.ErrDuplicateKey)
		if _, err := pawl.Step(ctx, "other", value(3)); err != nil {
			return 0, err
		}
		return 0, errors.New("once more")
	})
	if err == nil {
		t.Fatal(v)
	}
	v, err = run(t, s, func(ctx context.Context) (int, error) { return pawl.Step(ctx, "other", value(4), pawl.Alias("old")) })
	if v != 3 || err != nil {
		t.Errorf("other = %d, %v", v, err)
	}
}

func TestIgnoreInput(t *testing.T) {
	s := openStore(t)
	calls := 0
	start := func(in int, opts ...pawl.StepOption) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			if _, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { calls++; return in, nil }, append(opts, pawl.WithInput(in))...); err != nil {
				return 0, err
			}
			var mopts []pawl.MapOption
			for _, o := range opts {
				mopts = append(mopts, o)
			}
			_, err := pawl.Map(ctx, "m", []int{in}, func(int) string { return "x" }, func(context.Context, int) (int, error) { calls++; return in, nil }, mopts...)
			if err == nil {
				err = errors.New("once more")
			}
			return 0, err
		})
		return err
	}
	start(1) //nolint:errcheck // it fails on purpose
	wantErr(t, start(2), pawl.ErrInputChanged)
	if err := start(2, pawl.IgnoreInput()); err.Error() != "once more" || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
	// Items that cannot be fingerprinted at all.
	_, err := pawl.Do(t.Context(), s, "f", func(ctx context.Context) ([]int, error) {
		return pawl.Map(ctx, "m", []func() int{func() int { return 5 }}, func(func() int) string { return "x" },
			func(_ context.Context, f func() int) (int, error) { return f(), nil }, pawl.IgnoreInput())
	})
	if err != nil {
		t.Error(err)
	}
}

// An empty old key is a mistake, not the absence of one.
func TestAliasOfNothing(t *testing.T) {
	s := openStore(t)
	never := func(context.Context) (int, error) { t.Error("ran"); return 1, nil }
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		_, err := pawl.Step(ctx, "s", never, pawl.Alias(""))
		wantErr(t, err, pawl.ErrInvalid)
		if !strings.Contains(err.Error(), "the old key of an Alias must not be empty") {
			t.Error(err)
		}
		_, err = pawl.Map(ctx, "m", []int{1}, func(int) string { return "k" }, func(ctx context.Context, _ int) (int, error) { return never(ctx) }, pawl.Alias(""))
		wantErr(t, err, pawl.ErrInvalid)
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAliasBehindANestedKey(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (int, error) { return 1, nil }
	run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
		if _, err := pawl.Step(pawl.Scope(ctx, "old"), "x", one); err != nil {
			return 0, err
		}
		return 0, errors.New("once more")
	})
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(pawl.Scope(ctx, "old"), "x", one); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "new", one, pawl.Alias("old"))
	})
	wantErr(t, err, pawl.ErrDuplicateKey)
}

// An Alias that comes after the program ran under the new name adopts nothing, and says so.
func TestLateAliasIsSaid(t *testing.T) {
	var logged bytes.Buffer
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	ckNil(t, err)
	ask := func(fail bool, key string, opts ...pawl.StepOption) {
		logged.Reset()
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // once more
			pawl.Step(ctx, key, func(context.Context) (int, error) { //nolint:errcheck // it fails on purpose
				if fail {
					return 0, errors.New("failed")
				}
				return 1, nil
			}, opts...)
			return 0, errors.New("once more")
		})
	}
	const late = "an Alias came too late"
	ask(false, "old")
	ask(true, "new")
	for range 2 {
		ask(true, "new", pawl.Alias("old"))
		if text := logged.String(); !strings.Contains(text, late) || !strings.Contains(text, "step=new old=old") {
			t.Errorf("not said: %s", text)
		}
	}
	// In time it is none, nor when the old name has become that of another step.
	ask(true, "newer", pawl.Alias("old"))
	ask(false, "old")
	ask(false, "newer", pawl.Alias("old"))
	if strings.Contains(logged.String(), late) {
		t.Error(logged.String())
	}
}

// Of several Aliases the last one counts.
func TestTheLastAliasCounts(t *testing.T) {
	s := openStore(t)
	value := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return n, nil }
	}
	for i, start := range []func(ctx context.Context) (int, error){
		func(ctx context.Context) (int, error) { return pawl.Step(ctx, "first", value(1)) },
		func(ctx context.Context) (int, error) { return pawl.Step(ctx, "second", value(2)) },
		func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "third", value(3), pawl.Alias("first"), pawl.Alias("second"))
		},
	} {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // once more
			if v, err := start(ctx); v != min(i+1, 2) || err != nil {
				t.Errorf("start %d: %d, %v", i, v, err)
			}
			return 0, errors.New("once more")
		})
	}
}
