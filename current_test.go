package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pawlgo/pawl"
)

// A step saves an intermediate value before its end and sees it on the next try.
func TestC66NoteIsThereForTheNextTry(t *testing.T) {
	s := openStore(t)
	jobs := 0
	submit := func(ctx context.Context) (string, error) {
		id, ok, err := pawl.LoadNote[string](ctx)
		if err != nil {
			return "", err
		}
		if !ok {
			jobs++
			id = fmt.Sprint("job-", jobs)
			if err := pawl.Note(ctx, "half of an ID"); err != nil {
				return "", err
			}
			if err := pawl.Note(ctx, id); err != nil {
				return "", err
			}
			return "", errors.New("died while waiting")
		}
		return id, nil
	}
	fn := func(ctx context.Context) (string, error) { return pawl.Step(ctx, "submit", submit) }
	if _, err := run(t, s, fn); err == nil {
		t.Fatal("no error")
	}
	if _, _, err := s.Compact(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if v, err := run(t, s, fn); v != "job-1" || err != nil || jobs != 1 {
		t.Errorf("second start = %q, %v, %d jobs", v, err, jobs)
	}
}

func TestNoteRefuses(t *testing.T) {
	s := openStore(t)
	wantErr(t, pawl.Note(t.Context(), 1), pawl.ErrNoRun)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		wantErr(t, pawl.Note(ctx, 1), pawl.ErrInvalid)
		_, _, err := pawl.LoadNote[int](ctx)
		wantErr(t, err, pawl.ErrInvalid)
		var leaked context.Context
		if _, err := pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
			leaked = ctx
			wantErr(t, pawl.Note(ctx, make(chan int)), pawl.ErrInvalid)
			if err := pawl.Note(pawl.Scope(ctx, "in"), "text"); err != nil {
				return 0, err
			}
			_, _, err := pawl.LoadNote[int](ctx)
			wantErr(t, err, pawl.ErrMismatch)
			return 1, nil
		}); err != nil {
			return 0, err
		}
		wantErr(t, pawl.Note(leaked, 2), pawl.ErrInvalid)
		return 1, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// C-61: one idempotency key over tries and starts, different ones for everything else.
func TestIdempotencyKey(t *testing.T) {
	s := openStore(t)
	if pawl.IdempotencyKey(t.Context()) != "" || pawl.Try(t.Context()) != 0 {
		t.Error("a key without a run")
	}
	seen := map[string][]string{}
	note := func(ctx context.Context, what string) (int, error) {
		seen[what] = append(seen[what], pawl.IdempotencyKey(ctx))
		return 0, errors.New("again")
	}
	input := 1
	fn := func(ctx context.Context) (int, error) {
		if k := pawl.IdempotencyKey(ctx); k != "" || pawl.Try(ctx) != 0 {
			t.Errorf("outside of a step: %q, try %d", k, pawl.Try(ctx))
		}
		for _, key := range []string{"a", "b"} {
			pawl.Step(ctx, key, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
				pawl.Step(ctx, "in", func(ctx context.Context) (int, error) { return note(ctx, key+"/in") }) //nolint:errcheck // likewise
				return note(pawl.Scope(ctx, "scope"), key)
			}, pawl.WithInput(input), pawl.RerunOnChange())
		}
		return 0, errors.New("once more")
	}
	for range 3 {
		run(t, s, fn) //nolint:errcheck // it fails on purpose
	}
	first := seen
	distinct := map[string]string{}
	check := func(name string) {
		for what, keys := range seen {
			for _, k := range keys {
				if k != keys[0] || len(k) != 32 {
					t.Errorf("%s %s: %q", name, what, keys)
				}
			}
			if other, known := distinct[keys[0]]; known {
				t.Errorf("%s %s has the key of %s", name, what, other)
			}
			distinct[keys[0]] = name + " " + what
		}
	}
	check("first")
	seen, input = map[string][]string{}, 2 // a new epoch, for what is inside too
	for range 2 {
		run(t, s, fn) //nolint:errcheck // it fails on purpose
	}
	check("second epoch")
	if _, err := s.Clear(t.Context(), "r"); err != nil { // another run with the same ID
		t.Fatal(err)
	}
	seen, input = map[string][]string{}, 1
	run(t, s, fn) //nolint:errcheck // it fails on purpose
	check("after clear")
	if len(first) != 4 || len(distinct) != 12 {
		t.Errorf("%d distinct keys", len(distinct))
	}
}

// A goroutine that outlives its try has the idempotency key of that try, whatever was begun anew
// since, and no note of another one.
func TestContextOfATryThatHasEnded(t *testing.T) {
	s := openStore(t)
	failed := errors.New("failed")
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		var old []context.Context
		var keys []string
		for input := range 4 {
			pawl.Step(ctx, "a", func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
				old, keys = append(old, ctx), append(keys, pawl.IdempotencyKey(ctx))
				return 0, errors.Join(pawl.Note(ctx, input), failed)
			}, pawl.WithInput(input/2), pawl.RerunOnChange())
		}
		if keys[0] != keys[1] || keys[1] == keys[2] || keys[2] != keys[3] {
			t.Errorf("keys %q", keys)
		}
		for i, ctx := range old {
			if late := pawl.IdempotencyKey(ctx); late != keys[i] {
				t.Errorf("try %d had the key %s and has %s", i, keys[i], late)
			}
			_, _, err := pawl.LoadNote[int](ctx)
			wantErr(t, err, pawl.ErrInvalid)
		}
		return 0, failed
	})
	wantErr(t, err, failed)
}
