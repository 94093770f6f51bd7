package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// What was under way at a death is not put out of sight by another input: the payment may
// have been made with the old one.
func TestChangedInputOfWhatIsInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name        string
		once, inner bool
		opts        []pawl.StepOption
		want        error
	}{
		{"step", false, false, nil, pawl.ErrInputChanged},
		{"step, at most once", true, false, nil, pawl.ErrInDoubt},
		{"step, at most once, rerun", true, false, []pawl.StepOption{pawl.RerunOnChange()}, pawl.ErrInDoubt},
		{"inside", false, true, nil, pawl.ErrInputChanged},
		{"inside, at most once", true, true, nil, pawl.ErrInDoubt},
		{"inside, at most once, rerun", true, true, []pawl.StepOption{pawl.RerunOnChange()}, pawl.ErrInDoubt},
	} {
		for _, kind := range []string{"step", "map"} {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				s := openStore(t)
				calls, stop := 0, func() {}
				pay := func(context.Context) (int, error) { calls++; stop(); return 0, context.Canceled }
				var once []pawl.StepOption
				if tt.once {
					once = append(once, pawl.AtMostOnce())
				}
				start := func(input int) error {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stop = cancel
					_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
						fn, opts := pay, append([]pawl.StepOption{pawl.WithInput(input)}, tt.opts...)
						if tt.inner {
							fn = func(ctx context.Context) (int, error) { return pawl.Step(ctx, "pay", pay, once...) }
						} else {
							opts = append(opts, once...)
						}
						if kind == "step" {
							return pawl.Step(ctx, "charge", fn, opts...)
						}
						var mopts []pawl.MapOption
						for _, o := range opts {
							mopts = append(mopts, o)
						}
						_, err := pawl.Map(ctx, "charge", []int{input}, func(int) string { return "x" }, func(ctx context.Context, _ int) (int, error) { return fn(ctx) }, mopts...)
						return 0, err
					})
					return err
				}
				wantErr(t, start(1), context.Canceled)
				wantErr(t, start(2), tt.want)
				if calls != 1 {
					t.Errorf("%d calls", calls)
				}
			})
		}
	}
}

// A goroutine that outlives the try it belongs to can do nothing to the tries that come
// later, least of all to those of another epoch.
func TestContextOfAnEndedTry(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (string, error) { return "from input 1", nil }
	var old context.Context
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	start := func(input int, fn func(context.Context) (string, error)) (string, error) {
		return run(t, s, func(ctx context.Context) (string, error) {
			v, err := pawl.Step(ctx, "outer", fn, pawl.WithInput(input), pawl.RerunOnChange())
			if err != nil || input == 1 {
				return "", errors.Join(err, errors.New("once more"))
			}
			return v, nil
		})
	}
	_, err := run(t, s, func(ctx context.Context) (string, error) {
		_, err := pawl.Step(ctx, "outer", func(ctx context.Context) (string, error) {
			old = ctx
			if err := pawl.SaveState(ctx, "state of input 1"); err != nil {
				return "", err
			}
			go func() { // it is under way when the next epoch begins
				_, err := pawl.Step(ctx, "in", func(ctx context.Context) (string, error) {
					close(begun)
					<-goOn
					return one(ctx)
				})
				ended <- err
			}()
			<-begun
			return "", errors.New("failed")
		}, pawl.WithInput(1), pawl.RerunOnChange())
		if err == nil {
			return "", errors.New("no error")
		}
		_, err = pawl.Step(ctx, "outer", func(ctx context.Context) (string, error) {
			_, err := pawl.Step(old, "late", one)
			wantErr(t, err, pawl.ErrInvalid)
			_, err = pawl.Map(old, "late map", []int{1}, func(int) string { return "x" }, func(context.Context, int) (int, error) { return 1, nil })
			wantErr(t, err, pawl.ErrInvalid)
			wantErr(t, pawl.SaveState(old, "late"), pawl.ErrInvalid)
			_, _, err = pawl.LoadState[string](old)
			wantErr(t, err, pawl.ErrInvalid)
			wantErr(t, pawl.Note(old, "late"), pawl.ErrInvalid)
			close(goOn)
			wantErr(t, <-ended, pawl.ErrInvalid)
			if v, found, err := pawl.LoadState[string](ctx); found || err != nil {
				t.Errorf("state %q, %v", v, err)
			}
			return "", errors.New("failed")
		}, pawl.WithInput(2), pawl.RerunOnChange())
		return "", errors.Join(err, errors.New("once more"))
	})
	if err == nil {
		t.Fatal("no error")
	}
	v, err := start(2, func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "in", func(context.Context) (string, error) { return "from input 2", nil })
	})
	if v != "from input 2" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// C-51, C-53: a state that the program could not make sense of is not replaced by it.
func TestStateThatWasRefusedIsNotOverwritten(t *testing.T) {
	s := openStore(t)
	again := errors.New("once more")
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		return 0, errors.Join(pawl.SaveState(ctx, "a text", pawl.Migrate(2, func(b []byte) ([]byte, error) { return b, nil })), again)
	})
	if err.Error() != again.Error() {
		t.Fatal(err)
	}
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		_, _, err := pawl.LoadState[string](ctx)
		wantErr(t, err, pawl.ErrNewerFormat)
		wantErr(t, pawl.SaveState(ctx, "another"), pawl.ErrStateNotLoaded)
		_, _, err = pawl.LoadState[int](ctx, pawl.Migrate(2, func(b []byte) ([]byte, error) { return b, nil }))
		wantErr(t, err, pawl.ErrMismatch)
		wantErr(t, pawl.SaveState(ctx, 1), pawl.ErrStateNotLoaded)
		return 0, again
	})
	if err.Error() != again.Error() {
		t.Fatal(err)
	}
}

