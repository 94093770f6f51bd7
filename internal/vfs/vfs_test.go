package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

func create(t *testing.T, name string) vfs.File {
	t.Helper()
	f, err := vfs.OS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f := create(t, name)
	if f.Name() != name {
		t.Errorf("named %s", f.Name())
	}
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	if n, err := f.WriteAt(text, 100); n != len(text) || err != nil {
		t.Fatal(n, err)
	}
	// Dropping the cache before and after a sync: not a byte may be lost by it.
	for range 2 {
		if err := f.DropCache(0); err != nil {
			t.Error(err)
		}
		if err := f.Sync(); err != nil {
			t.Error(err)
		}
	}
	got := make([]byte, 100+len(text))
	if n, err := f.ReadAt(got, 0); n != len(got) || err != nil || !bytes.Equal(got, append(make([]byte, 100), text...)) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := f.Truncate(50); err != nil {
		t.Error(err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() != 50 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	named, err := vfs.OS.Lstat(name)
	if err != nil || !vfs.OS.SameFile(info, named) {
		t.Errorf("not the same file: %v", err)
	}
}

// TestClosed: a closed file is never flushed in the place of another that got its
// number, and no nil is returned for it.
func TestClosed(t *testing.T) {
	f := create(t, filepath.Join(t.TempDir(), "f"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"sync": f.Sync(), "truncate": f.Truncate(0), "close": f.Close()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runtime.GOOS == "linux" {
		if err := f.DropCache(0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("drop: %v", err)
		}
	}
}

// TestCloseWhileSyncing: under the race detector, and with other files being opened
// all the time, which get the numbers that are free.
func TestCloseWhileSyncing(t *testing.T) {
	dir := t.TempDir()
	for i := range 200 {
		f := create(t, filepath.Join(dir, fmt.Sprint(i)))
		done := make(chan error)
		go func() {
			for {
				if err := f.Sync(); err != nil {
					done <- err
					return
				}
			}
		}()
		f.Close()
		if err := <-done; !errors.Is(err, os.ErrClosed) {
			t.Fatal(err)
		}
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	create(t, a).Close()
	if err := vfs.OS.Link(a, b); err != nil {
		t.Fatal(err)
	}
	if err := vfs.OS.Link(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link onto a file: %v", err)
	}
	if err := vfs.OS.Rename(a, c); err != nil {
		t.Error(err)
	}
	if err := vfs.OS.Rename(a, c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rename of nothing: %v", err)
	}
	create(t, a).Close()
	if err := vfs.OS.Rename(a, c); err != nil {
		t.Errorf("rename over a file: %v", err)
	}
	if err := vfs.OS.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Error(err)
	}
	if names, err := vfs.OS.ReadDir(dir); err != nil || strings.Join(names, " ") != "b c sub" {
		t.Errorf("%q, %v", names, err)
	}
	if err := vfs.OS.SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := vfs.OS.SyncDir(a); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sync of an absent directory: %v", err)
	}
	if err := vfs.OS.Remove(c); err != nil {
		t.Error(err)
	}
	for _, err := range []error{vfs.OS.Remove(c), second(vfs.OS.Stat(c)), second(vfs.OS.Lstat(c)), second(vfs.OS.ReadDir(c)), second(vfs.OS.OpenFile(c, os.O_RDWR, 0))} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestErrorClasses: only "there is no such operation" may be passed over; an error of
// the operation never.
func TestErrorClasses(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS} {
		if err := (&os.PathError{Op: "sync", Err: errno}); !vfs.IsUnsupported(err) {
			t.Errorf("%v is not taken for unsupported", errno)
		}
	}
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.ENOENT, syscall.EINTR} {
		if err := (&os.PathError{Op: "sync", Err: errno}); vfs.IsUnsupported(err) {
			t.Errorf("%v is taken for unsupported", errno)
		}
	}
	if vfs.IsUnsupported(nil) || vfs.IsReadOnly(nil) || !vfs.IsReadOnly(&os.PathError{Err: syscall.EROFS}) || vfs.IsReadOnly(syscall.EIO) {
		t.Error("classes of nil or of a read-only file system are wrong")
	}
}
