//go:build unix

package repair_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/journal/repair"
)

// names are what stands in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Rule 21: a repair never follows a link out of a store, nor waits for a FIFO, and looking
// leaves nothing behind.
func TestRepairFollowsNothingOutOfAStore(t *testing.T) {
	ended := time.AfterFunc(time.Minute, func() { panic("something waits for the other end of a FIFO") })
	defer ended.Stop()
	_, path := setup(t)
	outside := t.TempDir()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[700] ^= 1
	victim := filepath.Join(outside, "victim.jsonl")
	if err := os.WriteFile(victim, text, 0o600); err != nil {
		t.Fatal(err)
	}
	link, fifo := filepath.Join(filepath.Dir(path), "evil.jsonl"), filepath.Join(filepath.Dir(path), "fifo.jsonl")
	if err := errors.Join(os.Symlink(victim, link), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	before := names(t, outside) + names(t, filepath.Dir(path))
	for _, p := range []string{link, fifo} {
		for _, dry := range []bool{true, false} {
			if rep, err := repair.Journal(p, repair.Options{DryRun: dry}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s, dry %v: %+v, %v", filepath.Base(p), dry, rep, err)
			}
		}
	}
	// A link beside no store is a user's, who may.
	user := filepath.Join(outside, "mine.jsonl")
	if err := os.Symlink(victim, user); err != nil {
		t.Fatal(err)
	}
	if rep, err := repair.Journal(user, repair.Options{DryRun: true}); err != nil || !rep.Needed {
		t.Errorf("a user's link: %+v, %v", rep, err)
	}
	if err := os.Remove(user); err != nil {
		t.Fatal(err)
	}
	if after := names(t, outside) + names(t, filepath.Dir(path)); after != before {
		t.Errorf("there is now %s, and was %s", after, before)
	}
}

// An owner whose lock file somebody removed is still the owner.
func TestRepairOfAnOwnerWithoutLockFile(t *testing.T) {
	s, path := setup(t)
	r, err := s.Begin(t.Context(), "Job/1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Remove(strings.TrimSuffix(path, ".jsonl") + ".lock"); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("X"), 700); err != nil {
		t.Fatal(err)
	}
	// A dry run takes no lock, and so does not see it.
	if rep, err := repair.Journal(path, repair.Options{}); !errors.Is(err, repair.ErrOwned) {
		t.Errorf("%+v, %v", rep, err)
	}
}
