package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal/repair"
	"github.com/pawlgo/pawl/runs"
)

// C-09: one run of forty is 0 bytes long. The others are listed, and the error has the
// path, the size, what is wrong, and what to type next.
func TestC09OneOfFortyRuns(t *testing.T) {
	dir := filepath.Join(fastDir(t), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	for i := range 40 {
		_, err := pawl.Do(t.Context(), s, fmt.Sprint("run-", i), func(ctx context.Context) (int, error) { return i, nil })
		ckNil(t, err)
	}
	bad := mustInspect(t, s, "run-17").Path
	ckNil(t, os.Truncate(bad, 0))
	good := map[string]bool{}
	damaged := 0
	for info, err := range s.Runs(t.Context()) {
		ckNil(t, err)
		if info.Err == nil {
			good[info.ID] = info.Status == runs.Complete
			continue
		}
		damaged++
		if info.ID != "run-17" || info.Path != bad || info.Size != 0 {
			t.Errorf("damaged: %+v", info)
		}
		if text := fmt.Sprint(info.Err); !errors.Is(info.Err, pawl.ErrCorrupt) || !strings.Contains(text, bad) || !strings.Contains(text, ": corrupt at byte 0") || !strings.Contains(text, "it is empty") {
			t.Errorf("it is listed with %v", info.Err)
		}
	}
	if len(good) != 39 || good["run-17"] || damaged != 1 {
		t.Errorf("%d good runs and %d damaged ones are listed", len(good), damaged)
	}
	for range 2 {
		_, err := pawl.Do(t.Context(), s, "run-17", func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
		wantSays(t, err, pawl.ErrCorrupt, `run "run-17"`, " "+bad+" seq 1: corrupt at byte 0", "it is empty", "nothing was changed", "pawl repair --dry-run "+bad)
	}
	if fi, err := os.Stat(bad); err != nil || fi.Size() != 0 {
		t.Errorf("the file is %v, %v", fi, err)
	}
	n := 0
	for id, err := range s.IDs(t.Context(), "") {
		if ckNil(t, err); id != "" {
			n++
		}
	}
	if n != 40 {
		t.Errorf("%d IDs", n)
	}
}

// C-10: a record of a kind that this version does not know, in the midst of a run in
// progress. It hides nothing, the run goes on past it, and it stays, also through a
// compaction, an export and a fork.
func TestC10UnknownKind(t *testing.T) {
	s := openStore(t)
	calls := map[string]int{}
	work := func(last string) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			n, _, err := pawl.LoadState[int](ctx)
			if err != nil {
				return 0, err
			}
			for _, key := range []string{"1", "2", "3", "4", "5", last} {
				v, err := pawl.Step(ctx, key, func(context.Context) (string, error) { calls[key]++; return "result of " + key, nil })
				if err != nil || v != "result of "+key {
					return 0, fmt.Errorf("%s: %q, %w", key, v, err)
				}
			}
			return 0, errors.Join(pawl.SaveState(ctx, n+1), errors.New("once more"))
		})
		return err
	}
	if err := work("5'"); err.Error() != "once more" {
		t.Fatal(err)
	}
	path := inspect(t, s).Path
	// The result of step 3, and a member that a record of any kind could have.
	n := recordWith(t, path, `"kind":"step","key":"3"`)
	rewriteJournal(t, path, n, `"kind":"step","key":"3"`, `"kind":"dream","key":"3","about":{"sheep":[1,2.50]}`)
	const about = `"kind":"dream","key":"3","about":{"sheep":[1,2.50]}`
	body := func(where string, s *pawl.Store, id string) string {
		t.Helper()
		var seen strings.Builder
		for e, err := range s.History(t.Context(), id) {
			ckNil(t, err)
			if e.Kind == "dream" {
				seen.WriteString(string(e.JSON))
			}
		}
		if strings.Count(seen.String(), about) != 1 || !strings.Contains(seen.String(), `"value":"result of 3"`) {
			t.Errorf("%s: the unknown record is %s", where, seen.String())
		}
		return seen.String()
	}
	first := body("at first", s, "r")
	for info, err := range s.Runs(t.Context()) {
		if err != nil || info.Err != nil || info.ID != "r" || info.Done != 5 || info.Running != 1 {
			t.Errorf("listed as %+v, %v", info, err)
		}
	}
	want := maps.Clone(calls)
	for i, between := range []func(){
		func() {},
		func() { _, _, err := s.Compact(t.Context(), "r"); ckNil(t, err) },
		func() { _, _, err := s.Compact(t.Context(), "r"); ckNil(t, err) },
	} {
		between()
		key := fmt.Sprint("6.", i)
		if err := work(key); err.Error() != "once more" {
			t.Fatal(err)
		}
		want[key]++
		if i == 0 {
			want["3"]++ // what that record said nobody can tell: as far as is known, it has no end
			if again := body("behind a save", s, "r"); again != first {
				t.Errorf("it was\n%s\nand is\n%s", first, again)
			}
		}
		body("again", s, "r")
		if fmt.Sprint(calls) != fmt.Sprint(want) {
			t.Errorf("start %d: calls %v, want %v", i, calls, want)
		}
	}
	body("exported", imported(t, s), "r")
	ckNil(t, s.Fork(t.Context(), "r", 0, "fork"))
	body("forked", s, "fork")
	if rep, err := repair.Journal(path, repair.Options{DryRun: true}); err != nil || rep.Needed {
		t.Errorf("repair: %+v, %v", rep, err)
	}
}

