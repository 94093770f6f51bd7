package pawl

import (
	"io/fs"

	"github.com/pawlgo/pawl/internal/vfs"
)

// WithFileSystem makes OpenFile work on fsys, for tests that fail it.
func WithFileSystem(fsys vfs.FS) FileOption {
	return fileOption(func(c *fileConfig) { c.fs = fsys })
}

// WithModel makes OpenFile work on a file system in memory, where nobody else is.
func WithModel(fsys vfs.FS) FileOption {
	return fileOption(func(c *fileConfig) {
		c.fs = fsys
		c.lock = func(string) (ownerLock, error) { return noLock{}, nil }
	})
}

// WithBeforeLock calls fn between the first look at the path and the lock.
func WithBeforeLock(fn func()) FileOption {
	return fileOption(func(c *fileConfig) {
		c.lock = func(path string) (ownerLock, error) {
			fn()
			return acquireLock(path)
		}
	})
}

type noLock struct{}

func (noLock) Intact() bool          { return true }
func (noLock) ShareLike(fs.FileInfo) {}
func (noLock) Release() error        { return nil }
