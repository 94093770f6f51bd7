package killfs

import (
	"io/fs"

	"github.com/pawlgo/pawl/internal/vfs"
)

// file is an open file.
type file struct {
	vfs.File
	fs *FS
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.fs.alive(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.alive(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n := 0
	err := f.fs.change(content(p), func() (err error) {
		n, err = f.File.WriteAt(p, off)
		return err
	}, func() {
		// Less than the record without its newline, which would be the whole of it.
		f.File.WriteAt(p[:len(p)/2], off) //nolint:errcheck // nobody hears of it
	})
	return n, err
}

func (f *file) Sync() error {
	if err := f.fs.alive(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) Truncate(size int64) error {
	return f.fs.change("truncate", func() error { return f.File.Truncate(size) }, nil)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fs.alive(); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// TryLock locks the file where the base can.
func (f *file) TryLock() error {
	if err := f.fs.alive(); err != nil {
		return err
	}
	if l, ok := f.File.(interface{ TryLock() error }); ok {
		return l.TryLock()
	}
	return nil
}
