package pawl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func TestRunKind(t *testing.T) {
	s := openStore(t)
	fn := func(context.Context) (int, error) { return 1, nil }
	for _, kind := range []string{"caf\xe9", "a\x00b", strings.Repeat("k", 257)} {
		_, err := run(t, s, fn, pawl.RunKind(kind))
		wantErr(t, err, pawl.ErrInvalid)
	}
	if _, err := s.Inspect(t.Context(), "r"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a run was made: %v", err)
	}
	for i, kind := range []string{"", strings.Repeat("k", 256)} {
		id := string(rune('a' + i))
		if _, err := pawl.Do(t.Context(), s, id, fn, pawl.RunKind(kind)); err != nil {
			t.Fatal(err)
		}
		if info := mustInspect(t, s, id); info.Kind != kind {
			t.Errorf("kind %q", info.Kind)
		}
	}
}

func TestRunKindIsRedacted(t *testing.T) {
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Redact(func(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, func(context.Context) (int, error) { return 1, nil }, pawl.RunKind("for "+secret)); err != nil {
		t.Fatal(err)
	}
	info := inspect(t, s)
	if text, err := os.ReadFile(info.Path); err != nil || info.Kind != "for [hidden]" || strings.Contains(string(text), secret) {
		t.Errorf("kind %q, %v", info.Kind, err)
	}
}

func TestTheLastLabelCounts(t *testing.T) {
	s := openStore(t)
	if _, err := run(t, s, func(context.Context) (int, error) { return 1, nil }, pawl.Label("team", "blue"), pawl.Label("team", "red")); err != nil {
		t.Fatal(err)
	}
	if info := inspect(t, s); info.Labels["team"] != "red" || len(info.Labels) != 1 {
		t.Errorf("labels %v", info.Labels)
	}
}

// Only two inputs can differ: where one of them is missing nothing is compared, and nothing
// is recorded later.
func TestInputOnOneSideOnly(t *testing.T) {
	s := openStore(t)
	stop := errors.New("stop")
	start := func(run []pawl.RunOption, step ...pawl.StepOption) error {
		_, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) (int, error) {
			for _, key := range []string{"with", "without"} {
				opts := step
				if key == "without" && len(step) > 0 {
					opts = nil
				} else if key == "without" {
					opts = []pawl.StepOption{pawl.WithInput(2)}
				}
				if _, err := pawl.Step(ctx, key, func(context.Context) (int, error) { return 1, nil }, opts...); err != nil {
					return 0, err
				}
			}
			return 0, stop
		}, run...)
		return err
	}
	wantErr(t, start(nil, pawl.WithInput(1)), stop) // the other way round from now on
	records := inspect(t, s).Done
	wantErr(t, start([]pawl.RunOption{pawl.RunInput(1)}), stop)
	wantErr(t, start([]pawl.RunOption{pawl.RunInput(2)}), stop)
	if info := inspect(t, s); info.Done != records || info.Input != nil {
		t.Errorf("done %d, input %s", info.Done, info.Input)
	}
	err := start(nil, pawl.WithInput(3))
	wantErr(t, err, pawl.ErrInputChanged)
}

// A value completes the run, also when its context is done by then.
func TestAValueCompletesAnInterruptedRun(t *testing.T) {
	s := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	v, err := pawl.Do(ctx, s, "r", func(context.Context) (int, error) { cancel(); return 7, nil })
	if v != 7 || err != nil || inspect(t, s).Status != runs.Complete {
		t.Errorf("%d, %v, %v", v, err, inspect(t, s).Status)
	}
}

// Errors that stop the run do not say whether the step happened.
func TestStopOfAStepThatMustNotRunTwice(t *testing.T) {
	for _, stop := range []error{pawl.ErrWaiting, pawl.ErrCancelled, pawl.ErrLeaseLost} {
		s := openStore(t)
		pay := func(err error) func(context.Context) (int, error) {
			return func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "pay", func(context.Context) (int, error) { return 1, err }, pawl.AtMostOnce())
			}
		}
		_, err := run(t, s, pay(stop))
		wantErr(t, err, stop)
		_, err = run(t, s, pay(nil))
		wantErr(t, err, pawl.ErrInDoubt)
	}
}

func TestCompactOfACompleteRun(t *testing.T) {
	s := openStore(t)
	r := begin(t, s)
	if err := r.Complete(1); err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.Compact(), pawl.ErrComplete)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Compact(t.Context(), "r"); err != nil {
		t.Error(err)
	}
}
