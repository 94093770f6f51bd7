package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// fdatasync flushes the data and the size; times may be lost, which nobody needs.
func fdatasync(f *os.File) error {
	return control(f, "fdatasync", unix.Fdatasync)
}

// control calls fn with f's descriptor, which stays f's meanwhile: with that of Fd,
// a Close at the same time could make fn flush another file, opened since, and a
// record of this one be acknowledged for it.
func control(f *os.File, op string, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var fnErr error
	if conn.Control(func(fd uintptr) { fnErr = fn(int(fd)) }) != nil {
		fnErr = os.ErrClosed // the only error of Control itself, which has no name
	}
	if fnErr != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: fnErr}
	}
	return nil
}

// renameExclusive renames and replaces nothing. Not every file system can.
func renameExclusive(oldname, newname string) error {
	err := unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: oldname, New: newname, Err: err}
	}
	return nil
}

// dropCache works on clean pages only: callers sync first. The kernel drops whole
// folios, so the range starts at off rounded up; callers round down.
func dropCache(f *os.File, off int64) error {
	err := control(f, "fadvise", func(fd int) error { return unix.Fadvise(fd, off, 0, unix.FADV_DONTNEED) })
	if IsUnsupported(err) {
		return nil
	}
	return err
}
