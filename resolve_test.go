package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// order is a program that pays inside an outer step, and is stopped behind the payment.
type order struct {
	paid  int
	outer []string // idempotency keys of the outer step, by its calls
	inner []string // and of an ordinary step inside it that has no end
	tries []int
	notes []bool
	state []int
	stop  func()
}

func (o *order) run(ctx context.Context, opts ...pawl.StepOption) (int, error) {
	return pawl.Step(ctx, "order", func(ctx context.Context) (int, error) {
		o.outer, o.tries = append(o.outer, pawl.IdempotencyKey(ctx)), append(o.tries, pawl.Try(ctx))
		_, noted, err := pawl.LoadNote[string](ctx)
		if err != nil {
			return 0, err
		}
		n, _, err := pawl.LoadState[int](ctx)
		if err != nil {
			return 0, err
		}
		o.notes, o.state = append(o.notes, noted), append(o.state, n)
		if err := errors.Join(pawl.Note(ctx, "job-7"), pawl.SaveState(ctx, n+1)); err != nil {
			return 0, err
		}
		if _, err := pawl.Step(ctx, "pay", func(context.Context) (int, error) { o.paid++; return 7, nil }, pawl.AtMostOnce()); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "book", func(ctx context.Context) (int, error) {
			o.inner = append(o.inner, pawl.IdempotencyKey(ctx))
			if o.stop != nil {
				o.stop()
				return 0, context.Canceled
			}
			return 1, nil
		})
	}, opts...)
}

// began is a store in which run "r" was stopped in the order.
func began(t *testing.T, opts ...pawl.StepOption) (*pawl.Store, *order) {
	t.Helper()
	s, o := openStore(t), &order{}
	ctx, cancel := context.WithCancel(t.Context())
	o.stop = cancel
	_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) { return o.run(ctx, opts...) })
	wantErr(t, err, context.Canceled)
	o.stop = nil
	return s, o
}

// What is finished inside a step does not happen again when the step is to run again.
func TestRerunKeepsWhatIsFinishedInside(t *testing.T) {
	for _, compact := range []bool{false, true} {
		s, o := began(t, pawl.AtMostOnce())
		again := func() (int, error) {
			if compact {
				_, _, err := s.Compact(t.Context(), "r")
				ckNil(t, err)
			}
			return run(t, s, func(ctx context.Context) (int, error) { return o.run(ctx, pawl.AtMostOnce()) })
		}
		_, err := again()
		wantErr(t, err, pawl.ErrInDoubt)
		ckNil(t, s.ResolveRerun(t.Context(), "r", "order", "ann", "it was not finished"))
		if v, err := again(); v != 1 || err != nil || o.paid != 1 {
			t.Errorf("%d, %v, paid %d times", v, err, o.paid)
		}
		if len(o.outer) != 2 || o.outer[0] == o.outer[1] || o.tries[1] != 1 {
			t.Errorf("the step was to begin anew: keys %q, tries %v", o.outer, o.tries)
		}
		if len(o.inner) != 2 || o.inner[0] != o.inner[1] {
			t.Errorf("a step inside, under way still, got another idempotency key: %q", o.inner)
		}
		if o.notes[1] || o.state[1] != 1 {
			t.Errorf("the note of the older try is there (%v), or the state of the scope is not (%d)", o.notes[1], o.state[1])
		}
	}
}

// In a fork, and in an import under another ID, every step under way is in doubt, the one around a
// payment too. There is a way on, and it does not pay.
func TestForkAndImportDoNotPayAgain(t *testing.T) {
	for _, how := range []string{"fork", "import"} {
		t.Run(how, func(t *testing.T) {
			s, o := began(t)
			if how == "fork" {
				ckNil(t, s.Fork(t.Context(), "r", 0, "f"))
			} else {
				var export bytes.Buffer
				ckNil(t, s.Export(t.Context(), "r", &export))
				_, err := s.Import(t.Context(), &export, "f")
				ckNil(t, err)
			}
			for _, key := range []string{"order", "order/book"} {
				_, err := pawl.Do(t.Context(), s, "f", func(ctx context.Context) (int, error) { return o.run(ctx) })
				wantErr(t, err, pawl.ErrInDoubt)
				ckNil(t, s.ResolveRerun(t.Context(), "f", key, "ann", "it did not happen"))
			}
			v, err := pawl.Do(t.Context(), s, "f", func(ctx context.Context) (int, error) { return o.run(ctx) })
			if v != 1 || err != nil || o.paid != 1 {
				t.Errorf("%d, %v, paid %d times", v, err, o.paid)
			}
		})
	}
}

