package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// interrupted begins the step "pay" and leaves it without an end, as a death inside it
// does: the run's context ends while its function runs.
func interrupted(t *testing.T, s *pawl.Store, opts ...pawl.StepOption) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "pay", func(context.Context) (int, error) {
			cancel()
			return 0, context.Canceled
		}, opts...)
	})
	wantErr(t, err, context.Canceled)
}

func TestAtMostOnceIsInDoubtUntilResolved(t *testing.T) {
	for _, tt := range []struct {
		name    string
		resolve func(s *pawl.Store) error
		want    int
		calls   int
	}{
		{"done", func(s *pawl.Store) error {
			return s.ResolveDone(t.Context(), "r", "pay", json.RawMessage("42"), "ann", "it is on the statement")
		}, 42, 0},
		{"rerun", func(s *pawl.Store) error { return s.ResolveRerun(t.Context(), "r", "pay", "ann", "no trace of it") }, 7, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openStore(t)
			interrupted(t, s, pawl.AtMostOnce())
			calls, tries := 0, 0
			pay := func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "pay", func(ctx context.Context) (int, error) {
					calls, tries = calls+1, pawl.Try(ctx)
					return 7, nil
				}, pawl.AtMostOnce())
			}
			for range 3 {
				_, err := run(t, s, pay)
				wantErr(t, err, pawl.ErrInDoubt)
				if !strings.Contains(err.Error(), "pawl resolve r pay") {
					t.Errorf("the message must say what to type: %v", err)
				}
			}
			if calls != 0 {
				t.Fatalf("called %d times", calls)
			}
			steps, err := s.Steps(t.Context(), "r")
			if err != nil || len(steps) != 1 || !steps[0].AtMostOnce || steps[0].Status != "running" {
				t.Fatalf("steps = %+v, %v", steps, err)
			}
			if err := tt.resolve(s); err != nil {
				t.Fatal(err)
			}
			if v, err := run(t, s, pay); v != tt.want || err != nil || calls != tt.calls || tries > 1 {
				t.Errorf("after it was resolved: %d, %v, %d calls, try %d", v, err, calls, tries)
			}
			err = tt.resolve(s)
			wantErr(t, err, pawl.ErrComplete)
		})
	}
}

// A step without AtMostOnce runs again, and knows it.
func TestStepInDoubtRunsAgain(t *testing.T) {
	s := openStore(t)
	interrupted(t, s)
	v, err := run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "pay", func(ctx context.Context) (int, error) { return pawl.Try(ctx), nil })
	})
	if v != 2 || err != nil {
		t.Errorf("try %d, %v", v, err)
	}
}

func TestAtMostOnceAfterAnError(t *testing.T) {
	s := openStore(t)
	boom, doubt := errors.New("refused"), errors.New("timeout")
	pay := func(fail error) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "pay", func(context.Context) (int, error) { return 0, fail }, pawl.AtMostOnce())
		})
		return err
	}
	wantErr(t, pay(boom), boom) // it did not happen
	wantErr(t, pay(boom), boom) // so it may be tried again
	err := pay(errors.Join(pawl.ErrInDoubt, doubt))
	wantErr(t, err, doubt)
	wantErr(t, pay(nil), pawl.ErrInDoubt) // nobody knows
}

// A result that cannot be stored does not undo what happened.
func TestAtMostOnceWithAResultThatCannotBeStored(t *testing.T) {
	s := openStore(t)
	calls := 0
	for range 2 {
		_, err := run(t, s, func(ctx context.Context) (any, error) {
			return pawl.Step(ctx, "pay", func(context.Context) (any, error) { calls++; return make(chan int), nil }, pawl.AtMostOnce())
		})
		if err == nil {
			t.Fatal("a channel was stored")
		}
	}
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}

func TestResolveRefuses(t *testing.T) {
	s := openStore(t)
	ctx := t.Context()
	wantErr(t, s.ResolveDone(ctx, "r", "pay", 1, "ann", ""), pawl.ErrNotFound)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		wantErr(t, s.ResolveRerun(ctx, "r", "pay", "ann", ""), pawl.ErrLocked)
		if _, err := pawl.Step(ctx, "ok", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "bad", func(context.Context) (int, error) { return 0, errors.New("boom") })
	})
	if err == nil {
		t.Fatal("no error")
	}
	wantErr(t, s.ResolveDone(ctx, "r", "absent", 1, "ann", ""), pawl.ErrNotFound)
	wantErr(t, s.ResolveDone(ctx, "r", "ok", 2, "ann", ""), pawl.ErrConflict)
	wantErr(t, s.ResolveDone(ctx, "r", "bad", 2, "ann", ""), pawl.ErrInvalid)
	wantErr(t, s.ResolveDone(ctx, "r", "bad", make(chan int), "ann", ""), pawl.ErrInvalid)
	if info := inspect(t, s); info.Done != 1 || info.Failed != 1 {
		t.Errorf("info = %+v", info)
	}
}
