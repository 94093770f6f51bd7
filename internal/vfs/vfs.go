// Package vfs is the seam between pawl and the file system: everything pawl
// writes passes through the dozen operations of [FS] and [File], so that tests
// can fail, tear and forget each of them.
package vfs

import (
	"io/fs"
	"time"
)

// FS is a file system. Names are those of the operating system. Errors are
// *fs.PathError or *os.LinkError as package os returns them.
type FS interface {
	// OpenFile opens name with the flags of package os. The descriptor is not
	// inherited by child processes (O_CLOEXEC).
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Rename replaces newname by oldname atomically; durable after SyncDir.
	Rename(oldname, newname string) error
	// Link makes newname another name of oldname; fails with fs.ErrExist.
	Link(oldname, newname string) error
	// Remove removes a file; durable after SyncDir.
	Remove(name string) error
	// Mkdir makes one directory; durable after SyncDir of its parent.
	Mkdir(name string, perm fs.FileMode) error
	// ReadDir returns the names in a directory, sorted.
	ReadDir(name string) ([]string, error)
	// Stat and Lstat describe a name, following or not following a last link.
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in a directory durable.
	// It returns an error for which [IsUnsupported] holds where the file
	// system cannot sync a directory.
	SyncDir(name string) error
	// SameFile reports whether both describe one file, as os.SameFile.
	SameFile(a, b fs.FileInfo) bool
}

// File is an open file.
type File interface {
	Read(p []byte) (int, error)
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt writes at an offset. A short write returns an error.
	WriteAt(p []byte, off int64) (int, error)
	// Sync makes the file's data, and the size needed to read it, durable
	// (fdatasync; F_FULLFSYNC on macOS). It retries EINTR and nothing else: after
	// any other error the kernel may have dropped the pages, so a later nil
	// would mean nothing.
	Sync() error
	Truncate(size int64) error
	// DropCache syncs nothing and forgets what is cached from off on, so that the
	// next read shows what the device holds. A folio, which may be megabytes large,
	// stays if it begins before off. No-op where there is no such call.
	DropCache(off int64) error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	// Chown gives the file to another user and group; -1 leaves one as it is.
	Chown(uid, gid int) error
	Close() error
	Name() string
}

// Now is the clock that decorates records; order never depends on it.
func Now() time.Time { return time.Now().UTC() }
