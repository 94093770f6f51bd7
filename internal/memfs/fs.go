package memfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"

	"github.com/pawlgo/pawl/internal/vfs"
)

// FS is a file system. Its root, and the directory that relative names begin at, are
// there from the first; every other directory is made.
type FS struct {
	mu    sync.RWMutex
	nodes map[string]*node // by clean name

	lockMu sync.Mutex
	locks  map[string]*held // by clean name

	watchers vfs.Watchers
}

var (
	_ vfs.FS         = (*FS)(nil)
	_ vfs.Identifier = (*FS)(nil)
	_ vfs.Locker     = (*FS)(nil)
	_ vfs.Watcher    = (*FS)(nil)
)

// New returns an empty file system.
func New() *FS { return &FS{nodes: map[string]*node{}, locks: map[string]*held{}} }

// InMemory says that nothing is gained by writing ahead, see [vfs.GainsByFill].
func (*FS) InMemory() bool { return true }

// top is the directory above all that were made.
var top = newNode(fs.ModeDir | 0o700)

// find returns what a clean name names, nil if nothing does. The caller holds mu.
func (f *FS) find(name string) *node {
	if n := f.nodes[name]; n != nil {
		return n
	}
	if filepath.Dir(name) == name {
		return top
	}
	return nil
}

// parent says why there can be no file of a clean name: its directory is missing. The
// caller holds mu.
func (f *FS) parent(name string) error {
	switch dir := f.find(filepath.Dir(name)); {
	case dir == nil:
		return fs.ErrNotExist
	case !dir.isDir():
		return syscall.ENOTDIR
	}
	return nil
}

// OpenFile opens a file.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	clean := filepath.Clean(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.find(clean)
	var err error
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		err = fs.ErrNotExist
	case n == nil:
		if err = f.parent(clean); err == nil {
			n = newNode(perm.Perm())
			f.nodes[clean] = n
		}
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		err = fs.ErrExist
	case n.isDir():
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if flag&os.O_TRUNC != 0 {
		n.content.truncate(0)
	}
	return &file{node: n, name: name, write: flag&(os.O_WRONLY|os.O_RDWR) != 0}, nil
}

// Rename gives a file another name. Directories are not renamed.
func (f *FS) Rename(oldname, newname string) error {
	return f.twoNames("rename", oldname, newname, func(n *node, from, to string) error {
		if other := f.find(to); other != nil && other.isDir() {
			return fs.ErrExist
		}
		delete(f.nodes, from)
		f.nodes[to] = n
		return nil
	})
}

// Link gives a file a second name.
func (f *FS) Link(oldname, newname string) error {
	return f.twoNames("link", oldname, newname, func(n *node, _, to string) error {
		if f.find(to) != nil {
			return fs.ErrExist
		}
		f.nodes[to] = n
		return nil
	})
}

func (f *FS) twoNames(op, oldname, newname string, change func(n *node, from, to string) error) error {
	from, to := filepath.Clean(oldname), filepath.Clean(newname)
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.find(from)
	var err error
	switch {
	case n == nil:
		err = fs.ErrNotExist
	case n.isDir():
		err = fs.ErrPermission
	default:
		if err = f.parent(to); err == nil {
			err = change(n, from, to)
		}
	}
	if err != nil {
		return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
	}
	return nil
}

// Remove removes a name, of a directory only if that is empty.
func (f *FS) Remove(name string) error {
	clean := filepath.Clean(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	switch n := f.nodes[clean]; {
	case n == nil:
		err = fs.ErrNotExist
	case n.isDir() && len(f.inside(clean)) > 0:
		err = syscall.ENOTEMPTY
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	delete(f.nodes, clean)
	return nil
}

// Mkdir makes a directory.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	clean := filepath.Clean(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.parent(clean)
	if f.find(clean) != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	f.nodes[clean] = newNode(fs.ModeDir | perm.Perm())
	return nil
}

// ReadDir returns the names in a directory, sorted.
func (f *FS) ReadDir(name string) ([]string, error) {
	clean := filepath.Clean(name)
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch n := f.find(clean); {
	case n == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case !n.isDir():
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	names := f.inside(clean)
	sort.Strings(names)
	return names, nil
}

// inside returns the names in a directory. The caller holds mu.
func (f *FS) inside(dir string) []string {
	prefix := dir + string(filepath.Separator)
	switch {
	case dir == ".":
		prefix = ""
	case strings.HasSuffix(dir, string(filepath.Separator)): // the root
		prefix = dir
	}
	var names []string
	for name := range f.nodes {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && rest != "" && !strings.ContainsRune(rest, filepath.Separator) {
			names = append(names, rest)
		}
	}
	return names
}

// Stat describes a name.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.RLock()
	n := f.find(filepath.Clean(name))
	f.mu.RUnlock()
	if n == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return n.info(name), nil
}

// Lstat is Stat.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.Stat(name) }

// SyncDir does nothing.
func (f *FS) SyncDir(string) error { return nil }

// SameFile reports whether both describe one file.
func (f *FS) SameFile(a, b fs.FileInfo) bool {
	ai, ok := a.(info)
	bi, ok2 := b.(info)
	return ok && ok2 && ai.node == bi.node
}

// Identify is asked before every append: it allocates nothing.
func (f *FS) Identify(open vfs.File, name string) (same bool, size int64, err error) {
	mine, ok := open.(*file)
	if !ok {
		return false, 0, &fs.PathError{Op: "stat", Path: name, Err: syscall.EINVAL}
	}
	if err := mine.check("stat", false); err != nil {
		return false, 0, err
	}
	f.mu.RLock()
	n := f.nodes[filepath.Clean(name)]
	f.mu.RUnlock()
	if n == nil {
		return false, 0, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return n == mine.node, mine.node.content.length(), nil
}
