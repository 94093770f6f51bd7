//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// fdatasync is F_FULLFSYNC on macOS and FlushFileBuffers on Windows, as
// os.File.Sync does there.
func fdatasync(f *os.File) error { return f.Sync() }

func renameExclusive(string, string) error { return errors.ErrUnsupported }

func dropCache(*os.File, int64) error { return nil }
