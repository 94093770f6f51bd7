package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/runs"
)

// A journal that was copied by other means ends anywhere: what is imported then is the
// run as it was at some moment, or nothing.
func TestImportJournalCutAnywhere(t *testing.T) {
	s := openStore(t)
	values := []string{"one", "two", "three"}
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for _, v := range values {
			if _, err := pawl.Step(ctx, v, func(context.Context) (string, error) { return "value of " + v, nil }); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(inspect(t, s).Path)
	if err != nil {
		t.Fatal(err)
	}
	refuseImport(t, openStore(t), bytes.NewReader(whole), "", pawl.ErrCorrupt)
	counts := map[int]int{}
	to := pawltest.NewStore(t) // in memory: a thousand imports
	for cut := range len(whole) + 1 {
		_, err := to.ImportJournal(t.Context(), bytes.NewReader(whole[:cut]), "")
		if err != nil {
			wantErr(t, err, pawl.ErrCorrupt)
			counts[-1]++
			continue
		}
		done := inspect(t, to).Done
		counts[done]++
		steps, err := to.Steps(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		for i, st := range steps {
			if st.Key != values[i] || (st.Status == "done") != (i < done) {
				t.Fatalf("cut at %d: %+v", cut, steps)
			}
		}
		if err := to.Delete(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("steps imported by how many cuts: %v", counts)
	for done := range 4 {
		if counts[done] == 0 {
			t.Errorf("no cut left %d steps", done)
		}
	}
}

// A journal of a store is not taken by copying its file, and the message says what to type.
func TestCopiedIntoAnotherStore(t *testing.T) {
	s, to := openStore(t), openStore(t)
	interruptedRun(t, s)
	text, err := os.ReadFile(inspect(t, s).Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pawl.Do(t.Context(), to, "x", func(context.Context) (int, error) { return 0, nil }); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(mustInspect(t, to, "x").Path), "r.jsonl"), string(text))
	_, err = run(t, to, func(context.Context) (int, error) { return 0, nil })
	wantErr(t, err, pawl.ErrConflict)
	if !strings.Contains(err.Error(), "pawl import") {
		t.Error(err)
	}
}

func TestImportOfAJournalOfOpenState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run-abc.jsonl")
	same := func(state []byte) ([]byte, error) { return state, nil }
	ck, err := pawl.OpenState[map[string][]int](path, pawl.Migrate(3, same))
	if err != nil {
		t.Fatal(err)
	}
	state := map[string][]int{"n": nil}
	for i := range 200 { // by patches
		state["n"] = append(state["n"], i)
		if err := ck.Save(state); err != nil {
			t.Fatal(err)
		}
	}
	open := func() io.Reader {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(text)
	}
	s := openStore(t)
	refuseImport(t, s, open(), "", pawl.ErrCorrupt)
	if id, err := s.ImportJournal(t.Context(), open(), ""); id != "run-abc" || err != nil { // it is open all the while
		t.Fatal(id, err)
	}
	want, _ := json.Marshal(state)
	load := func(id string, opts ...pawl.StateOption) (got string) {
		t.Helper()
		_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
			st, _, err := pawl.LoadState[map[string][]int](ctx, opts...)
			b, _ := json.Marshal(st)
			got = string(b)
			return 0, errors.Join(err, errors.New("go on later"))
		})
		if errors.Is(err, pawl.ErrNewerFormat) {
			t.Error(err)
		}
		return got
	}
	if got := load("run-abc", pawl.Migrate(3, same)); got != string(want) {
		t.Errorf("state %s", got)
	}
	if err := errors.Join(ck.Complete("the result"), ck.Close()); err != nil {
		t.Fatal(err)
	}
	if id, err := s.ImportJournal(t.Context(), open(), "done"); id != "done" || err != nil {
		t.Fatal(id, err)
	}
	if v, err := pawl.Do(t.Context(), s, "done", func(context.Context) (string, error) { return "", errors.New("called") }); v != "the result" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if info := mustInspect(t, s, "done"); info.Status != runs.Complete {
		t.Errorf("%+v", info)
	}
}
