package pawl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// Rule 21, C-31: a link stays a link, and what it means is saved.
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
	dir := t.TempDir()
	t.Setenv("TMPDIR", "/nonexistent")
	ck := ckOpen[int](t, filepath.Join(dir, "run.json"))
	for i := range 3 {
		ckNil(t, ck.Save(i))
	}
}
