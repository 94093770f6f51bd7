package pawl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/vfs"
)

// cursors reads every file of a checkpoint and returns the cursors in it.
func cursors(t *testing.T, path string) string {
	t.Helper()
	var out []string
	dir := t.TempDir()
	for _, name := range ckNames(t, filepath.Dir(path)) {
		// A copy, since a version is a whole file of its own.
		text := ckRead(t, filepath.Join(filepath.Dir(path), name))
		ckWrite(t, filepath.Join(dir, "copy.json"), text)
		ck, err := pawl.OpenFile[cursorState](filepath.Join(dir, "copy.json"))
		if err != nil {
			out = append(out, name+": "+err.Error())
			continue
		}
		out = append(out, fmt.Sprint(ck.State().Cursor))
		ck.Close()
	}
	return strings.Join(out, " ")
}

// Rule 24, C-76: exactly the last generations are kept, failures take none of them, and
// clocks do not matter.
func TestC76Retention(t *testing.T) {
	path := saved(t, 10, pawl.KeepVersions(3))
	if got := cursors(t, path); got != "10 8 9" { // run.json first
		t.Fatalf("after 10 saves: %s", got)
	}

	fault := &faultFS{FS: vfs.OS}
	ck := ckOpen[cursorState](t, path, pawl.KeepVersions(3), pawl.WithFileSystem(fault))
	for i := range 20 {
		// A full disk at the write, then at the link, the sync and the rename.
		op := []string{"write", "link", "sync", "rename"}[i%4]
		fault.fail = func(c call) error {
			if c.op == op {
				return syscall.ENOSPC
			}
			return nil
		}
		if err := ck.Save(cursorState{Cursor: 100 + i}); op != "link" && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("save %d: %v", i, err)
		}
		if op == "link" { // then the version is a copy, and the save works
			break
		}
		if got := cursors(t, path); got != "10 8 9" {
			t.Fatalf("after a failed %s: %s", op, got)
		}
	}
	fault.fail = nil
	ckNil(t, ck.Save(cursorState{Cursor: 11}))
	ckNil(t, ck.Close())
	if got := cursors(t, path); got != "11 10 101" {
		t.Fatalf("after a copied version: %s", got)
	}

	old := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range ckNames(t, filepath.Dir(path)) {
		at := old.Add(time.Duration(-i) * time.Hour)
		ckNil(t, os.Chtimes(filepath.Join(filepath.Dir(path), name), at, at))
	}
	ck = ckOpen[cursorState](t, path, pawl.KeepVersions(3))
	ckNil(t, ck.Save(cursorState{Cursor: 13}))
	if got := cursors(t, path); got != "13 101 11" {
		t.Errorf("with old dates: %s", got)
	}
	// An unchanged save takes no version's place.
	ckNil(t, ck.Save(cursorState{Cursor: 13}))
	if got := cursors(t, path); got != "13 101 11" {
		t.Errorf("after an unchanged save: %s", got)
	}
	// Clear keeps what it clears.
	ckNil(t, ck.Clear())
	if got := cursors(t, path); got != "101 11 13" {
		t.Errorf("after Clear: %s", got)
	}
	ckNil(t, ck.Save(cursorState{Cursor: 1}))
	if got := cursors(t, path); got != "1 11 13" {
		t.Errorf("after starting over: %s", got)
	}
}

// Twenty failures of one kind in a row.
func TestC76FailuresInARow(t *testing.T) {
	for _, op := range []string{"write", "sync", "rename"} {
		path := saved(t, 10, pawl.KeepVersions(3))
		fault := &faultFS{FS: vfs.OS, fail: func(c call) error {
			if c.op == op && strings.Contains(c.path, ".pawl-") {
				return syscall.EIO
			}
			return nil
		}}
		ck := ckOpen[cursorState](t, path, pawl.KeepVersions(3), pawl.WithFileSystem(fault))
		for i := range 20 {
			if err := ck.Save(cursorState{Cursor: 100 + i}); !errors.Is(err, syscall.EIO) {
				t.Fatalf("%s: save %d: %v", op, i, err)
			}
		}
		names := strings.Join(ckNames(t, filepath.Dir(path)), " ")
		if got := cursors(t, path); got != "10 8 9" && got != "10 8 9 10" { // a second name of 10
			t.Errorf("after failures of %s: %s (%s)", op, got, names)
		}
		fault.fail = nil
		ckNil(t, ck.Save(cursorState{Cursor: 11}))
		if got := cursors(t, path); got != "11 9 10" {
			t.Errorf("after the next save: %s", got)
		}
	}
}

