package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

// TestEscapes: nothing of a note, a label, a reason or a name reaches a terminal as a
// command, whoever prints it.
func TestEscapes(t *testing.T) {
	const evil = "a\x1b[2J\u202e\u0085\x07\r\nb"
	store := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 { // the second one is stopped by what is in doubt
		ctx, cancel := context.WithCancel(t.Context())
		pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) { //nolint:errcheck // the run is looked at
			for _, key := range []string{evil, "2" + evil, "3"} {
				pawl.Step(pawl.Scope(ctx, key), evil, func(ctx context.Context) (int, error) { //nolint:errcheck // see above
					if key == "3" {
						cancel()
					}
					return 1, errors.Join(pawl.Note(ctx, map[string]string{evil: evil}), ctx.Err())
				}, pawl.AtMostOnce())
			}
			pawl.Await[wait.Approval](ctx, "ask"+evil, map[string]any{evil: evil, "x": []string{evil}}) //nolint:errcheck // see above
			pawl.Await[string](ctx, "text"+evil, evil)                                                  //nolint:errcheck // see above
			pawl.Step(ctx, "final"+evil, func(ctx context.Context) (int, error) {                       //nolint:errcheck // see above
				return 0, errors.Join(retry.Permanent(errors.New(evil)), meter.Add(ctx, "usd"+evil, 1))
			})
			return 0, errors.Join(errors.New(evil), pawl.SaveState(pawl.Scope(ctx, "st"+evil), evil))
		}, pawl.Label(evil, evil), pawl.RunKind(evil), meter.Budget("usd"+evil, 20))
		cancel()
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || len(steps) == 0 {
		t.Fatal(steps, err)
	}
	doubtful := slices.IndexFunc(steps, func(s runs.Step) bool { return s.Status == "running" })
	if doubtful < 0 {
		t.Fatal(steps)
	}
	exported := filepath.Join(t.TempDir(), "x"+"\x1b.jsonl")
	for _, tty := range []string{"", "300"} {
		t.Setenv("PAWL_FORCE_TTY", tty)
		for _, args := range [][]string{
			{"show", "r"},
			{"log", "r", "--values"},
			{"steps", "r"},
			{"ls", "--label", evil + "=" + evil},
			{"verify", "r"},
			{"steps", "r", "final" + evil},
			{"steps", "r", evil},
			{"cancel", "r", "--by", evil, "--reason", evil},
			{"show", "r"},
			{"ls"},
			{"reopen", "r", "--by", evil, "--reason", evil},
			{"retry", "r", "--by", evil, "--reason", evil},
			{"retry", "r", evil},
			{"waiting"},
			{"waiting", "r"},
			{"approve", "r"},
			{"approve", "r", evil},
			{"answer", "r", "text" + evil, `{"` + "\u202e" + `":1}`},
			{"approve", "r", "ask" + evil, "--by", evil + tty, "--reason", evil},
			{"reject", "r", "ask" + evil},
			{"answer", "r", evil, `"` + "\u202e" + `"`, "--by", evil},
			{"waiting"},
			{"show", "r"},
			{"log", "r", "-n", "4"},
			{"resolve", "r", steps[doubtful].Key, "--done", "1", "--by", evil, "--reason", evil},
			{"resolve", "r", evil, "--rerun"},
			{"log", "r", "-n", "1"},
			{"export", "r", "-o", exported},
			{"import", exported, "--id", "copy" + tty + evil},
			{"clear", "copy" + tty + evil},
		} {
			for _, form := range []string{"", "--json"} {
				if form != "" && (slices.Contains([]string{"resolve", "cancel", "reopen", "retry"}, args[0]) || args[0] == "import" || args[0] == "clear" || args[0] == "log" && tty == "") {
					continue // done by then; or byte for byte
				}
				args := append(args, "--store", store)
				if form != "" {
					args = append(args, form)
				}
				code, stdout, stderr := runIn(t, args...)
				for _, bad := range []string{"\x1b", "\u202e", "\u0085", "\x07", "\r"} {
					if strings.Contains(stdout, bad) || strings.Contains(stderr, bad) {
						t.Errorf("%q (exit code %d): %q in\n%q\n%q", args, code, bad, stdout, stderr)
					}
				}
				if code != 0 && !slices.Contains([]string{"resolve", "retry", "steps", "answer", "approve", "reject"}, args[0]) {
					t.Errorf("%q: exit code %d: %s", args, code, stderr)
				}
			}
		}
	}
}