// C-13: nobody chooses between two members of one name, wherever they come from.
func TestC13DuplicateMembers(t *testing.T) {
	const twice = `{"cursor":3,"cursor":9}`
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	for text, place := range map[string]string{
		`{"state":` + twice + `,"status":"in_progress","saved_at":1.5}`:         "$.state.cursor: duplicate member",
		`{"state":{"a":[0,` + twice + `]},"status":"in_progress","saved_at":1}`: "$.state.a[1].cursor: duplicate member",
		`{"result":` + twice + `,"status":"complete","saved_at":1}`:             "$.result.cursor: duplicate member",
		`{"state":{"cursor":3},"state":{"cursor":9},"status":"in_progress"}`:    "$.state: duplicate member",
	} {
		_, err := s.Import(t.Context(), strings.NewReader(text), "r")
		wantSays(t, err, pawl.ErrCorrupt, place, "nothing was created")
	}
	nothingIn(t, dir)

	// Given as raw JSON.
	raw := json.RawMessage(`{"a":` + twice + `}`)
	_, err = run(t, s, func(ctx context.Context) (json.RawMessage, error) {
		_, err := pawl.Step(ctx, "s", func(context.Context) (json.RawMessage, error) { return raw, nil })
		wantSays(t, err, pawl.ErrInvalid, "$.a.cursor", "duplicate member")
		_, _, err = pawl.LoadState[json.RawMessage](ctx)
		ckNil(t, err)
		wantSays(t, pawl.SaveState(ctx, raw), pawl.ErrInvalid, "$.a.cursor")
		return raw, nil
	})
	wantSays(t, err, pawl.ErrInvalid, "$.a.cursor")
	ckNil(t, s.Delete(t.Context(), "r"))
	interrupted(t, s, pawl.AtMostOnce())
	wantSays(t, s.ResolveDone(t.Context(), "r", "pay", raw, "ann", "so it stands there"), pawl.ErrInvalid, "$.a.cursor")

	// Edited into a journal by somebody who mended the checksums.
	ckNil(t, s.Delete(t.Context(), "r"))
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		_, err := pawl.Step(ctx, "s", func(context.Context) (map[string]int, error) { return map[string]int{"cursor": 3}, nil })
		_, _, loadErr := pawl.LoadState[map[string]int](ctx)
		return 0, errors.Join(err, loadErr, pawl.SaveState(ctx, map[string]int{"cursor": 3}), errors.New("once more"))
	})
	if err.Error() != "once more" {
		t.Fatal(err)
	}
	path := inspect(t, s).Path
	rewriteJournal(t, path, recordWith(t, path, `"kind":"step"`), `{"cursor":3}`, twice)
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		v, err := pawl.Step(ctx, "s", func(context.Context) (map[string]int, error) { t.Error("ran"); return nil, nil })
		if err == nil {
			t.Errorf("one of the two was used: %v", v)
		}
		return 0, err
	})
	if err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("the place is not named: %v", err)
	}
}

