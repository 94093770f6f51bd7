package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
)

type plan struct {
	Next  int      `json:"next"`
	Notes []string `json:"notes"`
}

func TestStateOfARun(t *testing.T) {
	s := openStore(t)
	for start := range 12 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			st, found, err := pawl.LoadState[plan](ctx)
			if err != nil || found != (start > 0) || st.Next != 3*start || len(st.Notes) != 3*start {
				return 0, fmt.Errorf("start %d: %+v, %v, %w", start, st, found, err)
			}
			for range 3 {
				st.Notes = append(st.Notes, strings.Repeat("note ", 50))
				st.Next++
				if err := pawl.SaveState(ctx, st); err != nil {
					return 0, err
				}
				if again, _, err := pawl.LoadState[plan](ctx); err != nil || again.Next != st.Next {
					return 0, fmt.Errorf("read back %+v, %w", again, err)
				}
			}
			return 0, errors.New("once more")
		})
		if err == nil || err.Error() != "once more" {
			t.Fatal(err)
		}
		if start%4 == 1 {
			if _, _, err := s.Compact(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := os.ReadFile(inspect(t, s).Path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"patch":`)); n < 5 {
		t.Errorf("%d patches in the journal", n)
	}
}

// Each scope, step and item has a state of its own, and a new epoch starts without one.
func TestStateOfAScope(t *testing.T) {
	s := openStore(t)
	input := 1
	count := func(ctx context.Context) (int, error) {
		n, _, err := pawl.LoadState[int](ctx)
		if err != nil {
			return 0, err
		}
		return n + 1, pawl.SaveState(ctx, n+1)
	}
	got := map[string]int{}
	var mu sync.Mutex
	fn := func(ctx context.Context) (int, error) {
		note := func(ctx context.Context, name string) error {
			n, err := count(ctx)
			mu.Lock()
			defer mu.Unlock()
			got[name] = n
			return err
		}
		if err := errors.Join(note(ctx, "run"), note(pawl.Scope(ctx, "a"), "a"), note(pawl.Scope(ctx, "a/b"), "a/b")); err != nil {
			return 0, err
		}
		pawl.Step(ctx, "s", func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
			return 0, errors.Join(note(ctx, "s"), errors.New("again"))
		}, pawl.WithInput(input), pawl.RerunOnChange())
		pawl.Map(ctx, "m", []string{"x", "y"}, func(s string) string { return s }, func(ctx context.Context, item string) (int, error) { //nolint:errcheck // likewise
			return 0, errors.Join(note(ctx, item), errors.New("again"))
		}, pawl.Parallel(1))
		return 0, errors.New("once more")
	}
	for range 4 {
		run(t, s, fn) //nolint:errcheck // it fails on purpose
	}
	// The first failure stops a Map, and the next start begins with what was never tried.
	for name, want := range map[string]int{"run": 4, "a": 4, "a/b": 4, "s": 4, "x": 3, "y": 1} {
		if got[name] != want {
			t.Errorf("state of %s = %d, want %d", name, got[name], want)
		}
	}
	input = 2
	run(t, s, fn) //nolint:errcheck // it fails on purpose
	if got["s"] != 1 || got["run"] != 5 {
		t.Errorf("after a new epoch: %v", got)
	}
}

func TestStateNotLoaded(t *testing.T) {
	s := openStore(t)
	save := func(load bool) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			if load {
				if _, _, err := pawl.LoadState[int](ctx); err != nil {
					return 0, err
				}
			}
			if err := errors.Join(pawl.SaveState(ctx, 1), pawl.SaveState(ctx, 2)); err != nil {
				return 0, err
			}
			return 0, errors.New("saved")
		})
		return err
	}
	if err := save(false); err.Error() != "saved" { // nothing to go back from
		t.Fatal(err)
	}
	wantErr(t, save(false), pawl.ErrStateNotLoaded)
	if err := save(true); err.Error() != "saved" {
		t.Fatal(err)
	}
}

func TestStateRefuses(t *testing.T) {
	s := openStore(t)
	_, _, err := pawl.LoadState[int](t.Context())
	wantErr(t, err, pawl.ErrNoRun)
	wantErr(t, pawl.SaveState(t.Context(), 1), pawl.ErrNoRun)
	var leaked context.Context
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		leaked = ctx
		wantErr(t, pawl.SaveState(ctx, func() {}), pawl.ErrInvalid)
		wantErr(t, pawl.SaveState(ctx, map[string]any{"f": func() {}}), pawl.ErrInvalid)
		wantErr(t, pawl.SaveState(pawl.Scope(ctx, ""), 1), pawl.ErrInvalid)
		if err := pawl.SaveState(ctx, map[string]any{"next": "seven"}); err != nil {
			return 0, err
		}
		_, _, err := pawl.LoadState[plan](ctx)
		wantErr(t, err, pawl.ErrMismatch)
		if !strings.Contains(err.Error(), "$.next") {
			t.Errorf("the message should name the place: %v", err)
		}
		return 1, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, pawl.SaveState(leaked, 1), pawl.ErrComplete)
	_, _, err = pawl.LoadState[int](leaked)
	wantErr(t, err, pawl.ErrComplete)
}

func TestStateMigrates(t *testing.T) {
	s := openStore(t)
	type v2 struct {
		Cursor int `json:"cursor"`
	}
	rename := func(text []byte) ([]byte, error) {
		return bytes.Replace(text, []byte(`"next"`), []byte(`"cursor"`), 1), nil
	}
	opts := []pawl.StateOption{pawl.Migrate(0, func(b []byte) ([]byte, error) { return b, nil }), pawl.Migrate(1, rename), pawl.UnversionedAs(0)}
	again := errors.New("once more")
	steps := []func(ctx context.Context) error{
		func(ctx context.Context) error { return pawl.SaveState(ctx, map[string]int{"next": 3}) },
		func(ctx context.Context) error {
			st, found, err := pawl.LoadState[v2](ctx, opts...)
			if err != nil || !found || st.Cursor != 3 {
				return fmt.Errorf("%+v, %w", st, err)
			}
			return pawl.SaveState(ctx, v2{4})
		},
		func(ctx context.Context) error {
			_, _, err := pawl.LoadState[v2](ctx)
			wantErr(t, err, pawl.ErrNewerFormat) // this program has no migrations
			st, _, err := pawl.LoadState[v2](ctx, opts...)
			if err != nil || st.Cursor != 4 {
				return fmt.Errorf("%+v, %w", st, err)
			}
			_, _, err = pawl.LoadState[v2](ctx, pawl.Migrate(-1, nil))
			wantErr(t, err, pawl.ErrInvalid)
			return nil
		},
	}
	for i, step := range steps {
		_, err := run(t, s, func(ctx context.Context) (int, error) { return 0, errors.Join(step(ctx), again) })
		if err.Error() != again.Error() {
			t.Fatalf("start %d: %v", i, err)
		}
	}
}
