package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// RenameNew gives a file a name that nothing has, in the place of the one it has; if
// something has it, that stays, and the error is fs.ErrExist. It is durable after SyncDir. A
// process that dies in the midst of it may leave the file under both names.
func RenameNew(fsys FS, oldname, newname string) error {
	if r, ok := fsys.(interface {
		RenameNew(oldname, newname string) error
	}); ok {
		return r.RenameNew(oldname, newname)
	}
	return renameNew(fsys, oldname, newname, func(string, string) error { return errors.ErrUnsupported })
}

// renameNew links, since a rename replaces what is there. Where there are no hard links
// exclusive renames, and where that is not to be had either, it looks and then renames, which
// leaves a moment between the two.
func renameNew(fsys FS, oldname, newname string, exclusive func(oldname, newname string) error) error {
	err := fsys.Link(oldname, newname)
	if err == nil {
		fsys.Remove(oldname) //nolint:errcheck // it has its name; what is left is a second one, and harmless
		return nil
	}
	if !NoLinks(err) {
		return err
	}
	if err := exclusive(oldname, newname); !IsUnsupported(err) {
		return err
	}
	if _, err := fsys.Lstat(newname); err == nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.Rename(oldname, newname)
}

// NoLinks reports whether the error of a Link says that the file system has no hard links, as
// FAT and some network file systems, or that they are not allowed.
func NoLinks(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrPermission) || IsUnsupported(err))
}