// C-53: a journal of a newer format is refused, with both numbers, by all that would change
// it and all that would read it, and not a byte of it changes.
func TestC53NewerRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	interrupted(t, s, pawl.AtMostOnce())
	newer := rewritten(t, string(export(t, s)), 1, `"format":1`, `"format":99,"more":{"x":[1]}`)
	path := inspect(t, s).Path
	rewriteJournal(t, path, 1, `"format":1`, `"format":99,"more":{"x":[1]}`)
	journal := ckRead(t, path)
	before := tree(t, dir)
	ctx := t.Context()
	calls := map[string]func() error{
		"start": func() error { _, err := s.Begin(ctx, "r"); return err },
		"do": func() error {
			_, err := run(t, s, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
			return err
		},
		"resume":   func() error { _, err := s.Begin(ctx, "r", pawl.MustExist(), pawl.AllowUnknown()); return err },
		"inspect":  func() error { _, err := s.Inspect(ctx, "r"); return err },
		"steps":    func() error { _, err := s.Steps(ctx, "r"); return err },
		"tries":    func() error { _, err := s.Tries(ctx, "r", "pay"); return err },
		"by path":  func() error { _, err := pawl.InspectFile(path); return err },
		"compact":  func() error { _, _, err := s.Compact(ctx, "r"); return err },
		"fork":     func() error { return s.Fork(ctx, "r", 0, "f") },
		"fork at":  func() error { return s.Fork(ctx, "r", 2, "f") },
		"done":     func() error { return s.ResolveDone(ctx, "r", "pay", 1, "ann", "it did") },
		"rerun":    func() error { return s.ResolveRerun(ctx, "r", "pay", "ann", "it did not") },
		"retry":    func() error { _, err := s.Retry(ctx, "r", "pay", "ann", "again"); return err },
		"cancel":   func() error { return s.Cancel(ctx, "r", "ann", "stop") },
		"clear":    func() error { _, err := s.Clear(ctx, "r"); return err },
		"delete":   func() error { return s.Delete(ctx, "r") },
		"reopen":   func() error { return s.Reopen(ctx, "r", "ann", "go on") },
		"export":   func() error { return s.Export(ctx, "r", &bytes.Buffer{}) },
		"import":   func() error { _, err := s.Import(ctx, strings.NewReader(newer), "new"); return err },
		"in place": func() error { _, err := s.Import(ctx, strings.NewReader(newer), ""); return err },
		"journal":  func() error { _, err := s.ImportJournal(ctx, strings.NewReader(journal), "new"); return err },
		"repair":   func() error { _, err := repair.Journal(path, repair.Options{}); return err },
		"dry run":  func() error { _, err := repair.Journal(path, repair.Options{DryRun: true}); return err },
		"history": func() error {
			for e, err := range s.History(ctx, "r") {
				if err != nil {
					return err
				}
				t.Errorf("a record: %s", e.JSON)
			}
			return nil
		},
		"list": func() error {
			for info, err := range s.Runs(ctx) {
				if err != nil || info.ID != "r" || info.Err == nil {
					t.Errorf("listed as %+v, %v", info, err)
				}
				return info.Err
			}
			return nil
		},
		"a file": func() error {
			_, err := s.Import(ctx, strings.NewReader(`{"state":1,"status":"in_progress","saved_at":1,"pawl":99}`), "new")
			return err
		},
	}
	for range 2 {
		for name, call := range calls {
			err := call()
			if !errors.Is(err, pawl.ErrNewerFormat) || !strings.Contains(err.Error(), "format 99, this program reads up to 1") {
				t.Errorf("%s: %v", name, err)
			}
			if after := tree(t, dir); !maps.Equal(after, before) {
				t.Fatalf("%s changed the store:\n%v\n%v", name, before, after)
			}
		}
	}
}

