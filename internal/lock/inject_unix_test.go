//go:build !windows

package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inject makes the first n opens, and the first m locks, fail; -1 means all.
func inject(t *testing.T, n, m int, err syscall.Errno) {
	open, lock := openFile, sysFlock
	t.Cleanup(func() { openFile, sysFlock = open, lock })
	openFile = func(name string, flag int, perm fs.FileMode) (*os.File, error) {
		if n--; n >= 0 || n < -1 {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		n = 0
		return open(name, flag, perm)
	}
	sysFlock = func(fd, how int) error {
		if m--; m >= 0 || m < -1 {
			return err
		}
		m = 0
		return lock(fd, how)
	}
}

// TestStaleHandle: case C-42. ESTALE, when opening or when locking, is tried again once.
func TestStaleHandle(t *testing.T) {
	for _, c := range []struct {
		name         string
		opens, locks int
		good         bool
	}{
		{"open", 1, 0, true}, {"lock", 0, 1, true}, {"open, for good", -1, 0, false}, {"lock, for good", 0, -1, false}, {"both", 1, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.lock")
			inject(t, c.opens, c.locks, syscall.ESTALE)
			l, err := Acquire(path)
			if !c.good {
				if !errors.Is(err, syscall.ESTALE) || !strings.Contains(err.Error(), path) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Release() //nolint:errcheck // the test is over
			if _, held, err := Probe(path); !held || err != nil {
				t.Errorf("not held: %v", err)
			}
		})
	}
}

// TestNoLocks: case C-42. Where there are no locks to be had the error names the file and
// says what to do, and nobody works without one.
func TestNoLocks(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		path := filepath.Join(t.TempDir(), "r.lock")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		inject(t, 0, -1, errno)
		_, acquire := Acquire(path)
		_, held, probe := Probe(path)
		for what, err := range map[string]error{"acquire": acquire, "probe": probe, "the journal's own": TryFile(f)} {
			if !errors.Is(err, errno) || held {
				t.Errorf("%s: %v, held %v", what, err, held)
				continue
			}
			for _, part := range []string{path, errno.Error(), "gives no locks", "use a local disk", "lockd"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %q is not in the message %q", what, part, err)
				}
			}
			if _, ok := errors.AsType[*HeldError](err); ok {
				t.Errorf("%s: it is said to be held", what)
			}
		}
	}
}
