package memfs

import (
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/internal/lock"
)

// node is a file, or a directory if it has no content.
type node struct {
	content *content
	mode    atomic.Uint32 // fs.FileMode
	owner   atomic.Pointer[file]
}

func newNode(mode fs.FileMode) *node {
	n := &node{}
	if !mode.IsDir() {
		n.content = &content{}
	}
	n.mode.Store(uint32(mode))
	return n
}

func (n *node) isDir() bool { return n.content == nil }

// file is an open file.
type file struct {
	node   *node
	name   string
	write  bool
	pos    atomic.Int64 // of Read
	closed atomic.Bool
}

func (f *file) Name() string { return f.name }

// check says why an operation is not possible.
func (f *file) check(op string, write bool) error {
	switch {
	case f.closed.Load():
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	case write && !f.write:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrPermission}
	}
	return nil
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	n := f.node.content.readAt(p, f.pos.Load())
	f.pos.Add(int64(n))
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	n := f.node.content.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	f.node.content.writeAt(p, off)
	return len(p), nil
}

func (f *file) Truncate(size int64) error {
	if err := f.check("truncate", true); err != nil {
		return err
	}
	f.node.content.truncate(size)
	return nil
}

func (f *file) Sync() error           { return f.check("sync", false) }
func (f *file) DropCache(int64) error { return f.check("fadvise", false) }
func (f *file) Chown(int, int) error  { return f.check("chown", false) }

func (f *file) Chmod(mode fs.FileMode) error {
	if err := f.check("chmod", false); err != nil {
		return err
	}
	f.node.mode.Store(uint32(mode.Perm()))
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.check("stat", false); err != nil {
		return nil, err
	}
	return f.node.info(f.name), nil
}

// TryLock locks the file until it is closed, or returns a *lock.HeldError.
func (f *file) TryLock() error {
	if err := f.check("lock", false); err != nil {
		return err
	}
	if !f.node.owner.CompareAndSwap(nil, f) && f.node.owner.Load() != f {
		return &lock.HeldError{Path: f.name}
	}
	return nil
}

func (f *file) Close() error {
	if !f.closed.CompareAndSwap(false, true) {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.node.owner.CompareAndSwap(f, nil)
	return nil
}

// info describes a file at one moment.
type info struct {
	node *node
	name string
	size int64
	mode fs.FileMode
}

func (n *node) info(name string) info {
	i := info{node: n, name: filepath.Base(name), mode: fs.FileMode(n.mode.Load())}
	if !n.isDir() {
		i.size = n.content.length()
	}
	return i
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