// Fail does not cut off a step whose result is on its way.
func TestFailWithStepsUnderWay(t *testing.T) {
	s := openStore(t)
	r := begin(t, s)
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := pawl.Step(r.Context(t.Context()), "s", func(context.Context) (int, error) { close(begun); <-goOn; return 1, nil })
		ended <- err
	}()
	<-begun
	wantErr(t, r.Fail(errors.New("boom")), pawl.ErrInvalid)
	close(goOn)
	if err := errors.Join(<-ended, r.Fail(errors.New("boom")), r.Close()); err != nil {
		t.Fatal(err)
	}
	if info := inspect(t, s); info.Done != 1 || info.Error != "boom" {
		t.Errorf("info = %+v", info)
	}
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics for a nil pointer

type panicky struct{ N int }

func (panicky) MarshalJSON() ([]byte, error)  { panic("no JSON today") }
func (*panicky) UnmarshalJSON(b []byte) error { return nil }

// Whatever panics when it should be recorded, the run is let go.
func TestErrorsAndValuesThatPanic(t *testing.T) {
	s := openStore(t)
	for name, fn := range map[string]func(ctx context.Context) (int, error){
		"error of fn": func(context.Context) (int, error) { var e *nilError; return 0, e },
		"error of a step": func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { var e *nilError; return 0, e })
		},
		"value of a step": func(ctx context.Context) (int, error) {
			_, err := pawl.Step(ctx, "v", func(context.Context) (panicky, error) { return panicky{}, nil })
			return 0, err
		},
	} {
		func() {
			defer func() { recover() }()     //nolint:errcheck // it may panic, and must let go
			pawl.Do(t.Context(), s, "r", fn) //nolint:errcheck // likewise
		}()
		if owner, err := s.Owner("r"); owner != nil || err != nil {
			t.Fatalf("%s: the run is still open: %v, %v", name, owner, err)
		}
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || len(steps) != 2 {
		t.Fatal(steps, err)
	}
	for _, st := range steps {
		if st.Status != "failed" {
			t.Errorf("step %+v", st)
		}
	}
}

// A redacted text that does not fit its place is refused before anything is recorded.
func TestRedactedValueThatDoesNotFit(t *testing.T) {
	dir := t.TempDir()
	hide := pawl.Redact(func(s string) string { return strings.ReplaceAll(s, "A", "[A]") })
	s, err := pawl.Open(filepath.Join(dir, "store"), hide)
	if err != nil {
		t.Fatal(err)
	}
	bytes := []byte{0, 0, 0} // AAAA in base64
	_, err = pawl.Do(t.Context(), s, "r", func(ctx context.Context) ([]byte, error) {
		_, err := pawl.Step(ctx, "s", func(context.Context) ([]byte, error) { return bytes, nil })
		wantErr(t, err, pawl.ErrInvalid)
		wantErr(t, pawl.SaveState(ctx, bytes), pawl.ErrInvalid)
		return bytes, nil
	})
	wantErr(t, err, pawl.ErrInvalid)
	ck, err := pawl.OpenFile[[]byte](filepath.Join(dir, "ck.json"), hide)
	if err != nil {
		t.Fatal(err)
	}
	defer ck.Close()
	wantErr(t, ck.Save(bytes), pawl.ErrInvalid)
	if got := ck.State(); got != nil {
		t.Errorf("state %v", got)
	}
	if info := mustInspect(t, s, "r"); info.Done != 0 || info.Failed != 1 {
		t.Errorf("info = %+v", info)
	}
	// A time that is redacted into another time is one.
	later := pawl.Redact(func(s string) string { return strings.ReplaceAll(s, "2026", "1970") })
	s2, err := pawl.Open(filepath.Join(dir, "store2"), later)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pawl.Do(t.Context(), s2, "r", func(context.Context) (time.Time, error) { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), nil })
	if err != nil || v.Year() != 1970 {
		t.Errorf("%v, %v", v, err)
	}
}

// C-68: a secret across the place where a text is cut.
func TestRedactBeforeCutting(t *testing.T) {
	dir := t.TempDir()
	s, err := pawl.Open(dir, pawl.Redact(func(s string) string { return strings.ReplaceAll(s, secret, "***") }))
	if err != nil {
		t.Fatal(err)
	}
	long := func(before int) string { return strings.Repeat("x", before) + secret }
	for _, cut := range []int{1000, 4096} {
		for i := range len(secret) {
			func() {
				defer func() { recover() }()                                                              //nolint:errcheck // the panic is the point
				pawl.Do(t.Context(), s, fmt.Sprint("p", cut, i), func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
					return pawl.Step(ctx, "s", func(context.Context) (int, error) { panic(long(cut - i)) })
				})
			}()
		}
	}
	interrupted(t, s, pawl.AtMostOnce())
	if err := s.ResolveDone(t.Context(), "r", "pay", json.RawMessage("1"), long(4090), long(4090)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(text), secret[:4]) {
			t.Errorf("a part of the secret is in %s (%v)", filepath.Base(f), err)
		}
	}
}

func TestResultOnlyAsked(t *testing.T) {
	s := openStore(t)
	r := begin(t, s)
	if done, err := r.Result(nil); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	if err := errors.Join(r.Complete(1), r.Close()); err != nil {
		t.Fatal(err)
	}
	if done, err := r.Result(nil); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
}
