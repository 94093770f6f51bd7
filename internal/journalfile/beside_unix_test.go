//go:build !windows

package journalfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// onDisk is a journal of two records on the real file system.
func onDisk(t *testing.T) (string, *journalfile.File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "r.jsonl")
	j, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 100), quiet)
	if err == nil {
		_, err = j.Append(body(journal.KindStep, 2, 100), true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name, j
}

// TestCompactionKeepsOwner: a compaction, and a recovery that keeps torn bytes, give their files
// the mode and, if root does it, the owner of the journal.
func TestCompactionKeepsOwner(t *testing.T) {
	name, j := onDisk(t)
	defer j.Close()
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 23456
		if err := os.Chown(name, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Compact(quiet); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(name)
	if err != nil || os.SameFile(before, after) {
		t.Fatalf("not another file: %v", err)
	}
	st := after.Sys().(*syscall.Stat_t)
	if after.Mode().Perm() != 0o640 || int(st.Uid) != uid || int(st.Gid) != gid {
		t.Errorf("%v of %d:%d, want 0640 of %d:%d", after.Mode(), st.Uid, st.Gid, uid, gid)
	}
}

// TestCompactedJournalIsLocked: rule 16. The lock on the journal itself goes over to the new file.
func TestCompactedJournalIsLocked(t *testing.T) {
	name, j := onDisk(t)
	defer j.Close()
	for range 2 {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if lock.TryFile(f) == nil {
			t.Error("the journal is not locked")
		}
		f.Close()
		if _, err := j.Compact(quiet); err != nil {
			t.Fatal(err)
		}
	}
}

// descriptors counts the open descriptors of files below dir.
func descriptors(t *testing.T, dir string) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("NOT TESTED: no /proc/self/fd here")
	}
	n := 0
	for _, fd := range fds {
		link, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if rel, relErr := filepath.Rel(dir, link); err == nil && relErr == nil && rel[0] != '.' {
			n++
		}
	}
	return n
}

// TestNoDescriptorLeaks: a long-lived service compacts, and fails to open and to create, for months.
func TestNoDescriptorLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: no /proc/self/fd here")
	}
	name, j := onDisk(t)
	dir := filepath.Dir(name)
	if n := descriptors(t, dir); n != 1 {
		t.Fatalf("%d descriptors of an open journal", n)
	}
	for i := range 3 {
		if _, err := j.Compact(quiet); err != nil {
			t.Fatal(err)
		}
		if n := descriptors(t, dir); n != 1 {
			t.Errorf("%d descriptors after %d compactions", n, i+1)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := func(journal.Header) error { return errors.New("foreign") }
	if _, _, _, err := journalfile.OpenChecked(vfs.OS, name, foreign, quiet); err == nil {
		t.Error("opened a foreign journal")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 4
	if err := os.WriteFile(name+".bad", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := journalfile.Open(vfs.OS, name+".bad", quiet); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("a damaged journal: %v", err)
	}
	if _, err := journalfile.Repair(vfs.OS, name+".bad", journalfile.Identity{ID: "r", UID: "u"}, false, quiet); err != nil {
		t.Error(err)
	}
	if n := descriptors(t, dir); n != 0 {
		t.Errorf("%d descriptors are left of what was not opened", n)
	}
	// On the model every open file is counted, and each operation fails once.
	for _, kind := range crashfs.Kinds() {
		for n := 1; ; n++ {
			base := emptyDir(t)
			base.Fault = crashfs.Nth(kind, base.Count(kind)+n, 1, crashfs.Fault{Err: syscall.EIO})
			at := base.Count(kind) + n
			err := lifeOf(base)
			if base.Count(kind) < at {
				break
			}
			opened := base.Count(crashfs.Open) + base.Count(crashfs.Create)
			failed := 0
			if kind == crashfs.Open || kind == crashfs.Create {
				failed = 1
			}
			if closed := base.Count(crashfs.Close); closed+failed != opened {
				t.Error(fmt.Errorf("%v %d fails (%w): %d opened, %d closed", kind, n, err, opened, closed))
			}
		}
	}
}

// lifeOf creates a journal, compacts it, and closes it whatever happens.
func lifeOf(base *crashfs.FS) error {
	j, err := journalfile.Create(base, path, body(journal.KindRun, 1, 100), quiet)
	if err != nil {
		return err
	}
	_, err = j.Append(body(journal.KindStep, 2, 100), true)
	if err == nil {
		_, err = j.Compact(quiet)
	}
	return errors.Join(err, j.Close())
}
