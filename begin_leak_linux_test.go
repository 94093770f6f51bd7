package pawl_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/vfs"
)

// A service that lives for months must not keep a descriptor, and with it a lock, of a run that it
// could not begin.
func TestFailedBeginLeaksNoDescriptor(t *testing.T) {
	dir := t.TempDir()
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	other := openStore(t)
	for _, s := range []*pawl.Store{s, other} {
		if _, err := run(t, s, func(context.Context) (int, error) { return 0, errors.New("stop") }, pawl.RunInput(1)); err == nil {
			t.Fatal("no error")
		}
	}
	path := inspect(t, s).Path
	good, err := os.ReadFile(path)
	ckNil(t, err)
	foreign, err := os.ReadFile(inspect(t, other).Path)
	ckNil(t, err)
	damaged := append([]byte(nil), good...)
	damaged[len(damaged)/2] ^= 4
	newer := []byte(strings.Replace(string(good), `"format":1`, `"format":2`, 1))
	open := func() (names []string) {
		fds, err := os.ReadDir("/proc/self/fd")
		ckNil(t, err)
		for _, fd := range fds {
			if link, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(link, dir+"/") {
				names = append(names, link)
			}
		}
		return names
	}
	for name, c := range map[string]struct {
		text []byte
		opts []pawl.RunOption
	}{
		"damaged":          {text: damaged},
		"of another store": {text: foreign},
		"not a journal":    {text: newer}, // its checksum is wrong by now
		"another input":    {text: good, opts: []pawl.RunOption{pawl.RunInput(2)}},
		"a directory":      {},
	} {
		ckNil(t, os.RemoveAll(path))
		if c.text == nil {
			ckNil(t, os.Mkdir(path, 0o700))
		} else {
			ckNil(t, os.WriteFile(path, c.text, 0o600))
		}
		if _, err := s.Begin(t.Context(), "r", c.opts...); err == nil {
			t.Errorf("%s: begun", name)
		}
		if left := open(); len(left) > 0 {
			t.Errorf("%s: open are %q", name, left)
		}
	}
	ckNil(t, os.RemoveAll(path))
	if _, err := s.Begin(t.Context(), "r", pawl.MustExist()); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	if left := open(); len(left) > 0 {
		t.Errorf("absent: open are %q", left)
	}
	// And one that begins and ends.
	ckNil(t, os.WriteFile(path, good, 0o600))
	r, err := s.Begin(t.Context(), "r")
	ckNil(t, err)
	if left := open(); len(left) != 2 {
		t.Errorf("begun: open are %q: the journal and its lock are not found", left)
	}
	ckNil(t, r.Compact())
	if left := open(); len(left) != 2 {
		t.Errorf("compacted: open are %q", left)
	}
	ckNil(t, r.Close())
	if left := open(); len(left) > 0 {
		t.Errorf("closed: open are %q", left)
	}
	// And one whose disk is full when it is open already.
	full, err := pawl.Open(filepath.Join(dir, "store"), hook.StoreFS(fullFS{vfs.OS}).(pawl.StoreOption))
	ckNil(t, err)
	if _, err := full.Begin(t.Context(), "r"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if left := open(); len(left) > 0 {
		t.Errorf("on a full disk: open are %q", left)
	}
}

// fullFS has no room for what is written to an existing file.
type fullFS struct{ vfs.FS }

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	return fullFile{file}, err
}

type fullFile struct{ vfs.File }

func (f fullFile) WriteAt([]byte, int64) (int, error) {
	return 0, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}
