package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

// plainFS hides what [vfs.OS] has besides [vfs.FS], and may have no links.
type plainFS struct {
	vfs.FS
	link error
}

func (p plainFS) Link(from, to string) error {
	if p.link != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: p.link}
	}
	return p.FS.Link(from, to)
}

// TestRenameNew: a name that something has stays as it is, on every file system.
func TestRenameNew(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{
		"the system's": vfs.OS, "links": plainFS{FS: vfs.OS}, "no links": plainFS{vfs.OS, syscall.EPERM}, "no links at all": plainFS{vfs.OS, syscall.ENOTSUP},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
			f := create(t, from) // open, as a new journal is
			if _, err := f.WriteAt([]byte("new"), 0); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := vfs.RenameNew(fsys, from, to); !errors.Is(err, fs.ErrExist) {
				t.Errorf("onto a file: %v", err)
			}
			if text, err := os.ReadFile(to); err != nil || string(text) != "old" {
				t.Errorf("it holds %q, %v", text, err)
			}
			if err := os.Remove(to); err != nil {
				t.Fatal(err)
			}
			if err := vfs.RenameNew(fsys, from, to); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(to)
			if _, gone := os.Lstat(from); err != nil || string(text) != "new" || !errors.Is(gone, fs.ErrNotExist) {
				t.Errorf("it holds %q, %v; the other name: %v", text, err, gone)
			}
			if err := vfs.RenameNew(fsys, from, to+".x"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("of nothing: %v", err)
			}
		})
	}
	if err := vfs.RenameNew(plainFS{vfs.OS, syscall.EIO}, "a", "b"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a link that failed: %v", err)
	}
}

// TestIdentify: rule 17, what is compared with the name is the open file, and the size is its.
func TestIdentify(t *testing.T) {
	mine, other := filepath.Join(t.TempDir(), "mine"), filepath.Join(t.TempDir(), "other")
	f, g := create(t, mine), create(t, other)
	for file, text := range map[vfs.File]string{f: "12345", g: "123"} {
		if _, err := file.WriteAt([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	for name, fsys := range map[string]vfs.FS{"the system's": vfs.OS, "by Stat": plainFS{FS: vfs.OS}} {
		for path, want := range map[string]bool{mine: true, other: false} {
			if same, size, err := vfs.Identify(fsys, f, path); same != want || size != 5 || err != nil {
				t.Errorf("%s, %s: same %v, %d bytes, %v", name, filepath.Base(path), same, size, err)
			}
		}
		if _, _, err := vfs.Identify(fsys, f, mine+".x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, an absent name: %v", name, err)
		}
	}
}
