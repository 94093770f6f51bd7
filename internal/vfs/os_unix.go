//go:build !windows

package vfs

import (
	"io/fs"
	"os"
	"syscall"
)

func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

func rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// RenameNew is [RenameNew] with what the kernel has for it.
func (o osFS) RenameNew(oldname, newname string) error {
	return renameNew(o, oldname, newname, renameExclusive)
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// ownerOf returns the user and group of a file; ok is false where there are none.
func ownerOf(fi fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
