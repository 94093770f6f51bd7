package memfs

import (
	"path/filepath"
	"sort"
	"time"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
)

// held is a lock that somebody in this process holds.
type held struct {
	fs    *FS
	path  string
	owner lock.Owner
}

// AcquireLock takes the lock at path, or returns a *lock.HeldError.
func (f *FS) AcquireLock(path string) (vfs.Lock, error) {
	clean := filepath.Clean(path)
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	if h := f.locks[clean]; h != nil {
		return nil, &lock.HeldError{Path: path, Owner: h.owner}
	}
	host, pid := lock.Self()
	h := &held{fs: f, path: clean, owner: lock.Owner{Host: host, PID: pid, Since: time.Now().UTC().Truncate(time.Second)}}
	f.locks[clean] = h
	return h, nil
}

// ProbeLock tells who holds the lock at path.
func (f *FS) ProbeLock(path string) (owner lock.Owner, isHeld bool, err error) {
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	h := f.locks[filepath.Clean(path)]
	if h == nil {
		return lock.Owner{}, false, nil
	}
	return h.owner, true, nil
}

// Locked returns the paths of the locks that are held, sorted.
func (f *FS) Locked() []string {
	f.lockMu.Lock()
	defer f.lockMu.Unlock()
	paths := make([]string, 0, len(f.locks))
	for path := range f.locks {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return paths
}

func (h *held) Owner() lock.Owner { return h.owner }

// Intact is always true: there is no lock file that somebody could remove.
func (h *held) Intact() bool { return true }

func (h *held) Release() error {
	h.fs.lockMu.Lock()
	defer h.fs.lockMu.Unlock()
	if h.fs.locks[h.path] == h {
		delete(h.fs.locks, h.path)
	}
	return nil
}
