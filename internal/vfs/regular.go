package vfs

import (
	"github.com/pawlgo/pawl/internal/regular"
)

// OpenRegular opens the plain file at path for reading, and nothing else: see
// [regular.Open].
func OpenRegular(fsys FS, path string) (File, error) {
	return regular.OpenWith(path, fsys.Lstat, func(name string, flag int) (File, error) { return fsys.OpenFile(name, flag, 0) })
}
