package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// C-27: an ID that looks like a path is one wherever a run gets its name: as the target of a
// fork, as the name of an import, in an export, in what is compacted, cleared, deleted. No
// file appears outside of the store, nor beside its runs.
func TestC27HostileTargets(t *testing.T) {
	parent := fastDir(t)
	dir := filepath.Join(parent, "a", "store")
	ckNil(t, os.Mkdir(filepath.Dir(dir), 0o700))
	s, err := pawl.Open(dir)
	ckNil(t, err)
	value := func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "v", func(context.Context) (string, error) { return "of r", nil })
	}
	_, err = run(t, s, value)
	ckNil(t, err)
	outside := func(what string) {
		t.Helper()
		for name := range tree(t, parent) {
			if name != "./" && name != "a/" && name != "a/store/" && name != "a/store/runs/" && path.Dir(name) != "a/store/runs" && name != "a/store/store.json" && name != "a/store/store.lock" {
				t.Fatalf("%s: there is %s", what, name)
			}
		}
	}
	outside("at first")
	for _, id := range []string{"../../outside", "/etc/x", "..", ".", `..\x`, `C:\x`, "a/../../b", "CON", "r/../r", "runs/r.jsonl", "r.jsonl", "r.lock", "store.json", "r "} {
		what := fmt.Sprintf("%q", id)
		ckNil(t, s.Fork(t.Context(), "r", 0, id))
		outside(what + " forked")
		var b bytes.Buffer
		ckNil(t, s.Export(t.Context(), id, &b))
		aside, err := s.Clear(t.Context(), id)
		ckNil(t, err)
		if filepath.Dir(aside) != filepath.Join(dir, "runs") {
			t.Errorf("%s was put aside as %s", what, aside)
		}
		for _, name := range []string{"", id} { // its own name, which stands in the export; and given
			got, err := s.Import(t.Context(), bytes.NewReader(b.Bytes()), name)
			if got != id || err != nil {
				t.Fatalf("%s imported: %q, %v", what, got, err)
			}
			outside(what + " imported")
			if v, err := pawl.Do(t.Context(), s, id, func(context.Context) (string, error) { return "another", nil }); v != "of r" || err != nil {
				t.Errorf("%s has the result %q, %v", what, v, err)
			}
			_, _, err = s.Compact(t.Context(), id)
			ckNil(t, errors.Join(err, s.Delete(t.Context(), id)))
			outside(what + " deleted")
		}
	}
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("a", 513)} {
		before := tree(t, parent)
		wantErr(t, s.Fork(t.Context(), "r", 0, id), pawl.ErrInvalid)
		wantErr(t, s.Export(t.Context(), id, &bytes.Buffer{}), pawl.ErrInvalid)
		_, err := s.Clear(t.Context(), id)
		wantErr(t, err, pawl.ErrInvalid)
		if id != "" { // which means: the one that stands in it
			_, err = s.Import(t.Context(), bytes.NewReader(export(t, s)), id)
			wantErr(t, err, pawl.ErrInvalid)
		}
		if !maps.Equal(tree(t, parent), before) {
			t.Errorf("%q changed the store", id)
		}
	}
	// An ID in a file that somebody made by hand is checked like one that is given.
	journal := ckRead(t, inspect(t, s).Path)
	for _, id := range []string{"", `a\u0000b`, strings.Repeat("a", 513)} {
		before := tree(t, parent)
		_, err := s.Import(t.Context(), strings.NewReader(rewritten(t, string(export(t, s)), 1, `"id":"r"`, `"id":"`+id+`"`)), "")
		wantSays(t, err, pawl.ErrInvalid, "the run's ID", "nothing was created")
		_, err = s.ImportJournal(t.Context(), strings.NewReader(rewritten(t, journal, 1, `"id":"r"`, `"id":"`+id+`"`)), "")
		wantSays(t, err, pawl.ErrInvalid, "the run's ID", "nothing was created")
		if !maps.Equal(tree(t, parent), before) {
			t.Errorf("%q in a file changed the store", id)
		}
	}
	got, err := s.ImportJournal(t.Context(), strings.NewReader(rewritten(t, journal, 1, `"id":"r"`, `"id":"../../outside"`)), "")
	if got != "../../outside" || err != nil {
		t.Errorf("imported %q, %v", got, err)
	}
	outside("an ID in a file")
	if v, err := run(t, s, value); v != "of r" || err != nil {
		t.Errorf("r has the result %q, %v", v, err)
	}
}

// C-67: a mistyped name of a run starts nothing, makes nothing, and is named.
func TestC67UnknownRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	_, err = pawl.Do(t.Context(), s, "run-1", func(context.Context) (int, error) { return 0, errors.New("once more") })
	if err == nil {
		t.Fatal("no error")
	}
	before := tree(t, dir)
	resume, err := pawl.Open(dir, pawl.MustExist())
	ckNil(t, err)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"do": func() error {
			_, err := pawl.Do(ctx, resume, "run-typo", func(context.Context) (int, error) { t.Error("ran"); return 0, nil }, pawl.MustExist())
			return err
		},
		"begin":   func() error { _, err := resume.Begin(ctx, "run-typo", pawl.MustExist()); return err },
		"inspect": func() error { _, err := s.Inspect(ctx, "run-typo"); return err },
		"steps":   func() error { _, err := s.Steps(ctx, "run-typo"); return err },
		"fork":    func() error { return s.Fork(ctx, "run-typo", 0, "new") },
		"export":  func() error { return s.Export(ctx, "run-typo", &bytes.Buffer{}) },
		"compact": func() error { _, _, err := s.Compact(ctx, "run-typo"); return err },
		"clear":   func() error { _, err := s.Clear(ctx, "run-typo"); return err },
		"delete":  func() error { return s.Delete(ctx, "run-typo") },
		"done":    func() error { return s.ResolveDone(ctx, "run-typo", "s", 1, "ann", "it did") },
		"rerun":   func() error { return s.ResolveRerun(ctx, "run-typo", "s", "ann", "it did not") },
		"retry":   func() error { _, err := s.Retry(ctx, "run-typo", "s", "ann", "again"); return err },
		"cancel":  func() error { return s.Cancel(ctx, "run-typo", "ann", "stop") },
		"reopen":  func() error { return s.Reopen(ctx, "run-typo", "ann", "go on") },
		"history": func() error {
			for _, err := range s.History(ctx, "run-typo") {
				return err
			}
			return nil
		},
	} {
		err := call()
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantSays(t, err, pawl.ErrNotFound, `run "run-typo"`)
		if e, _ := errors.AsType[*pawl.RunError](err); e == nil || e.RunID != "run-typo" {
			t.Errorf("%s: the error is %#v", name, e)
		}
		if after := tree(t, dir); !maps.Equal(after, before) {
			t.Fatalf("%s made something:\n%v\n%v", name, before, after)
		}
	}
}
