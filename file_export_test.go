package pawl

import "github.com/pawlgo/pawl/internal/vfs"

// WithFileSystem makes OpenFile work on fsys, for tests that fail it.
func WithFileSystem(fsys vfs.FS) FileOption {
	return fileOption(func(c *fileConfig) { c.fs = fsys })
}