// Of two steps in doubt, one inside the other, each is resolved for itself, in any order.
func TestResolveAStepInsideAnother(t *testing.T) {
	for _, outerFirst := range []bool{true, false} {
		s := openStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		fn := func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "o", func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "i", func(context.Context) (int, error) {
					calls++
					cancel()
					return 0, context.Canceled
				}, pawl.AtMostOnce())
			}, pawl.AtMostOnce())
		}
		_, err := pawl.Do(ctx, s, "r", fn)
		wantErr(t, err, context.Canceled)
		outer := func() { ckNil(t, s.ResolveRerun(t.Context(), "r", "o", "ann", "")) }
		if outerFirst {
			outer()
			_, err := run(t, s, fn)
			wantErr(t, err, pawl.ErrInDoubt)
			if !strings.Contains(err.Error(), "pawl resolve r o/i") {
				t.Errorf("the message must name the step that is in doubt now: %v", err)
			}
		}
		ckNil(t, s.ResolveDone(t.Context(), "r", "o/i", 7, "ann", ""))
		outer() // if it was first: its function has said since then that it does not know
		if v, err := run(t, s, fn); v != 7 || err != nil || calls != 1 {
			t.Errorf("outer first %v: %d, %v, %d calls", outerFirst, v, err, calls)
		}
	}
}

// Who said wrongly what became of a step can put it right, until the run is complete.
func TestWrongResolutionIsCorrected(t *testing.T) {
	s := openStore(t)
	interrupted(t, s, pawl.AtMostOnce())
	called := 0
	pay := func(ctx context.Context) (int, error) {
		v, err := pawl.Step(ctx, "pay", func(context.Context) (int, error) { called++; return 9, nil }, pawl.AtMostOnce())
		if err == nil {
			err = fmt.Errorf("got %d", v)
		}
		return v, err
	}
	got := func(want string) {
		t.Helper()
		if _, err := run(t, s, pay); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ckNil(t, s.ResolveDone(t.Context(), "r", "pay", json.RawMessage(`"forty-two"`), "ann", "typo"))
	_, err := run(t, s, pay)
	wantErr(t, err, pawl.ErrMismatch)
	if !strings.Contains(err.Error(), "pawl resolve r pay") || strings.Contains(err.Error(), "another key") {
		t.Errorf("the message must say how to put it right: %v", err)
	}
	ckNil(t, s.ResolveDone(t.Context(), "r", "pay", 42, "ann", "a number"))
	got("got 42")
	_, _, err = s.Compact(t.Context(), "r")
	ckNil(t, err)
	ckNil(t, s.ResolveDone(t.Context(), "r", "pay", 43, "bob", "one more"))
	got("got 43")
	for _, reason := range []string{"a number", "one more"} {
		if h := history(t, s); !strings.Contains(h, reason) {
			t.Errorf("the history lacks %q:\n%s", reason, h)
		}
	}
	ckNil(t, s.ResolveRerun(t.Context(), "r", "pay", "bob", "it was another payment"))
	got("got 9")
	if called != 1 {
		t.Errorf("called %d times", called)
	}
	// What the function gave is not for anybody to correct.
	wantErr(t, s.ResolveDone(t.Context(), "r", "pay", 1, "ann", ""), pawl.ErrConflict)
	wantErr(t, s.ResolveRerun(t.Context(), "r", "pay", "ann", ""), pawl.ErrConflict)
}

// A result that does not fit is no reason to pay a second time.
func TestMismatchOfAStepThatMustNotRunTwice(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "pay", func(context.Context) (string, error) { return "receipt", nil }, pawl.AtMostOnce()); err != nil {
			t.Error(err)
		}
		// With the option dropped too: the record says what it is.
		return 0, errors.New("stop")
	})
	if err == nil {
		t.Fatal("no error")
	}
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "pay", func(context.Context) (int, error) { return 1, nil })
	})
	wantErr(t, err, pawl.ErrMismatch)
	if strings.Contains(err.Error(), "give the step another key") || !strings.Contains(err.Error(), "a second time") {
		t.Errorf("the hint tells to pay again: %v", err)
	}
}

// An answer to a question is not a resolution: it stands.
func TestAnswerIsNotResolved(t *testing.T) {
	s := openStore(t)
	ask := func(ctx context.Context) (int, error) {
		n, err := pawl.Await[int](ctx, "how many", "?")
		if err == nil {
			err = fmt.Errorf("got %d", n)
		}
		return n, err
	}
	_, err := run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	wantErr(t, s.ResolveDone(t.Context(), "r", "how many", 2, "ann", ""), pawl.ErrInvalid)
	ckNil(t, s.Answer(t.Context(), "r", "how many", 1, "ann", ""))
	for range 2 {
		if _, err := run(t, s, ask); err.Error() != "got 1" {
			t.Error(err)
		}
		wantErr(t, s.ResolveDone(t.Context(), "r", "how many", 2, "ann", ""), pawl.ErrConflict)
		wantErr(t, s.ResolveRerun(t.Context(), "r", "how many", "ann", ""), pawl.ErrConflict)
	}
}
