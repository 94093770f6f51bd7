package pawl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
)

// C-31: a link stays a link, and what it means is saved.
func TestC31Links(t *testing.T) {
	dir := t.TempDir()
	ckNil(t, os.MkdirAll(filepath.Join(dir, "real"), 0o700))
	ckNil(t, os.MkdirAll(filepath.Join(dir, "links"), 0o700))
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	link("../real/c.json", "links/c.json")
	link("c.json", "links/again.json")
	link("real", "dirlink")
	link("../real/deep/new.json", "links/dangling.json")
	link("round.json", "links/round.json")

	save := func(path string, n int) {
		t.Helper()
		ck := ckOpen[int](t, filepath.Join(dir, path))
		if got := ck.State(); n > 1 && got != n-1 {
			t.Errorf("%s: resumed with %d, want %d", path, got, n-1)
		}
		ckNil(t, ck.Save(n))
		ckNil(t, ck.Close())
	}
	save("real/c.json", 1)
	save("links/c.json", 2)
	save("links/again.json", 3)
	save("dirlink/c.json", 4)
	save("links/dangling.json", 1)
	save("real/deep/new.json", 2)
	for _, l := range []string{"links/c.json", "links/again.json", "dirlink", "links/dangling.json"} {
		if fi, err := os.Lstat(filepath.Join(dir, l)); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is a link no more: %v", l, err)
		}
	}
	if got := strings.Join(ckNames(t, filepath.Join(dir, "real")), " "); got != "c.json deep" {
		t.Errorf("beside the file: %s", got)
	}
	if got := strings.Join(ckNames(t, filepath.Join(dir, "links")), " "); got != "again.json c.json dangling.json round.json" {
		t.Errorf("beside the link: %s", got)
	}
	_, err := pawl.OpenFile[int](filepath.Join(dir, "links", "round.json"))
	ckWant(t, err, pawl.ErrInvalid, "too many links")

	// Both names mean one file, so they share one lock.
	ck := ckOpen[int](t, filepath.Join(dir, "real", "c.json"))
	_, err = pawl.OpenFile[int](filepath.Join(dir, "links", "again.json"))
	ckWant(t, err, pawl.ErrLocked)
	ckNil(t, ck.Close())
}

func TestPathsRefused(t *testing.T) {
	dir := t.TempDir()
	ckNil(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	ckWrite(t, filepath.Join(dir, "file"), "x")
	for path, want := range map[string]string{
		filepath.Join(dir, "sub"):                    "not a regular file but a directory",
		filepath.Join(dir, "sub") + "/":              "the path ends like a directory's",
		filepath.Join(dir, "a\x00b"):                 "NUL",
		filepath.Join(dir, strings.Repeat("n", 240)): "the file name has 240 bytes, at most 238",
		filepath.Join(dir, "run.json.lock"):          `names ending in ".lock" belong to the files beside a checkpoint`,
		filepath.Join(dir, "run.json.pawl-new"):      `names ending in ".pawl-new"`,
	} {
		_, err := pawl.OpenFile[int](path)
		ckWant(t, err, pawl.ErrInvalid, want)
	}
	if _, err := pawl.OpenFile[int](""); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("the empty path: %v", err)
	}
	if _, err := pawl.OpenFile[int](filepath.Join(dir, "file", "run.json")); err == nil || errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("below a file: %v", err)
	}
	if names := ckNames(t, dir); len(names) != 2 {
		t.Errorf("there is %q", names)
	}
	// Names that a shorter scheme would let share a temporary file, or Python's.
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.db")
	ckWrite(t, filepath.Join(dir, "a.tmp"), "somebody else's")
	one, two := ckOpen[int](t, a), ckOpen[int](t, b)
	for i := range 20 {
		ckNil(t, one.Save(i))
		ckNil(t, two.Save(100+i))
	}
	if one.State() != 19 || two.State() != 119 || ckRead(t, filepath.Join(dir, "a.tmp")) != "somebody else's" {
		t.Error("two checkpoints share something")
	}
}

// C-34: temporary files are beside the target, so it does not matter what TMPDIR is.
func TestC34TempElsewhere(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	dir := fastDirIn(t, ".")
	ck := ckOpen[int](t, filepath.Join(dir, "run.json"))
	for i := range 3 {
		ckNil(t, ck.Save(i))
	}
}

// fastDirIn makes a directory in parent that goes at the end of the test.
func fastDirIn(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "pawl-test-")
	ckNil(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// C-43: a temporary file of a live writer is never removed, one of a dead writer is.
func TestC43Leftovers(t *testing.T) {
	path := saved(t, 1)
	for range 3 {
		ckWrite(t, path+".pawl-new", "half")
		ck := ckOpen[cursorState](t, path)
		if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
			t.Errorf("after opening: %q", names)
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

// C-45, C-47: one owner, named in the message, and nothing to clean up after it.
func TestC45Locked(t *testing.T) {
	path := saved(t, 1)
	ck := ckOpen[cursorState](t, path)
	_, err := pawl.OpenFile[cursorState](path)
	host, _ := os.Hostname()
	ckWant(t, err, pawl.ErrLocked, "process "+itoa(os.Getpid()), "host "+host, "since "+time.Now().UTC().Format("2006-01-02T"), "its death frees the file at once")
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Owner.PID != os.Getpid() {
		t.Errorf("the owner is not in %#v", err)
	}
	ckNil(t, ck.Close())
	// What a dead owner wrote into the lock file does not count.
	ckWrite(t, path+".lock", `{"host":"elsewhere","pid":1,"since":"2020-01-01T00:00:00Z"}`)
	ckNil(t, ckOpen[cursorState](t, path).Close())
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
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

// C-74: deleted or replaced under its owner.
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

// C-40: a file system that cannot sync a directory is good enough, and said so
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
