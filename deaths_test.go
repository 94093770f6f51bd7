package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest/witness"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
)

func init() { children["poison"] = poisonProgram }

// poisonProgram runs one of the programs below in the store W_STORE and tells the witness of
// each call of a step's function.
func poisonProgram() error {
	store, err := pawl.Open(os.Getenv("W_STORE"))
	if err != nil {
		return err
	}
	w, err := witness.Open(os.Getenv("W_LOG"))
	if err != nil {
		return err
	}
	_, err = pawl.Do(context.Background(), store, "r", func(ctx context.Context) (string, error) {
		return poisonPrograms[os.Getenv("W_PROGRAM")](ctx, w)
	})
	return err
}

// killMyself ends the process as the OOM killer does.
func killMyself() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		p.Kill() //nolint:errcheck // we would know
	}
	select {}
}

var poisonPrograms = map[string]func(ctx context.Context, w *witness.Log) (string, error){
	// Three steps, of which the third ends its process.
	"third": func(ctx context.Context, w *witness.Log) (string, error) {
		for _, key := range []string{"1", "2", "3"} {
			_, err := pawl.Step(ctx, key, func(context.Context) (string, error) {
				if err := w.Effect(key); err != nil {
					return "", err
				}
				if key == "3" && os.Getenv("W_MENDED") == "" {
					os.Exit(137)
				}
				return key, nil
			}, retry.MaxCrashes(3))
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	},
	// A Map of 20 items, of which two end their process, while others take their time.
	"items": func(ctx context.Context, w *witness.Log) (string, error) {
		items := make([]string, 20)
		for i := range items {
			items[i] = fmt.Sprintf("i%02d", i)
		}
		_, err := pawl.Map(ctx, "m", items, func(s string) string { return s }, func(ctx context.Context, item string) (string, error) {
			// The work is in a step inside, which has no part in it: the item is what is watched.
			if err := w.Effect(item); err != nil {
				return "", err
			}
			if item == "i03" || item == "i11" {
				time.Sleep(5 * time.Millisecond)
				killMyself()
			}
			time.Sleep(20 * time.Millisecond)
			return item, nil
		}, retry.MaxCrashes(2), pawl.Parallel(4))
		return "done", err
	},
	// A step inside a step ends the process: it is the poison, not the one around it.
	"inner": func(ctx context.Context, w *witness.Log) (string, error) {
		return pawl.Step(ctx, "outer", func(ctx context.Context) (string, error) {
			if err := w.Effect("outer"); err != nil {
				return "", err
			}
			return pawl.Step(ctx, "inner", func(context.Context) (string, error) {
				if err := w.Effect("inner"); err != nil {
					return "", err
				}
				killMyself()
				return "", nil
			}, retry.MaxCrashes(2))
		}, retry.MaxCrashes(2))
	},
	// It dies only once, and fails once in between: that is not in a row.
	"broken row": func(ctx context.Context, w *witness.Log) (string, error) {
		attempt := pawl.Resumed(ctx).Attempt
		return pawl.Step(ctx, "s", func(context.Context) (string, error) {
			if err := w.Effect("s"); err != nil {
				return "", err
			}
			switch {
			case attempt%2 == 1 && attempt < 6:
				killMyself()
			case attempt < 6:
				return "", errors.New("it failed by itself")
			}
			return "done", nil
		}, retry.MaxCrashes(2))
	},
	// The death comes between steps.
	"between": func(ctx context.Context, w *witness.Log) (string, error) {
		if _, err := pawl.Step(ctx, "s", func(context.Context) (string, error) { return "", w.Effect("s") }, retry.MaxCrashes(1)); err != nil {
			return "", err
		}
		if pawl.Resumed(ctx).Attempt < 4 {
			killMyself()
		}
		return "done", nil
	},
}

// restart starts a program up to n times, until it ends by itself, and returns how often each
// step's function was called, and what the last start said.
func restart(t *testing.T, dir, program string, n int, env ...string) (calls map[string]int, starts int, said string) {
	t.Helper()
	log := filepath.Join(dir, "witness")
	for starts = 1; starts <= n; starts++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=poison", "W_STORE="+filepath.Join(dir, "store"), "W_LOG="+log, "W_PROGRAM="+program)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		said = string(out)
		var exit *exec.ExitError
		if err == nil || errors.As(err, &exit) && exit.ExitCode() == 1 && !strings.Contains(said, "by itself") {
			break
		}
	}
	text, err := os.ReadFile(log)
	ckNil(t, err)
	calls = map[string]int{}
	for line := range strings.Lines(string(text)) {
		if key, ok := strings.CutPrefix(strings.TrimSpace(line), "effect "); ok {
			key, err := strconv.Unquote(key)
			ckNil(t, err)
			calls[key]++
		}
	}
	return calls, starts, said
}

