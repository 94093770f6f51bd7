package pawl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Invariant 12, C-43: a temporary file of a live writer is never removed, one of a dead writer is.
func TestC43Leftovers(t *testing.T) {
	path := saved(t, 1)
	for range 3 {
		ckWrite(t, path+".pawl-new", "half")
		ck := ckOpen[cursorState](t, path)
		if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
			t.Errorf("invariant 12: after opening: %q", names)
		}
		ckWrite(t, path+".pawl-new", "of a live writer")
		_, err := pawl.OpenFile[cursorState](path)
		ckWant(t, err, pawl.ErrLocked)
		if ckRead(t, path+".pawl-new") != "of a live writer" {
			t.Error("a live writer's file was touched")
		}
		ckNil(t, ck.Close())
	}
}

// Rule 18, invariant 9, C-45, C-47: one owner, named in the message, and nothing to clean up after it.
func TestC45Locked(t *testing.T) {
	path := saved(t, 1)
	ck := ckOpen[cursorState](t, path)
	_, err := pawl.OpenFile[cursorState](path)
	host, _ := os.Hostname()
	ckWant(t, err, pawl.ErrLocked, "process "+strconv.Itoa(os.Getpid()), "host "+host, "since "+time.Now().UTC().Format("2006-01-02T"), "its death frees the file at once")
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Owner.PID != os.Getpid() {
		t.Errorf("the owner is not in %#v", err)
	}
	ckNil(t, ck.Close())
	// What a dead owner wrote into the lock file does not count.
	ckWrite(t, path+".lock", `{"host":"elsewhere","pid":1,"since":"2020-01-01T00:00:00Z"}`)
	ckNil(t, ckOpen[cursorState](t, path).Close())
}

// C-68: the file, its temporary file and its versions are for the owner only, from
// their first moment on.
func TestC68OwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(dir, "run.json")
	seen := map[string]bool{}
	look := func(call) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			fi, err := e.Info()
			if err == nil && fi.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", e.Name(), fi.Mode())
			}
			seen[e.Name()] = true
		}
		return nil
	}
	fsys := &faultFS{FS: vfs.OS, fail: look, failAfter: look}
	ck := ckOpen[string](t, path, pawl.WithFileSystem(fsys), pawl.KeepVersions(2))
	for _, s := range []string{"sk-test-0000", "sk-test-0001", "sk-test-0002"} {
		ckNil(t, ck.Save(s))
	}
	err := ck.Save("sk-test-\xff")
	ckWant(t, err, pawl.ErrInvalid, "invalid UTF-8")
	if strings.Contains(err.Error(), "sk-test") {
		t.Errorf("the secret is in the message: %v", err)
	}
	fsys.fail = func(c call) error {
		if c.op == "rename" {
			return syscall.ENOSPC
		}
		return nil
	}
	if err := ck.Save("sk-test-0003"); err == nil || strings.Contains(err.Error(), "sk-test") {
		t.Errorf("failing save: %v", err)
	}
	if !seen["run.json.pawl-new"] || !seen["run.json"] || !seen["run.json.v000000000001"] {
		t.Errorf("the test saw only %v", seen)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", fi.Mode(), err)
	}
}

// C-32, as far as no other user is needed: the mode stays.
func TestC32Mode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	path := saved(t, 1)
	ckNil(t, os.Chmod(path, 0o640))
	ck := ckOpen[cursorState](t, path)
	ckNil(t, ck.Save(cursorState{Cursor: 2}))
	ckNil(t, ck.Complete(1))
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

