package crashfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/pawlgo/pawl/internal/vfs"
)

// FS is a file system. Its methods are safe for concurrent use.
type FS struct {
	// Before and After, if set, are called around every operation, without locks
	// held: they may call Images, Clone and Hash. Set them before use.
	Before, After func(Op)
	// Fault, if set, says which operations fail.
	Fault func(Op) Fault

	mu     sync.Mutex
	root   *inode
	n      int
	ofKind [kinds]int
	stop   int // operations behind the stopth do nothing, if > 0
}

var _ vfs.FS = (*FS)(nil)

// New returns an empty file system.
func New() *FS { return &FS{root: newDir()} }

func newDir() *inode { return &inode{dir: newDirectory(), mode: fs.ModeDir | 0o700} }

// StopAfter cuts the power behind the nth operation: those that follow fail with
// [ErrStopped] and do nothing.
func (f *FS) StopAfter(n int) { f.stop = n }

// Ops returns the number of operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// Count returns the number of operations of a kind so far.
func (f *FS) Count(k Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ofKind[k]
}

// do runs an operation with its hooks and its fault. When body runs the lock is
// held; it is told the fault if the operation is to fail, and not run at all if
// a fault leaves it nothing to do.
func (f *FS) do(kind Kind, path string, body func(Fault) error) error {
	return f.doSized(kind, path, 0, body)
}

// doSized is do with the number of bytes to be written.
func (f *FS) doSized(kind Kind, path string, size int, body func(Fault) error) error {
	f.mu.Lock()
	f.n++
	f.ofKind[kind]++
	op := Op{f.n, f.ofKind[kind], kind, path, size}
	if f.stop > 0 && op.N > f.stop {
		f.mu.Unlock()
		return &fs.PathError{Op: kind.String(), Path: path, Err: ErrStopped}
	}
	f.mu.Unlock()
	if f.Before != nil {
		f.Before(op)
	}
	var fault Fault
	if f.Fault != nil {
		fault = f.Fault(op)
	}
	f.mu.Lock()
	var err error
	if fault.Err == nil || fault.Done || kind == Write || kind == Sync {
		err = body(fault)
	}
	f.mu.Unlock()
	if fault.Err != nil {
		err = fault.Err
	}
	if f.After != nil {
		f.After(op)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = &fs.PathError{Op: kind.String(), Path: path, Err: errno}
	}
	return err
}

// walk returns the directory that holds name, and name's last element.
func (f *FS) walk(name string) (*directory, string, error) {
	name = strings.Trim(filepath.ToSlash(filepath.Clean(name)), "/")
	d := f.root.dir
	for {
		first, rest, more := strings.Cut(name, "/")
		if !more {
			return d, first, nil
		}
		n := d.cur[first]
		switch {
		case n == nil:
			return nil, "", syscall.ENOENT
		case n.dir == nil:
			return nil, "", syscall.ENOTDIR
		}
		d, name = n.dir, rest
	}
}

func (f *FS) find(name string) (*inode, error) {
	d, base, err := f.walk(name)
	if err != nil {
		return nil, err
	}
	if base == "" || base == "." {
		return f.root, nil
	}
	n := d.cur[base]
	if n == nil {
		return nil, syscall.ENOENT
	}
	return n, nil
}

// OpenFile implements [vfs.FS].
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	kind := Open
	f.mu.Lock()
	if _, err := f.find(name); err != nil && flag&os.O_CREATE != 0 {
		kind = Create
	}
	f.mu.Unlock()
	h := &file{fs: f, name: name, write: flag&(os.O_WRONLY|os.O_RDWR) != 0}
	err := f.do(kind, name, func(Fault) error {
		d, base, err := f.walk(name)
		if err != nil {
			return err
		}
		n := d.cur[base]
		switch {
		case n == nil && flag&os.O_CREATE == 0:
			return syscall.ENOENT
		case n == nil:
			n = &inode{mode: perm}
			d.change(change{new: base, node: n})
		case flag&os.O_EXCL != 0:
			return syscall.EEXIST
		case n.dir != nil:
			return syscall.EISDIR
		case flag&os.O_TRUNC != 0:
			n.truncate(0)
		}
		h.node = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Rename implements [vfs.FS], within one directory.
func (f *FS) Rename(oldname, newname string) error {
	return f.do(Rename, newname, func(Fault) error {
		from, oldBase, err := f.walk(oldname)
		if err != nil {
			return err
		}
		to, newBase, err := f.walk(newname)
		switch {
		case err != nil:
			return err
		case from != to:
			return syscall.EXDEV
		case from.cur[oldBase] == nil:
			return syscall.ENOENT
		}
		from.change(change{oldBase, newBase, from.cur[oldBase]})
		return nil
	})
}

// Link implements [vfs.FS].
func (f *FS) Link(oldname, newname string) error {
	return f.do(Link, newname, func(Fault) error {
		n, err := f.find(oldname)
		if err != nil {
			return err
		}
		to, base, err := f.walk(newname)
		switch {
		case err != nil:
			return err
		case to.cur[base] != nil:
			return syscall.EEXIST
		}
		to.change(change{new: base, node: n})
		return nil
	})
}

// Remove implements [vfs.FS].
func (f *FS) Remove(name string) error {
	return f.do(Remove, name, func(Fault) error {
		d, base, err := f.walk(name)
		switch {
		case err != nil:
			return err
		case d.cur[base] == nil:
			return syscall.ENOENT
		case d.cur[base].dir != nil && len(d.cur[base].dir.cur) > 0:
			return syscall.ENOTEMPTY
		}
		d.change(change{old: base, node: d.cur[base]})
		return nil
	})
}

// Mkdir implements [vfs.FS].
func (f *FS) Mkdir(name string, _ fs.FileMode) error {
	return f.do(Mkdir, name, func(Fault) error {
		d, base, err := f.walk(name)
		switch {
		case err != nil:
			return err
		case d.cur[base] != nil:
			return syscall.EEXIST
		}
		d.change(change{new: base, node: newDir()})
		return nil
	})
}

// ReadDir implements [vfs.FS].
func (f *FS) ReadDir(name string) ([]string, error) {
	var names []string
	err := f.do(ReadDir, name, func(Fault) error {
		n, err := f.find(name)
		switch {
		case err != nil:
			return err
		case n.dir == nil:
			return syscall.ENOTDIR
		}
		for entry := range n.dir.cur {
			names = append(names, entry)
		}
		return nil
	})
	sort.Strings(names)
	return names, err
}

// Stat implements [vfs.FS]. There are no links, so it is Lstat too.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	var i info
	err := f.do(Stat, name, func(Fault) error {
		n, err := f.find(name)
		if err == nil {
			i = n.info(name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Lstat implements [vfs.FS].
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.Stat(name) }

// SyncDir implements [vfs.FS].
func (f *FS) SyncDir(name string) error {
	return f.do(SyncDir, name, func(Fault) error {
		n, err := f.find(name)
		switch {
		case err != nil:
			return err
		case n.dir == nil:
			return syscall.ENOTDIR
		}
		n.dir.sync()
		return nil
	})
}

// SameFile implements [vfs.FS].
func (f *FS) SameFile(a, b fs.FileInfo) bool { return a.(info).node == b.(info).node }
