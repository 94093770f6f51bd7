package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// Bugs that TestRandomPrograms found, each as the smallest program that has it.

// quickly fails a test whose function takes exponential time.
func quickly(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it takes for ever")
	}
}

// deep asks for a step in a step in a step, of which the innermost fails.
func deep(ctx context.Context, keys []string, opts ...pawl.StepOption) (int, error) {
	return pawl.Step(ctx, keys[0], func(ctx context.Context) (int, error) {
		if len(keys) > 1 {
			return deep(ctx, keys[1:], opts...)
		}
		return 0, errors.New("again")
	}, opts...)
}

// What is inside a key that is renamed, or begun anew, on each start was walked twice as
// often each time, at each level.
func TestRenamedAndRerunOverAndOver(t *testing.T) {
	s := openStore(t)
	quickly(t, func() {
		for start := range 40 {
			run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
				now, old := "a", "b"
				if start%2 == 0 {
					now, old = old, now
				}
				return deep(ctx, []string{now, "x", "y", "z", "last"}, pawl.Alias(old), pawl.WithInput(start/3), pawl.RerunOnChange())
			})
		}
	})
}

// The same in one attempt that tries a step again and again.
func TestRetriedOverAndOver(t *testing.T) {
	s := openStore(t)
	quickly(t, func() {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
			for range 300 {
				deep(ctx, []string{"a", "b", "c", "d", "last"}) //nolint:errcheck // it fails on purpose
			}
			return 0, errors.New("given up")
		})
	})
}

// A compaction forgot where the idempotency key of a renamed step came from, once it had
// been tried under its new name.
func TestCompactKeepsTheIdempotencyKeyOfARenamedStep(t *testing.T) {
	s := openStore(t)
	var keys []string
	ask := func(key string, input int, opts ...pawl.StepOption) {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
			return pawl.Step(ctx, key, func(ctx context.Context) (int, error) {
				if key == "new" {
					keys = append(keys, pawl.IdempotencyKey(ctx))
				}
				return 0, errors.New("again")
			}, append(opts, pawl.WithInput(input), pawl.RerunOnChange())...)
		})
		if _, _, err := s.Compact(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	}
	ask("old", 1)
	ask("old", 2) // a second epoch
	ask("new", 2, pawl.Alias("old"))
	ask("new", 2)
	ask("old", 1) // a step of its own, with an epoch
	ask("old", 2)
	ask("new", 2)
	ask("newer", 2, pawl.Alias("new"))
	if len(slices.Compact(keys)) != 1 {
		t.Errorf("idempotency keys %q", keys)
	}
}

// A Map without items was known to the next start and not to the one that asked for it.
func TestMapWithoutItemsIsKnown(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Map(ctx, "m", nil, func(int) string { return "" }, func(context.Context, int) (int, error) { return 0, nil }); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, pawl.Alias("m"))
	})
	wantErr(t, err, pawl.ErrDuplicateKey)
}

// Of notes written at once, this attempt and the next one saw different ones.
func TestNotesAtOnce(t *testing.T) {
	s := openStore(t)
	for range 20 {
		var live, later int
		ask := func(write bool, note *int) {
			run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it fails on purpose
				return pawl.Step(ctx, "s", func(ctx context.Context) (_ int, err error) {
					var wg sync.WaitGroup
					for i := range 16 {
						if !write {
							break
						}
						wg.Go(func() {
							if err := pawl.Note(ctx, i); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					*note, _, err = pawl.LoadNote[int](ctx)
					return 0, fmt.Errorf("again (%w)", errors.Join(err, errors.New("on purpose")))
				})
			})
		}
		ask(true, &live)
		if ask(false, &later); live != later {
			t.Fatalf("the newest note is %d, and %d to the next try", live, later)
		}
	}
}

// A key deep inside one that is to be renamed counts like one directly inside.
func TestAliasOfAKeyThatWasAskedDeepInside(t *testing.T) {
	s := openStore(t)
	value := func(context.Context) (int, error) { return 1, nil }
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(pawl.Scope(ctx, "old/scope"), "x", value); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "new", value, pawl.Alias("old"))
	})
	wantErr(t, err, pawl.ErrDuplicateKey)
}

// A panic behind a payment does not undo it.
func TestAtMostOnceThatPanics(t *testing.T) {
	s := openStore(t)
	calls := 0
	for range 3 {
		func() {
			defer func() { recover() }()                       //nolint:errcheck // on purpose
			run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
				return pawl.Step(ctx, "pay", func(context.Context) (int, error) { calls++; panic("after the payment") }, pawl.AtMostOnce())
			})
		}()
	}
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}