// Rules 16 and 17, C-74: deleted or replaced under its owner.
func TestC74DeletedOrReplaced(t *testing.T) {
	open := func(t *testing.T) (*pawl.Checkpoint[cursorState], string) {
		path := filepath.Join(t.TempDir(), "dir", "run.json")
		ck := ckOpen[cursorState](t, path)
		ckNil(t, ck.Save(cursorState{Cursor: 1}))
		return ck, path
	}
	t.Run("a file deleted", func(t *testing.T) {
		ck, path := open(t)
		ckNil(t, os.Remove(path))
		for range 2 {
			ckWant(t, ck.Save(cursorState{Cursor: 2}), pawl.ErrReplaced, "it is gone", "nothing was written; to write it again, call Clear and then Save")
		}
		ckWant(t, ck.Complete(2), pawl.ErrReplaced)
		if names := ckNames(t, filepath.Dir(path)); len(names) > 0 {
			t.Errorf("there is %q", names)
		}
		ckNil(t, ck.Clear())
		ckNil(t, ck.Save(cursorState{Cursor: 2}))
		ckNil(t, ck.Close())
		if got := ckOpen[cursorState](t, path).State(); got.Cursor != 2 {
			t.Errorf("at the end %+v", got)
		}
	})
	t.Run("b directory deleted", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("an open file cannot be removed on Windows")
		}
		ck, path := open(t)
		ckNil(t, os.RemoveAll(filepath.Dir(path)))
		ckWant(t, ck.Save(cursorState{Cursor: 2}), pawl.ErrReplaced, "it is gone")
		if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory is back: %v", err)
		}
		ckNil(t, ck.Clear())
		ckNil(t, ck.Save(cursorState{Cursor: 2}))
		_, err := pawl.OpenFile[cursorState](path)
		ckWant(t, err, pawl.ErrLocked)
		ckNil(t, ck.Close())
		if got := ckOpen[cursorState](t, path).State(); got.Cursor != 2 {
			t.Errorf("at the end %+v", got)
		}
	})
	t.Run("c replaced", func(t *testing.T) {
		ck, path := open(t)
		foreign := `{"state": {"cursor": 77}, "status": "in_progress", "saved_at": 1.5}`
		ckWrite(t, path+".other", foreign)
		ckNil(t, os.Rename(path+".other", path))
		for _, err := range []error{ck.Save(cursorState{Cursor: 2}), ck.Save(cursorState{Cursor: 1}), ck.Complete(2), ck.Clear()} {
			ckWant(t, err, pawl.ErrReplaced, "another file is at its path", "nothing was written; stop")
		}
		if got := ckRead(t, path); got != foreign {
			t.Errorf("the foreign file is now %s", got)
		}
	})
	t.Run("edited in place", func(t *testing.T) {
		ck, path := open(t)
		text := strings.Replace(ckRead(t, path), `"cursor":1`, `"cursor":7`, 1)
		at := time.Now().Add(time.Second)
		ckWrite(t, path, text)
		ckNil(t, os.Chtimes(path, at, at))
		ckWant(t, ck.Save(cursorState{Cursor: 2}), pawl.ErrReplaced, "or it was changed")
		if ckRead(t, path) != text {
			t.Error("the edit was overwritten")
		}
	})
	t.Run("only touched, or copied back", func(t *testing.T) {
		ck, path := open(t)
		at := time.Now().Add(time.Second)
		ckNil(t, os.Chtimes(path, at, at))
		ckNil(t, ck.Save(cursorState{Cursor: 2}))
		text := ckRead(t, path)
		ckNil(t, os.Remove(path))
		ckWrite(t, path, text)
		ckNil(t, ck.Save(cursorState{Cursor: 3}))
	})
	t.Run("made by somebody else", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run.json")
		ck := ckOpen[cursorState](t, path)
		ckWrite(t, path, "theirs")
		for _, err := range []error{ck.Save(cursorState{Cursor: 2}), ck.Complete(2), ck.Clear()} {
			ckWant(t, err, pawl.ErrConflict, "somebody else made the file")
		}
		if ckRead(t, path) != "theirs" {
			t.Error("their file was overwritten")
		}
	})
	t.Run("the lock file removed", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("an open file cannot be removed on Windows")
		}
		ck, path := open(t)
		ckNil(t, os.Remove(path+".lock"))
		ckNil(t, ck.Save(cursorState{Cursor: 2}))
		_, err := pawl.OpenFile[cursorState](path)
		ckWant(t, err, pawl.ErrLocked)
		if w := ck.Warnings(); len(w) != 1 || !strings.Contains(w[0], "lock file was removed") {
			t.Errorf("warnings %q", w)
		}
		ckNil(t, os.Remove(path+".lock"))
		other := ckOpen[cursorState](t, path)
		ckWant(t, ck.Save(cursorState{Cursor: 3}), pawl.ErrLeaseLost, "the lock file was removed, and now: held by process")
		ckNil(t, other.Save(cursorState{Cursor: 4}))
		ckWant(t, ck.Save(cursorState{Cursor: 5}), pawl.ErrReplaced)
	})
}

// Rules 3, 6 and 25, C-40: a file system that cannot sync a directory is good enough, and said so
// once. Errors of other kinds leave the save in doubt and end the handle.
func TestC40DirectorySync(t *testing.T) {
	for _, code := range []error{syscall.EINVAL, errors.ErrUnsupported} {
		fsys := &faultFS{FS: vfs.OS, fail: func(c call) error {
			if c.op == "syncdir" {
				return code
			}
			return nil
		}}
		path := filepath.Join(t.TempDir(), "dir", "run.json")
		for i := range 2 {
			ck := ckOpen[int](t, path, pawl.WithFileSystem(fsys))
			for j := range 3 {
				ckNil(t, ck.Save(3*i+j+1))
			}
			if w := ck.Warnings(); len(w) != 1 || !strings.Contains(w[0], "cannot sync a directory") {
				t.Errorf("%v: warnings %q", code, w)
			}
			ckNil(t, ck.Close())
		}
	}

	fsys := &faultFS{FS: vfs.OS}
	path := saved(t, 1)
	ck := ckOpen[cursorState](t, path, pawl.WithFileSystem(fsys))
	fsys.fail = func(c call) error {
		if c.op == "syncdir" {
			return syscall.EIO
		}
		return nil
	}
	err := ck.Save(cursorState{Cursor: 2})
	ckWant(t, err, pawl.ErrInDoubt, "it is not known whether it is durable", "input/output error", "open it again to find out which")
	fsys.fail = nil
	for _, err := range []error{ck.Save(cursorState{Cursor: 3}), ck.Complete(1), ck.Clear()} {
		ckWant(t, err, pawl.ErrInDoubt, "an earlier write is in doubt")
	}
	if !errors.Is(err, syscall.EIO) || ck.State().Cursor != 1 {
		t.Errorf("cause %v, state %+v", err, ck.State())
	}
	ckNil(t, ck.Close())
	ck = ckOpen[cursorState](t, path)
	if got := ck.State().Cursor; got != 1 && got != 2 {
		t.Errorf("opened again with %d", got)
	}
	ckNil(t, ck.Save(cursorState{Cursor: 3}))
}
