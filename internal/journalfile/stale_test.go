package journalfile_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// TestStaleWhileOpening: case C-42. ESTALE, at whatever operation of opening a journal,
// makes it open once more, with the result that it has without; twice it is an error with
// that cause. Never is it damage, nor absence.
func TestStaleWhileOpening(t *testing.T) {
	runs := 0
	for _, kind := range crashfs.Kinds() {
		for n := 1; ; n++ {
			var failed bool
			for _, times := range []int{1, -1} {
				base, m := torn(t)
				first := base.Count(kind)
				base.Fault = crashfs.Nth(kind, first+n, times, crashfs.Fault{Err: syscall.ESTALE})
				_, fold, _, err := journalfile.Open(base, path, func(string) {})
				if failed = base.Count(kind) >= first+n; !failed {
					break
				}
				runs++
				base.Fault = nil
				switch {
				case times == 1 && kind == crashfs.Close:
					// after everything else
				case times == 1 && (err != nil || fold.LastSeq != int64(m.acked)):
					t.Errorf("%v %d once: %v", kind, n, err)
				case err != nil && (!errors.Is(err, syscall.ESTALE) || errors.Is(err, journal.ErrCorrupt) || errors.Is(err, fs.ErrNotExist)):
					t.Errorf("%v %d for good: %v", kind, n, err)
				}
				// What was done before it failed hurts nobody.
				for img, v := range base.Images(crashfs.Limits{Sectors: 3, Plain: true}) {
					if _, _, err := m.open(img, m.acked); err != nil {
						t.Errorf("%v %d, %d times, then a power cut (%v): %v", kind, n, times, v, err)
					}
				}
			}
			if !failed {
				break
			}
		}
	}
	t.Logf("%d runs", runs)
}

// lockless is a file system that has no locks.
type lockless struct{ vfs.FS }

type locklessFile struct{ vfs.File }

func (l lockless) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := l.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return locklessFile{f}, nil
}

func (f locklessFile) TryLock() error {
	return &fs.PathError{Op: "lock", Path: f.Name(), Err: syscall.ENOLCK}
}

// TestNoLockNoJournal: case C-42. Without a lock on the journal itself nothing is written:
// neither created, nor opened, nor compacted.
func TestNoLockNoJournal(t *testing.T) {
	base := emptyDir(t)
	fsys := lockless{base}
	if _, err := journalfile.Create(fsys, path, body(journal.KindRun, 1, 10), func(string) {}); !errors.Is(err, syscall.ENOLCK) || !strings.Contains(err.Error(), path) {
		t.Errorf("create: %v", err)
	}
	if left := base.Files(); len(left) > 0 {
		t.Errorf("invariant 12: left %q", left)
	}
	j, _ := written(t, base, 100)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	before := base.Hash()
	if _, _, _, err := journalfile.Open(fsys, path, func(string) {}); !errors.Is(err, syscall.ENOLCK) || !strings.Contains(err.Error(), path) {
		t.Errorf("open: %v", err)
	}
	if base.Hash() != before {
		t.Error("something was written")
	}
}

// TestOneOwnerOfAJournal: invariant 9. Whoever has the journal open is its only owner, also
// when the lock file beside it is gone, and also of the file that a compaction made.
func TestOneOwnerOfAJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	quiet := func(string) {}
	refused := func(when string) {
		t.Helper()
		_, _, _, err := journalfile.Open(vfs.OS, name, quiet)
		if _, ok := errors.AsType[*lock.HeldError](err); !ok {
			t.Errorf("invariant 9: %s: a second owner got %v", when, err)
		}
		if _, err := journalfile.Repair(vfs.OS, name, journalfile.Identity{}, false, quiet); err == nil {
			t.Errorf("invariant 9: %s: repaired under its owner", when)
		}
	}
	j, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 10), quiet)
	if err != nil {
		t.Fatal(err)
	}
	refused("created")
	if _, err := j.Compact(quiet); err != nil {
		t.Fatal(err)
	}
	refused("compacted")
	if _, err := j.Append(body(journal.KindStep, 2, 10), true); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, _, _, err = journalfile.Open(vfs.OS, name, quiet); err != nil {
		t.Fatal(err)
	}
	refused("opened")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
