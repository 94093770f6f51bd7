package pawl_test

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/pawlgo/pawl/internal/vfs"
)

// call is one operation on a faultFS.
type call struct {
	n    int // from 1
	op   string
	path string
}

func (c call) String() string { return fmt.Sprintf("%d: %s %s", c.n, c.op, c.path) }

// faultFS lets operations on a file system fail: fail before they have done
// anything, failAfter when they have, tear in the middle of a write.
type faultFS struct {
	vfs.FS
	calls                 []call
	fail, failAfter, tear func(call) error
}

// do counts an operation and lets it fail.
func (f *faultFS) do(op, path string, run func() error) error {
	c := call{len(f.calls) + 1, op, path}
	f.calls = append(f.calls, c)
	if f.fail != nil {
		if err := f.fail(c); err != nil {
			return &fs.PathError{Op: op, Path: path, Err: err}
		}
	}
	err := run()
	if err == nil && f.failAfter != nil {
		if late := f.failAfter(c); late != nil {
			return &fs.PathError{Op: op, Path: path, Err: late}
		}
	}
	return err
}

func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (file vfs.File, err error) {
	err = f.do("open", name, func() error {
		file, err = f.FS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		if file != nil {
			file.Close()
		}
		return nil, err
	}
	return &faultFile{file, f}, nil
}

func (f *faultFS) Rename(from, to string) error {
	return f.do("rename", from, func() error { return f.FS.Rename(from, to) })
}

func (f *faultFS) Link(from, to string) error {
	return f.do("link", to, func() error { return f.FS.Link(from, to) })
}

func (f *faultFS) Remove(name string) error {
	return f.do("remove", name, func() error { return f.FS.Remove(name) })
}

func (f *faultFS) Mkdir(name string, perm fs.FileMode) error {
	return f.do("mkdir", name, func() error { return f.FS.Mkdir(name, perm) })
}

func (f *faultFS) SyncDir(name string) error {
	return f.do("syncdir", name, func() error { return f.FS.SyncDir(name) })
}

func (f *faultFS) Lstat(name string) (fi fs.FileInfo, err error) {
	err = f.do("lstat", name, func() error {
		fi, err = f.FS.Lstat(name)
		return err
	})
	return fi, err
}

func (f *faultFS) ReadDir(name string) (names []string, err error) {
	err = f.do("readdir", name, func() error {
		names, err = f.FS.ReadDir(name)
		return err
	})
	return names, err
}

type faultFile struct {
	vfs.File
	fs *faultFS
}

func (f *faultFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.do("write", f.Name(), func() error {
		if f.fs.tear != nil {
			if err := f.fs.tear(f.fs.calls[len(f.fs.calls)-1]); err != nil {
				n, _ = f.File.WriteAt(p[:len(p)/2], off)
				return err
			}
		}
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *faultFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.fs.do("read", f.Name(), func() error {
		n, err = f.File.ReadAt(p, off)
		return nil // the end of the file is no fault
	})
	if _, faulty := err.(*fs.PathError); faulty {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *faultFile) Sync() error  { return f.fs.do("sync", f.Name(), f.File.Sync) }
func (f *faultFile) Close() error { return f.fs.do("close", f.Name(), f.File.Close) }

func (f *faultFile) Chmod(mode fs.FileMode) error {
	return f.fs.do("chmod", f.Name(), func() error { return f.File.Chmod(mode) })
}

func (f *faultFile) Chown(uid, gid int) error {
	return f.fs.do("chown", f.Name(), func() error { return f.File.Chown(uid, gid) })
}

func (f *faultFile) DropCache(off int64) error {
	return f.fs.do("dropcache", f.Name(), func() error { return f.File.DropCache(off) })
}

func (f *faultFile) Stat() (fi fs.FileInfo, err error) {
	err = f.fs.do("fstat", f.Name(), func() error {
		fi, err = f.File.Stat()
		return err
	})
	return fi, err
}
