package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// fdatasync flushes the data and the size; times may be lost, which nobody needs.
func fdatasync(f *os.File) error {
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// dropCache works on clean pages only: callers sync first. The kernel drops
// whole pages, so the range starts at off rounded up; callers round down.
func dropCache(f *os.File, off int64) error {
	err := unix.Fadvise(int(f.Fd()), off, 0, unix.FADV_DONTNEED)
	if err != nil && !IsUnsupported(err) {
		return &os.PathError{Op: "fadvise", Path: f.Name(), Err: err}
	}
	return nil
}
