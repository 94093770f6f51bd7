package pawl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/wait"
)

// reserved are the sentinels of calls that are not built yet.
var reserved = map[string]error{
	"ErrPruned": pawl.ErrPruned,
}

// produced makes every other sentinel happen through the public API.
var produced = map[string]struct {
	is  error
	how func(t *testing.T, s *pawl.Store) error
}{
	"ErrNotFound": {pawl.ErrNotFound, func(t *testing.T, s *pawl.Store) error {
		_, err := s.Inspect(t.Context(), "absent")
		return err
	}},
	"ErrLocked": {pawl.ErrLocked, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		defer r.Close()
		_, err := s.Begin(t.Context(), "r")
		return err
	}},
	"ErrLeaseLost": {pawl.ErrLeaseLost, func(t *testing.T, _ *pawl.Store) error {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		ck, err := pawl.OpenState[int](path)
		if err != nil {
			t.Fatal(err)
		}
		defer ck.Close()
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		return ck.Save(1)
	}},
	"ErrConflict": {pawl.ErrConflict, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		_, err := pawl.Step(r.Context(t.Context()), "s", func(context.Context) (int, error) { return 1, nil })
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		return s.ResolveDone(t.Context(), "r", "s", 2, "ann", "")
	}},
	"ErrCorrupt": {pawl.ErrCorrupt, func(t *testing.T, s *pawl.Store) error {
		spoil(t, s, []byte("not a journal\n"))
		_, err := s.Begin(t.Context(), "r")
		return err
	}},
	"ErrReplaced": {pawl.ErrReplaced, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		defer r.Close()
		if err := os.Remove(inspect(t, s).Path); err != nil {
			t.Fatal(err)
		}
		_, err := pawl.Step(r.Context(t.Context()), "s", func(context.Context) (int, error) { return 1, nil })
		return err
	}},
	"ErrNewerFormat": {pawl.ErrNewerFormat, func(t *testing.T, s *pawl.Store) error {
		spoil(t, s, newerJournal())
		_, err := s.Begin(t.Context(), "r")
		return err
	}},
	"ErrMismatch": {pawl.ErrMismatch, func(t *testing.T, s *pawl.Store) error {
		if _, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Fatal(err)
		}
		_, err := run(t, s, func(context.Context) (string, error) { return "", nil })
		return err
	}},
	"ErrComplete": {pawl.ErrComplete, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		if err := errors.Join(r.Complete(1), r.Close()); err != nil {
			t.Fatal(err)
		}
		return r.Complete(2)
	}},
	"ErrDuplicateKey": {pawl.ErrDuplicateKey, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		defer r.Close()
		_, err := pawl.Map(r.Context(t.Context()), "m", []int{1, 1}, func(int) string { return "k" }, func(context.Context, int) (int, error) { return 1, nil })
		return err
	}},
	"ErrInputChanged": {pawl.ErrInputChanged, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s, pawl.RunInput(1))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Begin(t.Context(), "r", pawl.RunInput(2))
		return err
	}},
	"ErrStateNotLoaded": {pawl.ErrStateNotLoaded, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s)
		if err := errors.Join(pawl.SaveState(r.Context(t.Context()), 1), r.Close()); err != nil {
			t.Fatal(err)
		}
		r = begin(t, s)
		defer r.Close()
		return pawl.SaveState(r.Context(t.Context()), 2)
	}},
	"ErrInDoubt": {pawl.ErrInDoubt, func(t *testing.T, s *pawl.Store) error {
		interrupted(t, s, pawl.AtMostOnce())
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "pay", func(context.Context) (int, error) { return 1, nil }, pawl.AtMostOnce())
		})
		return err
	}},
	"ErrNoRun": {pawl.ErrNoRun, func(t *testing.T, _ *pawl.Store) error {
		return pawl.Note(t.Context(), 1)
	}},
	"ErrInvalid": {pawl.ErrInvalid, func(t *testing.T, s *pawl.Store) error {
		_, err := s.Begin(t.Context(), "")
		return err
	}},
	"ErrClosed": {pawl.ErrClosed, func(t *testing.T, s *pawl.Store) error {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Begin(t.Context(), "r")
		return err
	}},
	"ErrCancelled": {pawl.ErrCancelled, func(t *testing.T, s *pawl.Store) error {
		if err := errors.Join(begin(t, s).Close(), s.Cancel(t.Context(), "r", "ann", "")); err != nil {
			t.Fatal(err)
		}
		_, err := s.Begin(t.Context(), "r")
		return err
	}},
	"ErrWaiting": {pawl.ErrWaiting, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s, wait.Yield(0))
		defer r.Close()
		return wait.Sleep(r.Context(t.Context()), "nap", time.Hour)
	}},
	"ErrBudget": {pawl.ErrBudget, func(t *testing.T, s *pawl.Store) error {
		r := begin(t, s, meter.Budget("usd", 0))
		defer r.Close()
		_, err := pawl.Step(r.Context(t.Context()), "s", func(context.Context) (int, error) { return 1, nil })
		return err
	}},
	"ErrPoison": {pawl.ErrPoison, func(t *testing.T, _ *pawl.Store) error {
		dir := t.TempDir()
		restart(t, dir, "third", 3)
		s, err := pawl.Open(filepath.Join(dir, "store"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(t, s, func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "3", func(context.Context) (int, error) { return 1, nil }, retry.MaxCrashes(3))
		})
		return err
	}},
}

