package crashfs

import (
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// file is an open file.
type file struct {
	fs     *FS
	node   *inode
	name   string
	write  bool
	pos    int64 // of Read
	closed bool
}

func (h *file) do(kind Kind, body func(Fault) error) error {
	return h.doSized(kind, 0, body)
}

func (h *file) doSized(kind Kind, size int, body func(Fault) error) error {
	return h.fs.doSized(kind, h.name, size, func(fault Fault) error {
		if h.closed {
			return syscall.EBADF
		}
		return body(fault)
	})
}

func (h *file) Name() string { return h.name }

func (h *file) Read(p []byte) (int, error) {
	n, err := h.ReadAt(p, h.pos)
	h.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (h *file) ReadAt(p []byte, off int64) (int, error) {
	var n int
	err := h.do(Read, func(Fault) error {
		n = h.node.cur.readAt(p, off)
		return nil
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (h *file) WriteAt(p []byte, off int64) (int, error) {
	var n int
	err := h.doSized(Write, len(p), func(fault Fault) error {
		if !h.write {
			return syscall.EBADF
		}
		n = len(p)
		if fault.Err != nil && !fault.Done {
			n = min(n, fault.Short)
		}
		if n > 0 {
			h.node.write(p[:n], off)
		}
		return nil
	})
	return n, err
}

func (h *file) Sync() error {
	return h.do(Sync, func(fault Fault) error {
		if fault.Err != nil && !fault.Done {
			h.node.failSync(fault.Reached)
		} else {
			h.node.sync()
		}
		return nil
	})
}

func (h *file) Truncate(size int64) error {
	return h.do(Truncate, func(Fault) error {
		if !h.write {
			return syscall.EINVAL
		}
		h.node.truncate(size)
		return nil
	})
}

func (h *file) DropCache(off int64) error {
	return h.do(DropCache, func(Fault) error {
		h.node.dropCache(off)
		return nil
	})
}

func (h *file) Stat() (fs.FileInfo, error) {
	var i info
	err := h.do(FileStat, func(Fault) error {
		i = h.node.info(h.name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (h *file) Chmod(mode fs.FileMode) error {
	return h.do(Chmod, func(Fault) error {
		h.node.mode = mode
		return nil
	})
}

func (h *file) Chown(int, int) error { return h.do(Chmod, func(Fault) error { return nil }) }

// Close closes even if it reports an error, as close(2) does.
func (h *file) Close() error {
	err := h.do(Close, func(Fault) error { return nil })
	h.closed = true
	return err
}

// info describes a file at one moment.
type info struct {
	node *inode
	name string
	size int64
	mode fs.FileMode
}

func (n *inode) info(name string) info {
	return info{n, filepath.Base(name), n.cur.size, n.mode}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.node }
