package pawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl/internal/regular"
	"github.com/pawlgo/pawl/internal/vfs"
)

// What stands beside the file run.json. The whole name is kept in each, so that
// run.json and run.db never share one; and none can be the temporary file of the
// Python original, which replaces the extension by ".tmp".
const (
	lockSuffix    = ".lock"      // who owns it; Python programs do not look
	newSuffix     = ".pawl-new"  // the next state, while it is being written
	copySuffix    = ".pawl-copy" // a version, where there are no hard links
	versionSuffix = ".v"         // and the generation in twelve digits
	damagedSuffix = ".damaged"   // set aside by FallBack
	longestSuffix = ".v123456789012~99"
	maxName       = 255 // bytes of a file name on every system that matters
)

// resolveFile returns the absolute path of the file that path means. It follows a
// chain of links at the end of the path, since a rename onto a link would replace
// the link and leave its target behind unnoticed; the last target need not exist.
func resolveFile(fsys vfs.FS, path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("%w: the path is empty", ErrInvalid)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%w: there is a NUL in the path", ErrInvalid)
	case os.IsPathSeparator(path[len(path)-1]):
		return "", fmt.Errorf("%w: the path ends like a directory's", ErrInvalid)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range 40 {
		fi, err := vfs.OnceMore(func() (fs.FileInfo, error) { return fsys.Lstat(path) })
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode()&fs.ModeSymlink == 0 {
			return path, checkName(filepath.Base(path))
		}
		if err != nil {
			return "", err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%w: too many links", ErrInvalid)
}

func checkName(base string) error {
	if limit := maxName - len(longestSuffix); len(base) > limit {
		return fmt.Errorf("%w: the file name has %d bytes, at most %d leave room for the names beside it", ErrInvalid, len(base), limit)
	}
	for _, suffix := range [...]string{lockSuffix, newSuffix, copySuffix} {
		if strings.HasSuffix(base, suffix) {
			return fmt.Errorf("%w: names ending in %q belong to the files beside a checkpoint", ErrInvalid, suffix)
		}
	}
	return nil
}

// checkRegular refuses everything but a plain file. A rename would replace a device or
// a FIFO by a file, and reading one may never end.
func checkRegular(fi fs.FileInfo) error {
	if err := regular.Check(fi); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// makeDir makes a directory, for its owner only, and those above it that are missing,
// and makes their names durable: a file is not durable in a directory that is not.
//
// A directory that is there may be what a process made that died before it came to that.
// Of those above the parent only what is made here is known to be ours, so of the others
// only the parent's errors count.
func makeDir(fsys vfs.FS, dir string) error {
	if err := mkdirAll(fsys, dir); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	err := fsys.SyncDir(parent)
	if err != nil && !vfs.IsUnsupported(err) && !errors.Is(err, fs.ErrPermission) {
		return err // who may not look into it has made nothing in it
	}
	for up := filepath.Dir(parent); up != parent; parent, up = up, filepath.Dir(up) {
		fsys.SyncDir(up) //nolint:errcheck // see above
	}
	return nil
}

// mkdirAll makes what is missing of a directory and those above it, and syncs each name.
func mkdirAll(fsys vfs.FS, dir string) error {
	fi, err := fsys.Stat(dir)
	if err == nil && !fi.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", ErrInvalid, dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return err
	}
	if err := mkdirAll(fsys, parent); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := fsys.SyncDir(parent); err != nil && !vfs.IsUnsupported(err) {
		return err
	}
	return nil
}
