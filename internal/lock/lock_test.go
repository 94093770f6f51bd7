package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/lock"
)

func lockPath(t *testing.T) string { return filepath.Join(t.TempDir(), "r.lock") }

func acquire(t *testing.T, path string) *lock.Lock {
	t.Helper()
	l, err := lock.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l *lock.Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// refused demands that the lock is held, and returns what is said of the owner.
func refused(t *testing.T, path string) lock.Owner {
	t.Helper()
	l, err := lock.Acquire(path)
	if err == nil {
		l.Release() //nolint:errcheck // the test has failed already
		t.Fatal("invariant 9: two owners")
	}
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Path != path {
		t.Fatalf("the error is %v", err)
	}
	return held.Owner
}

// TestSecondOpenInTheProcess: rule 18, flock belongs to the open file, so that this
// process too is kept out; and closing another descriptor of the file frees nothing.
func TestSecondOpenInTheProcess(t *testing.T) {
	path := lockPath(t)
	l := acquire(t, path)
	owner := refused(t, path)
	if owner.PID != os.Getpid() || owner.Host == "" || time.Since(owner.Since) > time.Minute || owner != l.Owner() {
		t.Errorf("the owner is said to be %+v", owner)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // would free an fcntl lock
	refused(t, path)
	release(t, l)
	release(t, acquire(t, path))
}

// TestProbe looks and leaves no trace.
func TestProbe(t *testing.T) {
	path := lockPath(t)
	if o, held, err := lock.Probe(path); held || err != nil || o.PID != 0 {
		t.Errorf("absent: %+v %v %v", o, held, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("probing made the file")
	}
	l := acquire(t, path)
	if o, held, err := lock.Probe(path); !held || err != nil || o != l.Owner() {
		t.Errorf("held: %+v %v %v", o, held, err)
	}
	release(t, l)
	if o, held, err := lock.Probe(path); held || err != nil || o.PID != 0 {
		t.Errorf("free: %+v %v %v", o, held, err)
	}
	if _, _, err := lock.Probe(filepath.Join(path, "x")); err == nil {
		t.Error("probed below a file")
	}
}

// TestProbeDoesNotDisturb: who lists runs all the time keeps nobody from starting one.
func TestProbeDoesNotDisturb(t *testing.T) {
	path := lockPath(t)
	release(t, acquire(t, path))
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for !stop.Load() {
				if _, _, err := lock.Probe(path); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 300 {
		l, err := lock.Acquire(path)
		if err != nil {
			t.Errorf("kept out by somebody who only looks: %v", err)
			break
		}
		release(t, l)
	}
	stop.Store(true)
	wg.Wait()
}

// TestOneOwner: rule 18, invariant 9, of many that try at once never two have the lock.
func TestOneOwner(t *testing.T) {
	path := lockPath(t)
	var owners, got atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := lock.Acquire(path)
				if err != nil {
					if _, ok := errors.AsType[*lock.HeldError](err); !ok {
						t.Error(err)
					}
					continue
				}
				got.Add(1)
				if n := owners.Add(1); n != 1 {
					t.Errorf("invariant 9: %d owners", n)
				}
				owners.Add(-1)
				release(t, l)
			}
		})
	}
	wg.Wait()
	if got.Load() == 0 {
		t.Error("nobody had it")
	}
}

// TestOwnerTextUnreadable: the text is for messages; the kernel decides.
func TestOwnerTextUnreadable(t *testing.T) {
	for _, text := range []string{"", "\x00\x00\x00", "4711\n", `{"host":`, `{"host":7}`, strings.Repeat("x", 1<<16)} {
		path := lockPath(t)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l := acquire(t, path) // nobody holds it, whatever the text says
		if o := refused(t, path); o.PID != os.Getpid() {
			t.Errorf("over %.20q: the owner is said to be %+v", text, o)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := lock.Acquire(path)
		if o := refused(t, path); o.PID != 0 || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: the owner is said to be %+v: %v", text, o, err)
		}
		if o, held, err := lock.Probe(path); !held || err != nil || o.PID != 0 {
			t.Errorf("%.20q: probe: %+v %v %v", text, o, held, err)
		}
		release(t, l)
	}
}

// TestLockFileRemoved: rule 16. A lock on a file without a name keeps nobody out, so
// its owner must be able to see that; and nobody gets a lock on a file that lost its
// name meanwhile.
func TestLockFileRemoved(t *testing.T) {
	path := lockPath(t)
	l := acquire(t, path)
	if !l.Intact() {
		t.Error("not intact from the beginning")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if l.Intact() {
		t.Error("intact without its file")
	}
	other := acquire(t, path)
	if !other.Intact() || l.Intact() {
		t.Error("the new owner has the name, the old one has not")
	}
	release(t, l) // must not free the other's
	refused(t, path)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if other.Intact() {
		t.Error("intact, and another file has its name")
	}
	release(t, other)
}

// TestRemovedWhileAcquiring: rule 16, somebody removes "stale" locks all the time. Acquire goes
// on until the file it locked is the one that has the name.
func TestRemovedWhileAcquiring(t *testing.T) {
	path := lockPath(t)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			os.Remove(path) //nolint:errcheck // absent is fine
			time.Sleep(50 * time.Microsecond)
		}
	})
	for range 300 {
		l, err := lock.Acquire(path)
		if err != nil {
			t.Error(err)
			break
		}
		release(t, l)
	}
	stop.Store(true)
	wg.Wait()
}

// TestNotALockFile: rule 21, a link is never followed, and what is no file no lock.
func TestNotALockFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.lock")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := lock.Acquire(link); err == nil {
		t.Error("locked through a link")
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "precious" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	if _, err := lock.Acquire(dir); err == nil {
		t.Error("locked a directory")
	}
	if _, err := lock.Acquire(filepath.Join(dir, "no", "such", "dir")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in an absent directory: %v", err)
	}
}

// ownersAfterReplacing counts who has the lock of a journal when its first owner has
// replaced the journal by a new file, as compaction does, and a second one comes.
func ownersAfterReplacing(t *testing.T, lockOf func(journal string) string) int {
	journal := filepath.Join(t.TempDir(), "r.jsonl")
	for _, name := range []string{journal, journal + ".new"} {
		if err := os.WriteFile(name, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := acquire(t, lockOf(journal))
	defer release(t, first)
	if err := os.Rename(journal+".new", journal); err != nil {
		t.Fatal(err)
	}
	second, err := lock.Acquire(lockOf(journal))
	if err != nil {
		return 1
	}
	release(t, second)
	return 2
}

// TestLockOutlivesReplacing: rule 16, the lock is on a file that is never renamed; the
// planted bug, a lock on the journal itself, lets two owners in.
func TestLockOutlivesReplacing(t *testing.T) {
	if n := ownersAfterReplacing(t, func(journal string) string { return journal + ".lock" }); n != 1 {
		t.Errorf("%d owners", n)
	}
	if n := ownersAfterReplacing(t, func(journal string) string { return journal }); n != 2 {
		t.Errorf("planted bug not found: %d owner with the lock on a file that is replaced", n)
	}
}
