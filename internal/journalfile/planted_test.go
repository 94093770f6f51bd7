package journalfile_test

import (
	"io/fs"

	"github.com/pawlgo/pawl/internal/vfs"
)

// planted is a file system with a bug: it stands for a journal that forgets a call,
// makes it too late, or does not look at what it returns. Each hook replaces one call
// if it is set.
type planted struct {
	vfs.FS
	state map[string]int // what a bug remembers
	blind bool           // the size is what the writer left, whatever it is

	sync     func(f *plantedFile) error
	truncate func(f *plantedFile, size int64) error
	write    func(f *plantedFile, p []byte, off int64) (int, error)
	drop     func(f *plantedFile, off int64) error
	rename   func(p *planted, from, to string) error
	syncDir  func(p *planted, name string) error
	same     func(a, b fs.FileInfo) bool
}

// plantedFile is an open file, with what a bug remembers of it.
type plantedFile struct {
	vfs.File
	p      *planted
	name   string
	failed bool  // the last write
	cut    bool  // since the last flush
	syncs  int   // so far
	left   int64 // the size that the writer thinks it has, -1 if it never knew
}

func (p *planted) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := p.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	h := &plantedFile{File: f, p: p, name: name, left: -1}
	if i, err := f.Stat(); err == nil {
		h.left = i.Size()
	}
	return h, nil
}

func (p *planted) Rename(from, to string) error {
	if p.rename != nil {
		return p.rename(p, from, to)
	}
	return p.FS.Rename(from, to)
}

// Link gives a name too, by which a new journal gets its own.
func (p *planted) Link(from, to string) error {
	if p.rename != nil {
		return p.rename(p, from, to)
	}
	return p.FS.Link(from, to)
}

func (p *planted) SyncDir(name string) error {
	if p.syncDir != nil {
		return p.syncDir(p, name)
	}
	return p.FS.SyncDir(name)
}

func (p *planted) SameFile(a, b fs.FileInfo) bool {
	if p.same != nil {
		return p.same(a, b)
	}
	if r, ok := a.(resized); ok {
		a = r.FileInfo
	}
	return p.FS.SameFile(a, b)
}

func (f *plantedFile) Sync() error {
	f.syncs++
	if f.p.sync != nil {
		return f.p.sync(f)
	}
	return f.File.Sync()
}

func (f *plantedFile) Truncate(size int64) error {
	f.left, f.cut = size, true
	if f.p.truncate != nil {
		return f.p.truncate(f, size)
	}
	return f.File.Truncate(size)
}

func (f *plantedFile) WriteAt(b []byte, off int64) (n int, err error) {
	if f.p.write != nil {
		n, err = f.p.write(f, b, off)
	} else {
		n, err = f.File.WriteAt(b, off)
	}
	if f.failed = err != nil; !f.failed && f.left >= 0 {
		f.left = max(f.left, off+int64(len(b)))
	}
	return n, err
}

func (f *plantedFile) DropCache(off int64) error {
	if f.p.drop != nil {
		return f.p.drop(f, off)
	}
	return f.File.DropCache(off)
}

func (f *plantedFile) Stat() (fs.FileInfo, error) {
	i, err := f.File.Stat()
	if err == nil && f.p.blind && f.left >= 0 {
		return resized{i, f.left}, nil
	}
	return i, err
}

// resized is a file's description with another size.
type resized struct {
	fs.FileInfo
	size int64
}

func (r resized) Size() int64 { return r.size }
