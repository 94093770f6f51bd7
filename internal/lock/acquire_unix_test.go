//go:build !windows

package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// hookFlock calls before ahead of every flock(2); an error takes its place.
func hookFlock(t *testing.T, before func(fd, how int) error) {
	real := sysFlock
	t.Cleanup(func() { sysFlock = real })
	sysFlock = func(fd, how int) error {
		if err := before(fd, how); err != nil {
			return err
		}
		return real(fd, how)
	}
}

// TestReplacedBetweenOpenAndLock: rule 16. Somebody removes the lock file, or removes it and another
// process makes and locks a new one, after it was opened and before it is locked. A lock on a file
// without a name keeps nobody out.
func TestReplacedBetweenOpenAndLock(t *testing.T) {
	for _, taken := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "r.lock")
		did := false
		var other *Lock
		hookFlock(t, func(_, how int) error {
			if did || how&unix.LOCK_EX == 0 {
				return nil
			}
			did = true
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if taken {
				var err error
				if other, err = Acquire(path); err != nil {
					t.Fatal(err)
				}
			}
			return nil
		})
		l, err := Acquire(path)
		switch {
		case taken:
			if _, ok := errors.AsType[*HeldError](err); !ok {
				t.Errorf("invariant 9: two owners: %v", err)
			}
			other.Release() //nolint:errcheck // the test is over
		case err != nil:
			t.Error(err)
		default:
			if !l.Intact() {
				t.Error("a lock on a file without a name")
			}
			if _, err := Acquire(path); err == nil {
				t.Error("invariant 9: two owners")
			}
			l.Release() //nolint:errcheck // the test is over
		}
	}
}

// TestLockInterrupted: rule 19. A signal that comes while a lock is asked for is no answer.
func TestLockInterrupted(t *testing.T) {
	n := 0
	hookFlock(t, func(int, int) error {
		if n++; n%3 > 0 {
			return syscall.EINTR
		}
		return nil
	})
	path := filepath.Join(t.TempDir(), "r.lock")
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, held, err := Probe(path); !held || err != nil {
		t.Errorf("not held: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if n < 6 {
		t.Errorf("asked %d times", n)
	}
}

// TestReleasedLockNamesNobody: who meets somebody that only looks must not take the last owner for
// the present one.
func TestReleasedLockNamesNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.lock")
	l, err := Acquire(path)
	if err == nil {
		err = l.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
		t.Errorf("the lock file says %q, %v", text, err)
	}
}

// TestNoDescriptorLeaks: on no path out of Acquire and Probe does a descriptor stay open; one that
// did could hold the lock for as long as the process lives.
func TestNoDescriptorLeaks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: no /proc/self/fd here")
	}
	path := filepath.Join(t.TempDir(), "r.lock")
	open := func() (n int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("NOT TESTED: no /proc/self/fd here")
		}
		for _, fd := range fds {
			if link, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && filepath.Dir(link) == filepath.Dir(path) {
				n++
			}
		}
		return n
	}
	acquire := func() error {
		l, err := Acquire(path)
		if err == nil {
			err = l.Release()
		}
		return err
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T)
		good    bool
	}{
		"acquired": {func(*testing.T) {}, true},
		"held": {func(t *testing.T) {
			l, err := Acquire(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Release() }) //nolint:errcheck // the test is over
		}, false},
		"no locks":    {func(t *testing.T) { inject(t, 0, -1, syscall.ENOLCK) }, false},
		"stale once":  {func(t *testing.T) { inject(t, 0, 1, syscall.ESTALE) }, true},
		"stale":       {func(t *testing.T) { inject(t, 0, -1, syscall.ESTALE) }, false},
		"gone always": {func(t *testing.T) { hookFlock(t, func(int, int) error { os.Remove(path); return nil }) }, false},
		"cannot be written": {func(t *testing.T) {
			real := openFile
			t.Cleanup(func() { openFile = real })
			openFile = func(name string, flag int, perm fs.FileMode) (*os.File, error) {
				return real(name, flag&^(os.O_RDWR|os.O_CREATE)|os.O_RDONLY, perm)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c.prepare(t)
			before := open()
			if err := acquire(); (err == nil) != c.good {
				t.Errorf("acquire: %v", err)
			}
			Probe(path) //nolint:errcheck // whatever it says
			if n := open() - before; n != 0 {
				t.Errorf("%d descriptors are left", n)
			}
		})
	}
}

// TestLookingLetsGo: Acquire shares the lock for a moment to find out whether an owner has it, and
// lets go before it waits: two that do so would keep each other out.
func TestLookingLetsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.lock")
	shared, n := 0, 0
	hookFlock(t, func(_, how int) error {
		switch {
		case how&unix.LOCK_EX != 0:
			if shared != 0 {
				t.Error("asked for the lock while sharing it")
			}
			if n++; n < 4 {
				return syscall.EWOULDBLOCK // somebody looks
			}
		case how&unix.LOCK_SH != 0:
			shared++
		default:
			shared--
		}
		return nil
	})
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Release() //nolint:errcheck // the test is over
}
