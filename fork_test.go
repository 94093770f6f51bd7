package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// grow asks for steps of a run and stops it.
func grow(t *testing.T, s *pawl.Store, id string, calls *[]string, keys ...string) {
	t.Helper()
	_, err := pawl.Do(t.Context(), s, id, func(ctx context.Context) (int, error) {
		for _, key := range keys {
			_, err := pawl.Step(ctx, key, func(ctx context.Context) (string, error) {
				*calls = append(*calls, id+":"+key)
				return pawl.IdempotencyKey(ctx), nil
			})
			if err != nil {
				return 0, err
			}
		}
		return 0, errors.New("stop")
	})
	if err == nil || err.Error() != "stop" {
		t.Fatal(err)
	}
}

func TestC75Fork(t *testing.T) {
	s := openStore(t)
	var calls []string
	grow(t, s, "r", &calls, "1", "2", "3", "4")
	steps, err := s.Steps(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	at := steps[1].Seq // step 2 is done
	before, err := os.ReadFile(inspect(t, s).Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fork(t.Context(), "r", at, "fork"); err != nil {
		t.Fatal(err)
	}
	grow(t, s, "fork", &calls, "1", "2", "3'", "4'")
	if after, err := os.ReadFile(inspect(t, s).Path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the first run was changed: %v", err)
	}
	grow(t, s, "r", &calls, "1", "2", "3", "4", "5")
	if got := fmt.Sprint(calls); got != "[r:1 r:2 r:3 r:4 fork:3' fork:4' r:5]" {
		t.Errorf("calls = %s", got)
	}
	info := mustInspect(t, s, "fork")
	if info.Parent == nil || *info.Parent != (runs.Parent{ID: "r", UID: inspect(t, s).UID, Seq: at}) || info.UID == inspect(t, s).UID {
		t.Errorf("parent = %+v", info.Parent)
	}
	// Record for record the same up to there.
	var histories [2][]string
	for i, id := range []string{"r", "fork"} {
		for e, err := range s.History(t.Context(), id) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Seq <= at {
				histories[i] = append(histories[i], fmt.Sprint(e.Seq, e.Kind, e.Key, e.At))
			}
		}
	}
	if fmt.Sprint(histories[0]) != fmt.Sprint(histories[1]) {
		t.Errorf("histories:\n%v\n%v", histories[0], histories[1])
	}
	// Deleting either leaves the other.
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	grow(t, s, "fork", &calls, "1", "2", "3'", "4'", "5'")
	if err := s.Fork(t.Context(), "fork", 0, "r"); err != nil {
		t.Fatal(err)
	}
	grow(t, s, "r", &calls, "1", "2", "3'", "4'", "5'")
	if len(calls) != 8 {
		t.Errorf("calls = %v", calls)
	}
}

func TestForkRefuses(t *testing.T) {
	s := openStore(t)
	var calls []string
	wantErr(t, s.Fork(t.Context(), "r", 0, "fork"), pawl.ErrNotFound)
	grow(t, s, "r", &calls, "1")
	wantErr(t, s.Fork(t.Context(), "r", 99, "fork"), pawl.ErrNotFound)
	err := s.Fork(t.Context(), "r", 0, "r")
	wantErr(t, err, pawl.ErrConflict)
	if text := err.Error(); !strings.Contains(text, "nothing was forked; fork it under another ID") || strings.Contains(text, "import") {
		t.Errorf("the conflict speaks of something else: %v", err)
	}
	err = s.Fork(t.Context(), "r", -1, "fork")
	wantErr(t, err, pawl.ErrInvalid)
	wantErr(t, s.Fork(t.Context(), "r", 0, ""), pawl.ErrInvalid)
	path := inspect(t, s).Path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A run of another store is refused as it is when it is opened.
	to := openStore(t)
	grow(t, to, "r", &calls, "1")
	if err := os.WriteFile(inspect(t, to).Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	err = to.Fork(t.Context(), "r", 0, "fork")
	wantErr(t, err, pawl.ErrConflict)
	if !strings.Contains(err.Error(), "another store") {
		t.Error(err)
	}
	if _, err := to.Inspect(t.Context(), "fork"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a fork was made: %v", err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"try":1`), []byte(`"try":7`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Fork(t.Context(), "r", 0, "fork"), pawl.ErrCorrupt)
	if _, err := s.Inspect(t.Context(), "fork"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a fork was made: %v", err)
	}
}

// A step under way at the fork point may have happened, for the first run.
func TestForkOfAStepInDoubt(t *testing.T) {
	s := openStore(t)
	interrupted(t, s)
	if err := s.Fork(t.Context(), "r", 0, "fork"); err != nil {
		t.Fatal(err)
	}
	pay := func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "pay", func(context.Context) (int, error) { return 1, nil })
	}
	_, err := pawl.Do(t.Context(), s, "fork", pay)
	wantErr(t, err, pawl.ErrInDoubt)
	if err := s.ResolveRerun(t.Context(), "fork", "pay", "ann", "it did not"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"fork", "r"} {
		if v, err := pawl.Do(t.Context(), s, id, pay); v != 1 || err != nil {
			t.Errorf("%s: %d, %v", id, v, err)
		}
	}
}
