// Package killfs kills a process that is none: from a chosen moment on, every operation
// of a file system fails, as if the process that uses it had died there, while what it
// wrote before stays. A test can thus kill thousands of programs a second, and at moments
// that no signal hits: before or after one certain record.
//
// It knows no power cut: what was written is there. Package crashfs is for those.
package killfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
)

// ErrDead is the error of every operation after the death.
var ErrDead = errors.New("the process is dead")

// Mode says what became of the operation at which the process died.
type Mode uint8

// Modes.
const (
	Before Mode = iota // it did not happen
	Torn               // of a write, only a beginning happened; otherwise as Before
	After              // it happened, and nobody was told
)

// String names a mode.
func (m Mode) String() string { return [...]string{"before", "torn", "after"}[m] }

// Op is an operation that changes something: what it is ("write", "rename", …), and what it
// writes, for a record of a journal its kind ("write step").
type Op struct {
	N    int // counted from 1
	Name string
}

// FS is a file system that a process uses until it dies. It is safe for concurrent use.
type FS struct {
	base vfs.FS
	when func(Op) (Mode, bool)

	mu    sync.Mutex // one change at a time: nothing happens after the death
	n     int
	dead  atomic.Bool
	death string // operation and mode
}

// New returns the file system of a process that dies when when says so, asked before each
// operation that changes something. When must not use the file system.
func New(base vfs.FS, when func(Op) (Mode, bool)) *FS { return &FS{base: base, when: when} }

// Kill ends the process, if nothing did yet, and says how many changes it has made.
func (f *FS) Kill() (changes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead.Store(true)
	return f.n
}

// Dead reports whether the process is dead.
func (f *FS) Dead() bool { return f.dead.Load() }

// Death says at which operation the process died and what became of it: "write step:
// after". It is "" while it lives.
func (f *FS) Death() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.death
}

// alive is the error of an operation that changes nothing.
func (f *FS) alive() error {
	if f.dead.Load() {
		return ErrDead
	}
	return nil
}

// change does an operation, unless the process is dead or dies of it. Part does a part of
// it, nil if there is no such thing.
func (f *FS) change(name string, do func() error, part func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead.Load() {
		return ErrDead
	}
	f.n++
	mode, dies := f.when(Op{f.n, name})
	if !dies {
		return do()
	}
	switch mode {
	case After:
		do() //nolint:errcheck // nobody hears of it
	case Torn:
		if part != nil {
			part()
		}
	case Before:
	}
	f.death = name + ": " + mode.String()
	f.dead.Store(true)
	return ErrDead
}

// content names what is written: the kind of the record, if it is one.
func content(p []byte) string {
	name := "write"
	_, rest, ok := bytes.Cut(p[:min(len(p), 200)], []byte(`"kind":"`))
	if kind, _, whole := bytes.Cut(rest, []byte(`"`)); ok && whole {
		name += " " + string(kind)
	}
	if bytes.Count(p, []byte("\n")) > 1 {
		name = "write several"
	}
	return name
}

// ext names a file by the end of its name, if that has no digits: those are drawn.
func ext(name string) string {
	if end := name[strings.LastIndexAny(name, "./")+1:]; !strings.ContainsAny(end, "0123456789") {
		return end
	}
	return "temporary"
}

// OpenFile opens a file; creating one is a change.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	var opened vfs.File
	open := func() (err error) {
		opened, err = f.base.OpenFile(name, flag, perm)
		return err
	}
	err := f.alive()
	switch {
	case err != nil:
	case flag&(os.O_CREATE|os.O_TRUNC) != 0:
		err = f.change("create "+ext(name), open, nil)
	default:
		err = open()
	}
	if err != nil {
		return nil, err
	}
	return &file{File: opened, fs: f}, nil
}

// Rename is a change.
func (f *FS) Rename(oldname, newname string) error {
	return f.change("rename "+ext(oldname), func() error { return f.base.Rename(oldname, newname) }, nil)
}

// Link is a change.
func (f *FS) Link(oldname, newname string) error {
	return f.change("link", func() error { return f.base.Link(oldname, newname) }, nil)
}

// Remove is a change.
func (f *FS) Remove(name string) error {
	return f.change("remove "+ext(name), func() error { return f.base.Remove(name) }, nil)
}

// Mkdir is a change.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", func() error { return f.base.Mkdir(name, perm) }, nil)
}

// ReadDir changes nothing.
func (f *FS) ReadDir(name string) ([]string, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.base.ReadDir(name)
}

// Stat changes nothing.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.base.Stat(name)
}

// Lstat changes nothing.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.base.Lstat(name)
}

// SyncDir is no change: without a power cut it is nothing.
func (f *FS) SyncDir(name string) error {
	if err := f.alive(); err != nil {
		return err
	}
	return f.base.SyncDir(name)
}

// SameFile reports whether both describe one file.
func (f *FS) SameFile(a, b fs.FileInfo) bool { return f.base.SameFile(a, b) }

// Identify compares an open file with a name.
func (f *FS) Identify(open vfs.File, name string) (same bool, size int64, err error) {
	if err := f.alive(); err != nil {
		return false, 0, err
	}
	if own, ok := open.(*file); ok {
		open = own.File
	}
	return vfs.Identify(f.base, open, name)
}

// InMemory is true: see [vfs.GainsByFill].
func (f *FS) InMemory() bool { return !vfs.GainsByFill(f.base) }

// AcquireLock takes a lock, which the dead do not.
func (f *FS) AcquireLock(path string) (vfs.Lock, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return vfs.AcquireLock(f.base, path)
}

// ProbeLock tells who holds a lock.
func (f *FS) ProbeLock(path string) (owner lock.Owner, held bool, err error) {
	if err := f.alive(); err != nil {
		return lock.Owner{}, false, err
	}
	return vfs.ProbeLock(f.base, path)
}
