package vfs

import (
	"errors"
	"io/fs"
	"os"
	"sort"
	"sync/atomic"
	"syscall"

	"github.com/pawlgo/pawl/internal/lock"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f, new(atomic.Pointer[fileID])}, nil
}

func (osFS) Rename(oldname, newname string) error      { return rename(oldname, newname) }
func (osFS) Link(oldname, newname string) error        { return os.Link(oldname, newname) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (osFS) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)    { return os.Lstat(name) }
func (osFS) SameFile(a, b fs.FileInfo) bool            { return os.SameFile(a, b) }

func (osFS) ReadDir(name string) ([]string, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	sort.Strings(names)
	return names, err
}

func (osFS) SyncDir(name string) error { return syncDir(name) }

// Lchown gives a name, not what a link leads to, to another user and group.
func (osFS) Lchown(name string, uid, gid int) error { return os.Lchown(name, uid, gid) }

// osFile is *os.File with the sync and the cache calls of this package.
type osFile struct {
	*os.File
	id *atomic.Pointer[fileID] // once it is known
}

// fileID tells a file from all others while it is open.
type fileID struct {
	ino          uint64
	major, minor uint32
}

func (f osFile) Sync() error {
	return untilNotInterrupted(func() error { return fdatasync(f.File) })
}

// TryLock takes an exclusive lock on the file, freed when it is closed, or returns a
// *lock.HeldError.
func (f osFile) TryLock() error { return lock.TryFile(f.File) }

func (f osFile) DropCache(off int64) error { return dropCache(f.File, off) }

// IsUnsupported reports whether err says that the file system does not have the
// operation (as some network and FUSE file systems answer to a directory sync),
// as opposed to having tried it and failed.
func IsUnsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// IsReadOnly reports whether err comes from a file system that takes no writes.
func IsReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