func begin(t *testing.T, s *pawl.Store, opts ...pawl.RunOption) *pawl.Run {
	t.Helper()
	r, err := s.Begin(t.Context(), "r", opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spoil puts something else in the place of the run's journal.
func spoil(t *testing.T, s *pawl.Store, text []byte) {
	t.Helper()
	if err := begin(t, s).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inspect(t, s).Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// paragraphs are those of docs/errors.md, by the anchor of their heading.
func paragraphs(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	byAnchor := map[string]string{}
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		byAnchor[strings.ReplaceAll(strings.ToLower(heading), " ", "-")] = body
	}
	return byAnchor
}

// Every sentinel has a paragraph, can be met, and its message leads to that paragraph.
func TestEverySentinel(t *testing.T) {
	docs := paragraphs(t)
	link := regexp.MustCompile(`\(docs/errors\.md#([a-z-]+)\)$`)
	for name, p := range produced {
		t.Run(name, func(t *testing.T) {
			err := p.how(t, openStore(t))
			wantErr(t, err, p.is)
			m := link.FindStringSubmatch(err.Error())
			if m == nil || m[1] != strings.ToLower(name) || strings.Count(err.Error(), "docs/errors.md") != 1 {
				t.Errorf("the message leads nowhere: %v", err)
			}
			if body := docs[strings.ToLower(name)]; !strings.HasPrefix(strings.TrimSpace(body), "*"+p.is.Error()+".*") {
				t.Errorf("docs/errors.md: the paragraph of %s does not begin with %q", name, p.is)
			}
		})
	}
	for name, err := range reserved {
		if body := docs[strings.ToLower(name)]; !strings.Contains(body, "*"+err.Error()+".* Reserved.") {
			t.Errorf("docs/errors.md: %s is not marked as reserved", name)
		}
	}
	// The golden list of exports has them all.
	text, err := os.ReadFile("testdata/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, isErr := strings.CutPrefix(strings.TrimSpace(line), "var Err")
		name = "Err" + name
		if _, made := produced[name]; isErr && !made && reserved[name] == nil {
			t.Errorf("%s never happens", name)
		}
	}
}

func TestOtherErrorsLeadToAParagraph(t *testing.T) {
	docs := paragraphs(t)
	s := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Begin(ctx, "r")
	if docs["interrupted"] == "" || !strings.Contains(err.Error(), "#interrupted)") {
		t.Errorf("cancelled: %v", err)
	}
	_, err = pawl.Open(filepath.Join(t.TempDir(), strings.Repeat("x", 300)))
	if docs["errors-of-the-operating-system"] == "" || err == nil || !strings.Contains(err.Error(), "#errors-of-the-operating-system)") {
		t.Errorf("of the system: %v", err)
	}
}
