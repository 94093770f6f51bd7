package vfs

import "github.com/pawlgo/pawl/internal/lock"

// Lock is a held lock, as [lock.Acquire] gives it.
type Lock interface {
	Owner() lock.Owner
	Intact() bool
	Release() error
}

// Locker is a file system that has locks of its own. It is optional: without it a lock
// is one of the operating system, at the same path.
type Locker interface {
	// AcquireLock is [lock.Acquire].
	AcquireLock(path string) (Lock, error)
	// ProbeLock is [lock.Probe].
	ProbeLock(path string) (owner lock.Owner, held bool, err error)
}

// AcquireLock takes the lock at path without waiting, or returns a *lock.HeldError.
func AcquireLock(fsys FS, path string) (Lock, error) {
	if l, ok := fsys.(Locker); ok {
		return l.AcquireLock(path)
	}
	l, err := lock.Acquire(path)
	if err != nil {
		return nil, err // a nil *lock.Lock must not become a non-nil interface
	}
	return l, nil
}

// ProbeLock tells who holds the lock at path now. It takes nothing.
func ProbeLock(fsys FS, path string) (owner lock.Owner, held bool, err error) {
	if l, ok := fsys.(Locker); ok {
		return l.ProbeLock(path)
	}
	return lock.Probe(path)
}

// GainsByFill reports whether writing ahead of a file's end makes later writes there
// cheaper. It does on a disk: a file system that says it has none is spared the work.
func GainsByFill(fsys FS) bool { return !InMemory(fsys) }

// InMemory reports whether a file system says that it has no disk.
func InMemory(fsys FS) bool {
	m, ok := fsys.(interface{ InMemory() bool })
	return ok && m.InMemory()
}