// TestC62Poison: a supervisor that restarts for ever meets a step that ends its process.
func TestC62Poison(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, starts, said := restart(t, dir, "third", 10)
	if calls["1"] != 1 || calls["2"] != 1 || calls["3"] != 3 || starts != 4 {
		t.Fatalf("calls %v in %d starts", calls, starts)
	}
	for _, part := range []string{"poison", `step "3"`, "3 processes in a row", "pawl retry r 3"} {
		if !strings.Contains(said, part) {
			t.Errorf("the error does not say %q: %s", part, said)
		}
	}
	for range 6 { // and goes on restarting
		if calls, _, again := restart(t, dir, "third", 1); calls["3"] != 3 || again != said {
			t.Fatalf("calls %v, and it says %s instead of %s", calls, again, said)
		}
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	steps, err := s.Steps(t.Context(), "r")
	ckNil(t, err)
	if st := steps[2]; !st.Poison || !st.Final || st.Deaths != 3 || st.Tries != 3 || mustInspect(t, s, "r").Status != runs.Failed {
		t.Errorf("%+v", st)
	}
	// The way out that the error names.
	_, err = s.Retry(t.Context(), "r", "3", "ann", "more memory")
	ckNil(t, err)
	if calls, _, said := restart(t, dir, "third", 1, "W_MENDED=1"); calls["3"] != 4 || calls["1"] != 1 || said != "" {
		t.Errorf("calls %v, and it says %s", calls, said)
	}
}

// TestC62PoisonItems: of several items under way at a death nobody can tell which one it was; so
// they run alone first, and all that are innocent get their result. 50 restarts at most.
func TestC62PoisonItems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, starts, said := restart(t, dir, "items", 50)
	if starts > 12 || !strings.Contains(said, "poison") {
		t.Fatalf("%d starts: %s", starts, said)
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	for range 3 { // each start ends with the first poison that it finds, behind all that can be done
		calls, _, _ = restart(t, dir, "items", 10)
	}
	steps, err := s.Steps(t.Context(), "r")
	ckNil(t, err)
	for _, st := range steps {
		bad := st.Key == "m/i03" || st.Key == "m/i11"
		if st.Poison != bad || bad && st.Deaths != 2 || !bad && st.Status != "done" {
			t.Errorf("%+v", st)
		}
	}
	// 2 deaths alone each, and at most 1 in company for each of the two.
	for _, item := range []string{"i03", "i11"} {
		if n := calls[item]; n < 2 || n > 4 {
			t.Errorf("%s was called %d times", item, n)
		}
	}
	for range 3 {
		if again, _, _ := restart(t, dir, "items", 1); again["i03"] != calls["i03"] || again["i11"] != calls["i11"] {
			t.Fatalf("poison is called again: %v, before %v", again, calls)
		}
	}
}

func TestDeathsOfSteps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		program string
		calls   string // of each step
		said    string
	}{
		{"inner", "inner:2 outer:3", `step "outer/inner"`},
		{"broken row", "s:6", ""},
		{"between", "s:1", ""},
	} {
		t.Run(tt.program, func(t *testing.T) {
			t.Parallel()
			calls, _, said := restart(t, t.TempDir(), tt.program, 10)
			var have []string
			for key, n := range calls {
				have = append(have, fmt.Sprint(key, ":", n))
			}
			slices.Sort(have)
			if got := strings.Join(have, " "); got != tt.calls || !strings.Contains(said, tt.said) || tt.said == "" && said != "" {
				t.Errorf("%s, and it says %q", got, said)
			}
		})
	}
}

// TestInterruptionIsNoCrash: runs that are asked to stop do not make their steps poison, not
// even if the process is ended before the steps are.
func TestInterruptionIsNoCrash(t *testing.T) {
	s := openStore(t)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
				cancel()
				<-ctx.Done()
				return 0, ctx.Err()
			}, retry.MaxCrashes(1))
		})
		wantErr(t, err, context.Canceled)
	}
	steps, err := s.Steps(t.Context(), "r")
	ckNil(t, err)
	if steps[0].Deaths != 0 || steps[0].Tries != 5 {
		t.Errorf("%+v", steps[0])
	}
}
