package vfs

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// rename asks for write-through, since Windows cannot sync a directory, and
// tries again for a while: scanners and indexers hold a file open without
// delete sharing for some milliseconds (see golang/go#32188).
func rename(oldname, newname string) error {
	from, err := windows.UTF16PtrFromString(oldname)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	to, err := windows.UTF16PtrFromString(newname)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	const flags = windows.MOVEFILE_REPLACE_EXISTING | windows.MOVEFILE_WRITE_THROUGH
	delay := time.Millisecond
	for deadline := time.Now().Add(2 * time.Second); ; delay *= 2 {
		err = windows.MoveFileEx(from, to, flags)
		held := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if err == nil {
			return nil
		}
		if !held || time.Now().After(deadline) {
			return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
		}
		time.Sleep(delay)
	}
}

// syncDir has nothing to do: rename writes through.
func syncDir(string) error { return nil }

// ownerOf says that files have no numeric owner here.
func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
