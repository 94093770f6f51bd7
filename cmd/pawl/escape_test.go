package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
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
					return 1, pawl.Note(ctx, map[string]string{evil: evil})
				}, pawl.AtMostOnce())
			}
			return 0, pawl.SaveState(pawl.Scope(ctx, "st"+evil), evil)
		}, pawl.Label(evil, evil), pawl.RunKind(evil))
		cancel()
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || len(steps) == 0 {
		t.Fatal(steps, err)
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
			{"resolve", "r", steps[len(steps)-1].Key, "--done", "1", "--by", evil, "--reason", evil},
			{"resolve", "r", evil, "--rerun"},
			{"log", "r", "-n", "1"},
			{"export", "r", "-o", exported},
			{"import", exported, "--id", "copy" + tty + evil},
			{"clear", "copy" + tty + evil},
		} {
			for _, form := range []string{"", "--json"} {
				if form != "" && (args[0] == "resolve" || args[0] == "import" || args[0] == "clear" || args[0] == "log" && tty == "") {
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
				if code != 0 && args[0] != "resolve" {
					t.Errorf("%q: exit code %d: %s", args, code, stderr)
				}
			}
		}
	}
}
