package journalfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/vfs"
)

// originalTemp ends the name of a copy of a damaged journal until it is durable.
const originalTemp = ".damaged" + tempSuffix

// keepOriginal gives the damaged file a second name, or copies it where there are no
// hard links. A name that it has already, or a copy that a repair made that failed later, is
// good as it is: repairing again and again must not fill the disk.
func keepOriginal(fsys vfs.FS, src vfs.File, size int64, path string, warn func(string)) (string, error) {
	for n := 1; n < 1000; n++ {
		name := fmt.Sprintf("%s.damaged-%d", path, n)
		same, err := isOriginal(fsys, src, size, name)
		if same {
			return name, nil
		}
		if err == nil {
			continue // another one
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		err = fsys.Link(path, name)
		if vfs.NoLinks(err) {
			err = copyOriginal(fsys, src, size, path, name, warn)
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s: too many damaged copies beside it", path)
}

// isOriginal reports whether name names src, or a file with the same bytes.
func isOriginal(fsys vfs.FS, src vfs.File, size int64, name string) (bool, error) {
	info, err := fsys.Lstat(name)
	if err != nil {
		return false, err
	}
	mine, err := src.Stat()
	if err != nil {
		return false, err
	}
	if fsys.SameFile(mine, info) {
		return true, nil
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return false, nil
	}
	f, err := fsys.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	same, err := sameBytes(src, f, size)
	if same && f.Sync() != nil {
		return false, nil // who wrote it may have died before that
	}
	return same, err
}

func sameBytes(a, b io.ReaderAt, size int64) (bool, error) {
	x, y := make([]byte, min(size, writerBuffer)), make([]byte, min(size, writerBuffer))
	for off := int64(0); off < size; off += int64(len(x)) {
		x, y = x[:min(int64(len(x)), size-off)], y[:min(int64(len(y)), size-off)]
		for _, r := range []struct {
			io.ReaderAt
			into []byte
		}{{a, x}, {b, y}} {
			if n, err := r.ReadAt(r.into, off); n < len(r.into) {
				return false, err
			}
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}

// copyOriginal is Link for file systems without it, and like it fails with fs.ErrExist. The
// copy gets its name when it is whole and durable, so that a full disk leaves no half of one.
func copyOriginal(fsys vfs.FS, src vfs.File, size int64, path, name string, warn func(string)) error {
	w, err := newWriter(fsys, path+originalTemp, src, 0, 0, warn)
	if err != nil {
		return err
	}
	for err == nil && w.off < size {
		w.buf = make([]byte, min(writerBuffer, size-w.off))
		var n int
		n, err = src.ReadAt(w.buf, w.off)
		if n == len(w.buf) {
			err = w.flush()
		}
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil {
		err = vfs.RenameNew(fsys, w.name, name)
	}
	if err != nil {
		w.discard()
		return err
	}
	return w.f.Close()
}
