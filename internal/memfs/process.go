package memfs

import (
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pawlgo/pawl/internal/vfs"
)

// ErrDead is the error of everything that a process does after its death.
var ErrDead = errors.New("this process is dead")

// Process is a file system as one process sees it that can die: what it wrote stays, its
// locks are free, and nothing it does from then on has an effect. A real process would
// not go on at all; this one gets [ErrDead].
type Process struct {
	*FS

	// To be set before it is used.
	DieAfter int64  // number of the write behind which it dies, 0 for never
	Stop     bool   // the goroutine that made this write ends there (runtime.Goexit)
	OnDeath  func() // called once, if not nil

	writes atomic.Int64

	mu    sync.RWMutex // held for reading while something has an effect
	dead  bool
	locks []vfs.Lock
}

var (
	_ vfs.FS         = (*Process)(nil)
	_ vfs.Identifier = (*Process)(nil)
	_ vfs.Locker     = (*Process)(nil)
)

// Process returns a new process that uses the file system.
func (f *FS) Process() *Process { return &Process{FS: f} }

// Writes returns how many writes it made.
func (p *Process) Writes() int64 { return p.writes.Load() }

// alive does something that has an effect, unless the process is dead.
func (p *Process) alive(op, name string, do func() error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.dead {
		return &fs.PathError{Op: op, Path: name, Err: ErrDead}
	}
	return do()
}

// wrote counts a write, and dies behind the one it was told.
func (p *Process) wrote() {
	if p.writes.Add(1) != p.DieAfter {
		return
	}
	p.Die()
	if p.Stop {
		runtime.Goexit()
	}
}

// Die ends the process.
func (p *Process) Die() {
	p.mu.Lock()
	wasDead, locks := p.dead, p.locks
	p.dead, p.locks = true, nil
	p.mu.Unlock()
	if wasDead {
		return
	}
	for _, l := range locks {
		l.Release() //nolint:errcheck // in memory
	}
	if p.OnDeath != nil {
		p.OnDeath()
	}
}

// OpenFile opens a file.
func (p *Process) OpenFile(name string, flag int, perm fs.FileMode) (f vfs.File, err error) {
	err = p.alive("open", name, func() error {
		f, err = p.FS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &processFile{f.(*file), p}, nil
}

// Rename gives a file another name.
func (p *Process) Rename(oldname, newname string) error {
	return p.alive("rename", oldname, func() error { return p.FS.Rename(oldname, newname) })
}

// Link gives a file a second name.
func (p *Process) Link(oldname, newname string) error {
	return p.alive("link", oldname, func() error { return p.FS.Link(oldname, newname) })
}

// Remove removes a name.
func (p *Process) Remove(name string) error {
	return p.alive("remove", name, func() error { return p.FS.Remove(name) })
}

// Mkdir makes a directory.
func (p *Process) Mkdir(name string, perm fs.FileMode) error {
	return p.alive("mkdir", name, func() error { return p.FS.Mkdir(name, perm) })
}

// Identify compares an open file with a name.
func (p *Process) Identify(open vfs.File, name string) (same bool, size int64, err error) {
	return p.FS.Identify(open.(*processFile).file, name)
}

// AcquireLock takes a lock, which the death of the process frees.
func (p *Process) AcquireLock(path string) (l vfs.Lock, err error) {
	err = p.alive("lock", path, func() error {
		l, err = p.FS.AcquireLock(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locks = append(p.locks, l)
	return l, nil
}

// processFile is an open file of a process. It hides the lock of the file itself, which
// would outlive the process: the lock at a path does.
type processFile struct {
	*file
	p *Process
}

func (f *processFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.p.alive("write", f.name, func() error {
		n, err = f.file.WriteAt(b, off)
		return err
	})
	if err == nil {
		f.p.wrote()
	}
	return n, err
}

func (f *processFile) Truncate(size int64) error {
	return f.p.alive("truncate", f.name, func() error { return f.file.Truncate(size) })
}

func (f *processFile) Sync() error {
	return f.p.alive("sync", f.name, f.file.Sync)
}

// TryLock succeeds always, see [processFile].
func (f *processFile) TryLock() error { return nil }
