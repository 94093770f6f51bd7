package pawl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest/witness"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/wait"
)

func init() {
	// An item that is watched, with its work in a step inside that is not, or is too.
	for _, inner := range []string{"plain", "watched"} {
		poisonPrograms["work inside "+inner] = func(ctx context.Context, w *witness.Log) (string, error) {
			var opts []pawl.StepOption
			if inner == "watched" {
				opts = append(opts, atMost3)
			}
			_, err := pawl.Map(ctx, "convert", []string{"bad"}, sameName, func(ctx context.Context, item string) (string, error) {
				return pawl.Step(ctx, "parse", func(ctx context.Context) (string, error) {
					return pawl.Step(ctx, "read", func(context.Context) (string, error) {
						if err := w.Effect(item); err != nil {
							return "", err
						}
						killMyself()
						return "", nil
					})
				}, opts...)
			}, atMost3)
			return "", err
		}
	}
	// The process ends three times while the step sleeps.
	poisonPrograms["asleep"] = func(ctx context.Context, w *witness.Log) (string, error) {
		attempt := pawl.Resumed(ctx).Attempt
		return pawl.Step(ctx, "s", func(ctx context.Context) (string, error) {
			if err := w.Effect("s"); err != nil {
				return "", err
			}
			if attempt > 3 {
				return "done", nil
			}
			if attempt == 1 {
				go killWhen(func(kind, key string) bool { return kind == "start" && key == "s/nap" })
			} else {
				time.AfterFunc(100*time.Millisecond, killMyself) // there may be nothing to see of it
			}
			return "", wait.Sleep(ctx, "nap", time.Hour)
		}, retry.MaxCrashes(1))
	}
	// What must not happen twice.
	poisonPrograms["once"] = func(ctx context.Context, w *witness.Log) (string, error) {
		return pawl.Step(ctx, "pay", func(context.Context) (string, error) {
			if err := w.Effect("pay"); err != nil {
				return "", err
			}
			if os.Getenv("W_MENDED") == "" {
				killMyself()
			}
			return "paid", nil
		}, pawl.AtMostOnce(), retry.MaxCrashes(1), retry.Tries(3))
	}
}

// killWhen ends the process when run r in W_STORE has such a record.
func killWhen(is func(kind, key string) bool) {
	s, err := pawl.Open(os.Getenv("W_STORE"))
	if err != nil {
		return
	}
	for {
		for e, err := range s.History(context.Background(), "r") {
			if err == nil && is(e.Kind, e.Key) {
				killMyself()
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// TestPoisonWithTheWorkInside: whose processes are counted is the innermost step that asks for it,
// however deep inside it the work is.
func TestPoisonWithTheWorkInside(t *testing.T) {
	for inner, key := range map[string]string{"plain": "convert/bad", "watched": "convert/bad/parse"} {
		t.Run(inner, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			calls, starts, said := restart(t, dir, "work inside "+inner, 8)
			if calls["bad"] != 3 || starts != 4 || !strings.Contains(said, "3 processes in a row") {
				t.Errorf("calls %v in %d starts: %s", calls, starts, said)
			}
			checkPoison(t, dir, key)
			if again, _, _ := restart(t, dir, "work inside "+inner, 1); again["bad"] != 3 {
				t.Errorf("calls %v", again)
			}
		})
	}
}

// TestDeathInASleep: a step that sleeps inside has not ended its process.
func TestDeathInASleep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, starts, said := restart(t, dir, "asleep", 8)
	if calls["s"] != 4 || starts != 4 || said != "" {
		t.Errorf("calls %v in %d starts: %s", calls, starts, said)
	}
}

// TestDeathInDoubt: a step that must not happen twice is in doubt when its process dies, not
// poison, and neither a start nor a retry runs it again; only who says that it did not happen.
func TestDeathInDoubt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	for i := range 3 {
		calls, starts, said := restart(t, dir, "once", 3)
		if calls["pay"] != 1 || starts != 2-min(i, 1) || !strings.Contains(said, "in doubt") || strings.Contains(said, "poison") {
			t.Fatalf("calls %v in %d starts: %s", calls, starts, said)
		}
		_, err = s.Retry(t.Context(), "r", "pay", "ann", "")
		wantErr(t, err, pawl.ErrInDoubt)
		if keys, err := s.Retry(t.Context(), "r", "", "ann", ""); !errors.Is(err, pawl.ErrInvalid) {
			t.Fatalf("retried: %v, %v", keys, err)
		}
	}
	steps, err := s.Steps(t.Context(), "r")
	ckNil(t, err)
	if st := steps[0]; st.Status != "running" || st.Poison || st.Final {
		t.Errorf("%+v", st)
	}
	ckNil(t, s.ResolveRerun(t.Context(), "r", "pay", "ann", "the bank says no"))
	if calls, _, said := restart(t, dir, "once", 1, "W_MENDED=1"); calls["pay"] != 2 || said != "" {
		t.Errorf("calls %v: %s", calls, said)
	}
}
