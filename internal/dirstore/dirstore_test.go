package dirstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

func TestOpenMakesAStoreOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := dirstore.Open(vfs.OS, dir, false, quiet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := os.Lstat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking made a directory")
	}
	first, err := dirstore.Open(vfs.OS, dir, true, quiet)
	if err != nil {
		t.Fatal(err)
	}
	second, err := dirstore.Open(vfs.OS, dir, true, quiet)
	if err != nil || second.UID != first.UID || len(first.UID) != 32 {
		t.Errorf("UIDs %q and %q, %v", first.UID, second.UID, err)
	}
}

// TestOpenConcurrently (invariants 9 and 12) has many make one store at once: all get the same one.
func TestOpenConcurrently(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "store")
		uids := make([]string, 8)
		var wg sync.WaitGroup
		for i := range uids {
			wg.Go(func() {
				d, err := dirstore.Open(vfs.OS, dir, true, quiet)
				if err == nil {
					err = d.CheckRuns()
				}
				if err != nil {
					t.Error(err)
					return
				}
				uids[i] = d.UID
			})
		}
		wg.Wait()
		for _, uid := range uids {
			if uid != uids[0] {
				t.Fatalf("two stores in one directory: %q", uids)
			}
		}
		names, err := vfs.OS.ReadDir(dir)
		if got := strings.Join(names, " "); err != nil || got != "runs store.json" {
			t.Errorf("left: %s, %v", got, err)
		}
	}
}

// TestOpenWhileAnotherMakesIt (invariant 9) has another process make the store, runs and all,
// between each two operations of this one.
func TestOpenWhileAnotherMakesIt(t *testing.T) {
	for n := 1; ; n++ {
		base := crashfs.New()
		var other string
		var otherErr error
		base.Before = func(op crashfs.Op) {
			if op.N == n {
				base.Before = nil
				other, otherErr = firstRun(base)
			}
		}
		d, err := dirstore.Open(base, storePath, true, quiet)
		if base.Before != nil {
			break
		}
		if err != nil || otherErr != nil {
			t.Fatalf("before operation %d: %v; the other: %v", n, err, otherErr)
		}
		if d.UID != other {
			t.Errorf("before operation %d: two stores, %s and %s", n, d.UID, other)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	write := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			name := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want error
		says string
	}{
		{"a directory with other files", write("main.go", "package main"), dirstore.ErrNotAStore, "main.go"},
		{"a newer marker", write("store.json", `{"pawl_store":2,"uid":"x","more":1}`), journal.ErrNewerFormat, "format 2"},
		{"an empty marker", write("store.json", ""), journal.ErrCorrupt, "store.json"},
		{"a marker of NULs", write("store.json", strings.Repeat("\x00", 60)), journal.ErrCorrupt, "60 bytes"},
		{"a marker without a UID", func(t *testing.T, dir string) {
			write("runs/r.lock", "")(t, dir)
			write("store.json", `{"pawl_store":1}`)(t, dir)
		}, journal.ErrCorrupt, "not a store's marker"},
		{"another program's marker", write("store.json", `{"version":1}`), journal.ErrCorrupt, "store.json"},
		{"a lost marker", write("runs/r.jsonl", "x"), journal.ErrCorrupt, "marker is missing"},
		{"a directory in the marker's place", write("store.json/x", ""), fs.ErrInvalid, "store.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			before := snapshot(t, dir)
			for _, create := range []bool{true, false} {
				_, err := dirstore.Open(vfs.OS, dir, create, quiet)
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("create %v: %v", create, err)
				}
			}
			if after := snapshot(t, dir); after != before {
				t.Errorf("changed:\n%s\nto\n%s", before, after)
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dirstore.Open(vfs.OS, name, true, quiet); err == nil {
			t.Error("opened")
		}
	})
}

// snapshot is the names and contents below dir.
func snapshot(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		b.WriteString(path + "\n")
		if err == nil && e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			b.WriteString(string(text) + "\n")
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOpenAfterALostAttempt: what attempts left that died is no obstacle, and is
// swept away (invariant 12).
func TestOpenAfterALostAttempt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"store.json.0123456789ab", "store.json.ba9876543210", "store.json.bak"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dirstore.Open(vfs.OS, dir, true, quiet); err != nil {
		t.Fatal(err)
	}
	names, err := vfs.OS.ReadDir(dir)
	if got := strings.Join(names, " "); err != nil || got != "runs store.json store.json.bak" {
		t.Errorf("left: %s, %v", got, err)
	}
}

// withLocks is a file system whose locks nobody else has.
type withLocks struct{ *crashfs.FS }

type noLock struct{}

func (noLock) Owner() lock.Owner { return lock.Owner{} }
func (noLock) Intact() bool      { return true }
func (noLock) Release() error    { return nil }

func (withLocks) AcquireLock(string) (vfs.Lock, error)       { return noLock{}, nil }
func (withLocks) ProbeLock(string) (lock.Owner, bool, error) { return lock.Owner{}, false, nil }

// noLinks is one without hard links.
type noLinks struct{ withLocks }

func (noLinks) Link(string, string) error { return &os.LinkError{Op: "link", Err: syscall.EPERM} }

func TestOpenWithoutHardLinks(t *testing.T) {
	base := crashfs.New()
	uid, err := firstRun(noLinks{withLocks{base}})
	if err != nil {
		t.Fatal(err)
	}
	for img := range base.Images(crashfs.Limits{}) {
		if err := check(img, uid); err != nil {
			t.Error(err)
		}
	}
}

// noDirSync is a file system that cannot sync directories.
type noDirSync struct{ *crashfs.FS }

func (noDirSync) SyncDir(string) error { return &os.PathError{Op: "sync", Err: syscall.EINVAL} }

func TestOneWarningWithoutDirectorySync(t *testing.T) {
	var warnings []string
	d, err := dirstore.Open(noDirSync{crashfs.New()}, storePath, true, func(s string) { warnings = append(warnings, s) })
	if err == nil {
		err = d.CheckRuns()
	}
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "power cut") {
		t.Errorf("%v, warnings %q", err, warnings)
	}
}

func TestEntries(t *testing.T) {
	base := crashfs.New()
	if _, err := firstRun(base); err != nil {
		t.Fatal(err)
	}
	d, err := dirstore.Open(base, storePath, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"r.lock", "r.jsonl.new", "r.jsonl.torn-512", "r.jsonl.torn.new", "other.txt"} {
		base.Put(storePath+"/runs/"+name, []byte("x"))
	}
	entries, err := d.Entries()
	if err != nil || len(entries) != 1 || entries[0].ID != "r" || entries[0].Path != d.Journal("r") || entries[0].Lock != d.Lock("r") {
		t.Errorf("%+v, %v", entries, err)
	}
}
