package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// A function that runs with IgnoreInput runs for the present input, and that is recorded.
func TestIgnoredInputIsRecorded(t *testing.T) {
	s := openStore(t)
	start := func(in int, fail bool, opts ...pawl.StepOption) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			fn := func(context.Context) (int, error) {
				if fail {
					return 0, errors.New("failed")
				}
				return in, nil
			}
			_, err := pawl.Step(ctx, "s", fn, append(opts, pawl.WithInput(in))...)
			mopts := []pawl.MapOption{}
			for _, o := range opts {
				mopts = append(mopts, o)
			}
			_, err2 := pawl.Map(ctx, "m", []item{{"a", in}}, func(i item) string { return i.ID }, func(ctx context.Context, _ item) (int, error) { return fn(ctx) }, mopts...)
			return 0, errors.Join(err, err2, errors.New("once more"))
		})
		return err
	}
	start(1, true) //nolint:errcheck // it fails on purpose
	if err := start(2, false, pawl.IgnoreInput()); err.Error() != "once more" {
		t.Fatal(err)
	}
	if err := start(2, false); err.Error() != "once more" {
		t.Errorf("the input that it ran for: %v", err)
	}
	err := start(3, false)
	wantErr(t, err, pawl.ErrInputChanged)
	if n := strings.Count(err.Error(), pawl.ErrInputChanged.Error()); n != 2 {
		t.Errorf("the step and the item were both to be refused: %v", err)
	}
}

type unstorable struct{}

func (unstorable) MarshalJSON() ([]byte, error) { panic("not to be stored") }

// Items that cannot be stored have no fingerprint with IgnoreInput, and need none.
func TestIgnoredInputNeedsNotBeStorable(t *testing.T) {
	s := openStore(t)
	for range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			if _, err := pawl.Map(ctx, "m", []func(){nil}, func(func()) string { return "a" }, func(context.Context, func()) (int, error) { return 1, nil }, pawl.IgnoreInput()); err != nil {
				return 0, err
			}
			if _, err := pawl.Map(ctx, "n", []unstorable{{}}, func(unstorable) string { return "a" }, func(context.Context, unstorable) (int, error) { return 1, nil }, pawl.IgnoreInput()); err != nil {
				return 0, err
			}
			if _, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, pawl.WithInput(func() {}), pawl.IgnoreInput()); err != nil {
				return 0, err
			}
			return 0, errors.New("once more")
		})
		if err.Error() != "once more" {
			t.Fatal(err)
		}
	}
}

// C-57: who goes on with another configuration on purpose says so, and that stands in the log and
// in the history.
func TestC57IgnoredInputLeavesATrace(t *testing.T) {
	var logged bytes.Buffer
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	ckNil(t, err)
	done := false
	start := func(model string, ropts []pawl.RunOption, opts ...pawl.StepOption) error {
		logged.Reset()
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			in := map[string]string{"model": model}
			if _, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, append(opts, pawl.WithInput(in))...); err != nil {
				return 0, err
			}
			mopts := []pawl.MapOption{pawl.WithInput(in)}
			for _, o := range opts {
				mopts = append(mopts, o)
			}
			if _, err := pawl.Map(ctx, "m", []string{"a", "b"}, func(s string) string { return s }, func(context.Context, string) (int, error) { return 1, nil }, mopts...); err != nil {
				return 0, err
			}
			if done {
				return 1, nil
			}
			return 0, errors.New("once more")
		}, append(ropts, pawl.RunInput(model))...)
		return err
	}
	ignore := pawl.IgnoreInput()
	records := func(want int) {
		t.Helper()
		if n := strings.Count(history(t, s), `"kind":"ignored"`); n != want {
			t.Errorf("%d records of it, want %d:\n%s", n, want, history(t, s))
		}
	}
	start("m1", nil) //nolint:errcheck // once more
	wantErr(t, start("m2", nil), pawl.ErrInputChanged)
	wantErr(t, start("m2", []pawl.RunOption{ignore}), pawl.ErrInputChanged) // the steps were not overridden
	records(1)
	for range 2 {
		if err := start("m2", []pawl.RunOption{ignore}, ignore); err.Error() != "once more" {
			t.Fatal(err)
		}
		for _, of := range []string{"run=r\n", "step=s\n", "step=m items=2\n"} {
			if !strings.Contains(logged.String(), `msg="an input that changed was ignored" run=r`) || !strings.Contains(logged.String(), of) {
				t.Errorf("the log says nothing of %s:\n%s", of, logged.String())
			}
		}
	}
	records(4) // of the run and the step once, of each call of the Map
	for _, want := range []string{`"kind":"ignored","at"`, `"kind":"ignored","key":"s"`, `"kind":"ignored","key":"m"`, `"items":2`} {
		if !strings.Contains(history(t, s), want) {
			t.Errorf("the history lacks %s", want)
		}
	}
	start("m1", nil) //nolint:errcheck // once more
	records(4)
	// A complete run is not written to.
	done = true
	ckNil(t, start("m1", nil))
	before := history(t, s)
	wantErr(t, start("m2", nil), pawl.ErrInputChanged)
	if err := start("m2", []pawl.RunOption{ignore}); err != nil || !strings.Contains(logged.String(), "was ignored") || history(t, s) != before {
		t.Errorf("%v, logged %s", err, logged.String())
	}
}
