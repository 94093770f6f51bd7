package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// openFile is os.OpenFile for the flags that pawl uses, but lets the file be renamed,
// replaced and removed while it is open, as Unix does: a journal gets its name, and a
// compaction takes it away, while it is open. Package os shares a file for reading and
// writing only.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	access := uint32(windows.GENERIC_READ)
	attrs := uint32(windows.FILE_ATTRIBUTE_NORMAL)
	switch flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	default:
		attrs |= windows.FILE_FLAG_BACKUP_SEMANTICS // a directory opens, and says what it is
	}
	create := uint32(windows.OPEN_EXISTING)
	switch flag & (os.O_CREATE | os.O_EXCL | os.O_TRUNC | os.O_APPEND) {
	case 0:
	case os.O_CREATE:
		create = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_EXCL:
		create = windows.CREATE_NEW
		attrs |= windows.FILE_FLAG_OPEN_REPARSE_POINT // not through a link
	default:
		return os.OpenFile(name, flag, perm)
	}
	h, err := windows.CreateFile(path, access, shareAll, nil, create, attrs, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// rename asks for write-through, since Windows cannot sync a directory, and tries again
// for a while when somebody holds the file (see golang/go#32188).
func rename(oldname, newname string) error {
	err := whileHeld(func() error { return move(oldname, newname, true) }, isHeld, time.Now, time.Sleep)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

// RenameNew is [RenameNew]. A move replaces nothing unless it is told to; and unlike a link it
// writes through.
func (osFS) RenameNew(oldname, newname string) error {
	err := whileHeld(func() error { return move(oldname, newname, false) }, isHeld, time.Now, time.Sleep)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

func move(oldname, newname string, replace bool) error {
	from, err := windows.UTF16PtrFromString(oldname)
	if err != nil {
		return err
	}
	if newname, err = filepath.Abs(newname); err != nil {
		return err // moveOpen would take another directory for it
	}
	to, err := windows.UTF16FromString(newname)
	if err != nil {
		return err
	}
	flags := uint32(windows.MOVEFILE_WRITE_THROUGH)
	if replace {
		flags |= windows.MOVEFILE_REPLACE_EXISTING
	}
	err = windows.MoveFileEx(from, &to[0], flags)
	if replace && isHeld(err) && moveOpen(from, to) == nil {
		return nil
	}
	return err
}

// renameInfo is FILE_RENAME_INFO with room for a name.
type renameInfo struct {
	flags     uint32
	root      windows.Handle
	nameBytes uint32
	name      [windows.MAX_LONG_PATH]uint16
}

// moveOpen replaces a file that is open, by whoever shares it: a compaction has both files
// open. MoveFileEx does not do that; the semantics of POSIX, which NTFS has since Windows 10,
// do. The flush makes the name durable.
func moveOpen(from *uint16, to []uint16) error {
	const attrs = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_WRITE_THROUGH
	h, err := windows.CreateFile(from, windows.DELETE|windows.GENERIC_WRITE|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING, attrs, 0)
	if err != nil {
		return err
	}
	info := &renameInfo{flags: windows.FILE_RENAME_REPLACE_IF_EXISTS | windows.FILE_RENAME_POSIX_SEMANTICS}
	info.nameBytes = 2 * uint32(copy(info.name[:len(info.name)-1], to[:len(to)-1]))
	err = windows.SetFileInformationByHandle(h, windows.FileRenameInfoEx, (*byte)(unsafe.Pointer(info)), uint32(unsafe.Sizeof(*info)))
	if err == nil {
		err = windows.FlushFileBuffers(h)
	}
	return errors.Join(err, windows.CloseHandle(h))
}

// syncDir has nothing to do: rename writes through.
func syncDir(string) error { return nil }

// ownerOf says that files have no numeric owner here.
func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