func TestVersionsOfStrangers(t *testing.T) {
	// A file that was restored from an old copy does not overwrite a version.
	path := saved(t, 3, pawl.KeepVersions(9))
	ckWrite(t, path, ckRead(t, path+".v000000000001"))
	ckWrite(t, path+".v000000000001", "somebody's notes")
	for _, name := range []string{".v12", ".v000000000000", ".vabcdefghijkl", ".v00000000000x", ".v000000000002.bak"} {
		ckWrite(t, path+name, "not a version")
	}
	ck := ckOpen[cursorState](t, path, pawl.KeepVersions(9))
	ckNil(t, ck.Save(cursorState{Cursor: 4}))
	if ckRead(t, path+".v000000000001") != "somebody's notes" {
		t.Error("a version was overwritten")
	}
	if text := ckRead(t, path+".v000000000001~1"); !strings.Contains(text, `"cursor":1`) {
		t.Errorf("the restored file was kept as %s", text)
	}
	if text := ckRead(t, path); !strings.Contains(text, `"generation":3,`) && !strings.Contains(text, `"generation":4,`) {
		t.Errorf("a generation was given out twice: %s", text)
	}
}

// A version that can be neither linked nor copied, or a close that fails, is no save.
func TestNoSaveWithoutItsParts(t *testing.T) {
	for name, broken := range map[string]func(call) bool{
		"version": func(c call) bool {
			return c.op == "link" || c.op == "open" && strings.HasSuffix(c.path, ".pawl-copy")
		},
		"close": func(c call) bool { return c.op == "close" && strings.HasSuffix(c.path, ".pawl-new") },
		"mode":  func(c call) bool { return c.op == "fstat" && strings.HasSuffix(c.path, ".pawl-new") },
	} {
		path := saved(t, 3, pawl.KeepVersions(2))
		fsys := &faultFS{FS: vfs.OS}
		ck := ckOpen[cursorState](t, path, pawl.KeepVersions(2), pawl.WithFileSystem(fsys))
		fsys.fail = func(c call) error {
			if broken(c) {
				return syscall.EDQUOT
			}
			return nil
		}
		ckWant(t, ck.Save(cursorState{Cursor: 4}), syscall.EDQUOT, "what was last saved is intact")
		if name == "version" {
			ckWant(t, ck.Clear(), syscall.EDQUOT, "what was last saved is intact")
		}
		if got := cursors(t, path); got != "3 2" {
			t.Errorf("%s: %s", name, got)
		}
		fsys.fail = nil
		ckNil(t, ck.Save(cursorState{Cursor: 4}))
		if got := cursors(t, path); got != "4 3" {
			t.Errorf("%s, then: %s", name, got)
		}
	}
}

// What happens between the first look and the lock is seen.
func TestRaceForTheLock(t *testing.T) {
	path := saved(t, 1)
	ck := ckOpen[cursorState](t, path, pawl.WithBeforeLock(func() { ckNil(t, os.Remove(path)) }))
	if ck.Resumed() {
		t.Error("a removed file was resumed")
	}
	ckNil(t, ck.Close())
	ck = ckOpen[cursorState](t, path, pawl.WithBeforeLock(func() { ckWrite(t, path, `{"state":{"cursor":8},"status":"in_progress"}`) }))
	if ck.State().Cursor != 8 {
		t.Errorf("the other's state was not seen: %+v", ck.State())
	}
	ckNil(t, ck.Close())
	_, err := pawl.OpenFile[cursorState](path, pawl.WithBeforeLock(func() {
		ckNil(t, os.Remove(path))
		ckNil(t, os.Mkdir(path, 0o700))
	}))
	ckWant(t, err, pawl.ErrInvalid, "not a regular file but a directory")
}
