package dirstore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/vfs"
)

// linkless is the operating system's file system without hard links, such as exFAT; before each
// operation that changes something it calls before.
type linkless struct {
	vfs.FS
	before func()
}

func (l *linkless) change() {
	if l.before != nil {
		l.before()
	}
}

func (l *linkless) Link(from, to string) error {
	l.change()
	return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
}

func (l *linkless) Rename(from, to string) error {
	l.change()
	return l.FS.Rename(from, to)
}

func (l *linkless) Remove(name string) error {
	l.change()
	return l.FS.Remove(name)
}

func (l *linkless) Mkdir(name string, perm fs.FileMode) error {
	l.change()
	return l.FS.Mkdir(name, perm)
}

func (l *linkless) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 {
		l.change()
	}
	return l.FS.OpenFile(name, flag, perm)
}

// TestOneUIDWithoutHardLinks: invariant 9. Of two processes that make one store where there are no
// hard links, the second one at any moment of the first, both must find the same store, and it
// must stay that: a UID that changes takes the runs of the other with it.
func TestOneUIDWithoutHardLinks(t *testing.T) {
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "store")
		var uid string
		var otherErr error
		var other sync.WaitGroup
		ops := 0
		fsys := &linkless{FS: vfs.OS, before: func() {
			if ops++; ops != n {
				return
			}
			done := make(chan bool)
			other.Go(func() {
				var d *dirstore.Dir
				if d, otherErr = dirstore.Open(&linkless{FS: vfs.OS}, path, true, quiet); otherErr == nil {
					uid = d.UID
				}
				close(done)
			})
			select {
			case <-done:
			case <-time.After(100 * time.Millisecond): // it waits for us
			}
		}}
		d, err := dirstore.Open(fsys, path, true, quiet)
		other.Wait()
		if ops < n {
			if n < 5 {
				t.Errorf("%d operations: hardly anything was tested", n)
			}
			return
		}
		if err != nil || otherErr != nil {
			t.Fatalf("before operation %d: %v; the other: %v", n, err, otherErr)
		}
		last, err := dirstore.Open(vfs.OS, path, false, quiet)
		if err != nil || d.UID != uid || last.UID != uid {
			t.Errorf("before operation %d: two stores: %s, the other %s, and at last %s, %v", n, d.UID, uid, last.UID, err)
		}
		names, err := vfs.OS.ReadDir(path)
		if got := strings.Join(names, " "); err != nil || got != "runs store.json" {
			t.Errorf("before operation %d: left: %s, %v", n, got, err)
		}
	}
}

// TestManyWithoutHardLinks (invariants 9 and 12) has many make one store at once.
func TestManyWithoutHardLinks(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "store")
		uids := make([]string, 6)
		var wg sync.WaitGroup
		for i := range uids {
			wg.Go(func() {
				d, err := dirstore.Open(&linkless{FS: vfs.OS}, path, true, quiet)
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
		names, err := vfs.OS.ReadDir(path)
		if got := strings.Join(names, " "); err != nil || got != "runs store.json" {
			t.Errorf("left: %s, %v", got, err)
		}
	}
}
