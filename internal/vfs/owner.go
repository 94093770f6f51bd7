package vfs

import "io/fs"

// KeepOwner gives a new file the owner, group and mode of the one that it replaces.
// Where that is not allowed it warns and goes on, and the group of another user gets
// no more rights than everybody has.
func KeepOwner(f File, old fs.FileInfo, warn func(string)) {
	mode := old.Mode().Perm()
	fi, err := f.Stat()
	if err != nil {
		return // syncing this file will fail too, and say so
	}
	uid, gid, ok := ownerOf(old)
	newUID, newGID, _ := ownerOf(fi)
	if ok && (uid != newUID || gid != newGID) && f.Chown(uid, gid) != nil {
		warn("the file's owner could not be kept")
		if gid != newGID && f.Chown(-1, gid) != nil {
			mode = mode&^0o070 | mode&0o007<<3
		}
	}
	if mode != fi.Mode().Perm() && f.Chmod(mode) != nil {
		warn("the file's mode could not be kept")
	}
}

// GiveTo gives what was just made at name to the owner of another file, as root must when it
// writes into the directory of a user: what the user cannot read is lost on him.
func GiveTo(fsys FS, name string, like fs.FileInfo) error {
	c, ok := fsys.(interface {
		Lchown(name string, uid, gid int) error
	})
	uid, gid, known := ownerOf(like)
	if !ok || !known {
		return nil
	}
	fi, err := fsys.Lstat(name)
	if err != nil {
		return err
	}
	if now, _, _ := ownerOf(fi); now == uid {
		return nil
	}
	return c.Lchown(name, uid, gid)
}