// C-53: what a newer program wrote is not cleared or deleted, also if it is only kept aside; what
// is damaged, at its beginning too, is.
func TestC53ClearAndDelete(t *testing.T) {
	clear := func(s *pawl.Store) error { _, err := s.Clear(t.Context(), "r"); return err }
	del := func(s *pawl.Store) error { return s.Delete(t.Context(), "r") }
	newer := func(path string) { rewriteJournal(t, path, 1, `"format":1`, `"format":99`) }
	damage := func(offset int) func(string) {
		return func(path string) { ckNil(t, overwrite(path, func(b []byte) { b[offset] ^= 1 })) }
	}
	for _, c := range []struct {
		name    string
		prepare func(path string)
		aside   func(path string) // done to what an earlier Clear kept
		refused map[string]bool
	}{
		{name: "newer", prepare: newer, refused: map[string]bool{"clear": true, "delete": true}},
		{name: "newer and damaged", prepare: func(path string) { newer(path); damage(len(ckRead(t, path)) - 20)(path) }, refused: map[string]bool{"clear": true, "delete": true}},
		{name: "newer, aside", aside: newer, refused: map[string]bool{"delete": true}},
		{name: "damaged", prepare: damage(300)},
		{name: "its beginning damaged", prepare: damage(2), aside: damage(2)},
		{name: "empty", prepare: func(path string) { ckNil(t, os.Truncate(path, 0)) }},
	} {
		for name, do := range map[string]func(s *pawl.Store) error{"clear": clear, "delete": del} {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := pawl.Open(dir)
			ckNil(t, err)
			interrupted(t, s)
			path := inspect(t, s).Path
			if c.aside != nil {
				kept, err := s.Clear(t.Context(), "r")
				ckNil(t, err)
				c.aside(kept)
				interrupted(t, s)
			}
			if c.prepare != nil {
				c.prepare(path)
			}
			before := tree(t, dir)
			err = do(s)
			if !c.refused[name] {
				if _, statErr := os.Stat(path); err != nil || statErr == nil {
					t.Errorf("%s, %s: %v, and the file: %v", c.name, name, err, statErr)
				}
				continue
			}
			wantSays(t, err, pawl.ErrNewerFormat, "format 99, this program reads up to 1", "nothing was changed")
			if after := tree(t, dir); !maps.Equal(after, before) {
				t.Errorf("%s, %s: changed:\n%v\n%v", c.name, name, before, after)
			}
		}
	}
}

// A refusal has the file that it is about as a field, and names it once.
func TestErrorsNameTheFileOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	interrupted(t, s)
	path := inspect(t, s).Path
	good := string(export(t, s))
	begin := func() error { _, err := s.Begin(t.Context(), "r"); return err }
	del := func() error { return s.Delete(t.Context(), "r") }
	list := func() error { _, err := s.Inspect(t.Context(), "r"); return err }
	check := func(what, file string, err error) {
		t.Helper()
		e, ok := errors.AsType[*pawl.RunError](err)
		if !ok || e.Path != file {
			t.Errorf("%s: Path is not %s: %+v", what, file, e)
			return
		}
		bare := *e // the hint names it again, in what to type
		bare.Hint = ""
		if text := bare.Error(); strings.Count(text, file) != 1 || strings.Contains(text, ": :") {
			t.Errorf("%s: %s", what, text)
		}
	}
	rewriteJournal(t, path, 1, `"format":1`, `"format":99`)
	check("newer", path, begin())
	check("newer, inspected", path, list())
	check("newer, deleted", path, del())
	_, err = s.Import(t.Context(), strings.NewReader(rewritten(t, good, 1, `"format":1`, `"format":99`)), "x")
	if err == nil || !strings.Contains(err.Error(), `import run "x": journal format 99`) {
		t.Errorf("import of a newer one: %v", err)
	}
	ckNil(t, os.Truncate(path, 0))
	check("damaged", path, begin())
	check("damaged, inspected", path, list())
	_, err = pawl.InspectFile(path)
	check("damaged, by path", path, err)
	// A file that is not the journal.
	ckNil(t, os.Rename(filepath.Join(dir, "runs"), filepath.Join(dir, "moved")))
	err = begin()
	check("the runs are gone", filepath.Join(dir, "runs"), err)
	if strings.Contains(err.Error(), "pawl repair") {
		t.Errorf("a directory cannot be repaired: %v", err)
	}
}
