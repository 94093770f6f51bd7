package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

func TestClearKeepsTheOldJournal(t *testing.T) {
	s := openStore(t)
	_, err := s.Clear(t.Context(), "r")
	wantErr(t, err, pawl.ErrNotFound)
	calls := 0
	fn := func(ctx context.Context) (int, error) {
		wantErr(t, func() error { _, err := s.Clear(ctx, "r"); return err }(), pawl.ErrLocked)
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { calls++; return calls, nil })
	}
	for want := 1; want <= 3; want++ {
		if v, err := run(t, s, fn); v != want || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		before, err := os.ReadFile(inspect(t, s).Path)
		if err != nil {
			t.Fatal(err)
		}
		aside, err := s.Clear(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(aside); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the old journal is not in %s: %v", aside, err)
		}
		_, err = s.Inspect(t.Context(), "r")
		wantErr(t, err, pawl.ErrNotFound)
	}
	if v, err := run(t, s, fn); v != 4 || err != nil {
		t.Fatalf("%d, %v", v, err)
	}
}

func TestDeleteLeavesNothingOfTheRun(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (int, error) { return 1, nil }
	for _, id := range []string{"r", "r.jsonl.torn-5", "r.jsonl.cleared-1"} { // other runs, whatever they are called
		if _, err := pawl.Do(t.Context(), s, id, one); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Dir(inspect(t, s).Path)
	if _, err := s.Clear(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, one); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "r.jsonl.torn-77"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Delete(t.Context(), "r"), pawl.ErrNotFound)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !strings.HasPrefix(n.Name(), "r.jsonl.torn-5.") && !strings.HasPrefix(n.Name(), "r.jsonl.cleared-1.") {
			t.Errorf("%s is left", n.Name())
		}
	}
	for _, id := range []string{"r.jsonl.torn-5", "r.jsonl.cleared-1"} {
		if _, err := s.Inspect(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	// A run of that ID sees nothing old.
	info := func() string { run(t, s, one); return inspect(t, s).UID } //nolint:errcheck // Inspect tells
	if first := info(); first == "" {
		t.Error("no new run")
	}
}

// An owner cannot be deprived of its run through the store; by hand it can, and finds out.
func TestDeleteUnderAnOwner(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		wantErr(t, s.Delete(ctx, "r"), pawl.ErrLocked)
		if err := os.Remove(inspect(t, s).Path); err != nil {
			return 0, err
		}
		_, err := pawl.Step(ctx, "late", func(context.Context) (int, error) { return 1, nil })
		wantErr(t, err, pawl.ErrReplaced)
		return 0, errors.New("stop")
	})
	if err == nil {
		t.Fatal("no error")
	}
	if names, err := s.Steps(t.Context(), "r"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("%v, %v", names, err)
	}
}

// A lock file that was removed by hand makes nobody's run out of one that has an owner.
func TestDeleteUnderAnOwnerWithoutLockFile(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		path := inspect(t, s).Path
		if err := os.Remove(strings.TrimSuffix(path, ".jsonl") + ".lock"); err != nil {
			return 0, err
		}
		wantErr(t, s.Delete(ctx, "r"), pawl.ErrLocked)
		_, err := s.Clear(ctx, "r")
		wantErr(t, err, pawl.ErrLocked)
		return pawl.Step(ctx, "late", func(context.Context) (int, error) { return 1, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	if info := inspect(t, s); info.Done != 1 {
		t.Errorf("info = %+v", info)
	}
}
