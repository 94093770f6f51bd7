//go:build !windows

package pawl_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
)

// watched is the operating system's file system. It calls fn before it looks at or opens a
// name, and knows which journals this process has open, which it flushed, and what was
// open when a lock was released.
type watched struct {
	vfs.FS
	before func(op, name string)

	mu       sync.Mutex
	open     map[string]int
	synced   map[string]int
	released int
	tooEarly []string // open when a lock was released
}

func watch(t *testing.T, dir string, before func(op, name string)) (*watched, *pawl.Store) {
	t.Helper()
	w := &watched{FS: vfs.OS, before: before, open: map[string]int{}, synced: map[string]int{}}
	s, err := pawl.Open(dir, hook.StoreFS(w).(pawl.StoreOption))
	ckNil(t, err)
	return w, s
}

func (w *watched) tell(op, name string) {
	if w.before != nil && filepath.Base(name) != "runs" {
		w.before(op, name)
	}
}

func (w *watched) Lstat(name string) (fs.FileInfo, error) {
	fi, err := w.FS.Lstat(name)
	w.tell("looked", name)
	return fi, err
}

func (w *watched) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	w.tell("open", name)
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[name]++
	return &watchedFile{File: f, w: w, name: name}, nil
}

func (w *watched) AcquireLock(path string) (vfs.Lock, error) {
	l, err := vfs.AcquireLock(vfs.OS, path)
	if err != nil {
		return nil, err
	}
	return watchedLock{l, w}, nil
}

func (w *watched) ProbeLock(path string) (lock.Owner, bool, error) { return lock.Probe(path) }

type watchedLock struct {
	vfs.Lock
	w *watched
}

func (l watchedLock) Release() error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.released++
	for name, n := range l.w.open {
		if n > 0 && strings.HasSuffix(name, ".jsonl") {
			l.w.tooEarly = append(l.w.tooEarly, name)
		}
	}
	return l.Lock.Release()
}

type watchedFile struct {
	vfs.File
	w    *watched
	name string
}

func (f *watchedFile) Sync() error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.synced[f.name]++
	return f.File.Sync()
}

func (f *watchedFile) Close() error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.open[f.name]--
	return f.File.Close()
}

// TryLock keeps the lock on the journal itself, which embedding an interface hides.
func (f *watchedFile) TryLock() error { return f.File.(interface{ TryLock() error }).TryLock() }

// Invariant 9: a run's lock is released when its journal is closed, and not before: the next owner
// would find it locked, or half written.
func TestLockIsReleasedLast(t *testing.T) {
	w, s := watch(t, filepath.Join(t.TempDir(), "store"), nil)
	step := func(end error) func(ctx context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			v, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
			return v, errors.Join(err, end)
		}
	}
	if _, err := run(t, s, step(errors.New("stop"))); err == nil {
		t.Error("no error")
	}
	for range 2 { // completes; and is found complete
		_, err := run(t, s, step(nil))
		ckNil(t, err)
	}
	r, err := s.Begin(t.Context(), "other")
	ckNil(t, err)
	ckNil(t, r.Close())
	if w.released != 4 {
		t.Errorf("%d locks were released, not 4", w.released)
	}
	if len(w.tooEarly) > 0 {
		t.Errorf("released while open: %q", w.tooEarly)
	}
	for name, n := range w.open {
		if n != 0 {
			t.Errorf("%s is open %d times at the end", name, n)
		}
	}
}

// Rule 4: a result that is handed out without owning the run is made durable first.
func TestResultOfAnOwnedRunIsFlushed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	owner, err := pawl.Open(dir)
	ckNil(t, err)
	r, err := owner.Begin(t.Context(), "r")
	ckNil(t, err)
	defer r.Close()
	ckNil(t, r.Complete(5))
	w, s := watch(t, dir, nil)
	v, err := run(t, s, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
	if v != 5 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if path := inspect(t, s).Path; w.synced[path] == 0 {
		t.Errorf("the journal was not flushed before its result was handed out: %v", w.synced)
	}
}

// Rule 16, invariant 9: somebody removes the lock file of a run that is being created, and another
// process creates it and does a step. Whenever that happens, the journal of that one stays.
func TestCreateBesideAnotherOwner(t *testing.T) {
	for point := 1; ; point++ {
		dir := filepath.Join(t.TempDir(), "store")
		n, did, late := 0, false, false
		_, s := watch(t, dir, func(op, name string) {
			if !strings.Contains(name, "r.jsonl") {
				return
			}
			if n++; n != point {
				return
			}
			did = true
			ckNil(t, os.Remove(filepath.Join(dir, "runs", "r.lock")))
			other, err := pawl.Open(dir)
			ckNil(t, err)
			r, err := other.Begin(t.Context(), "r")
			if late = errors.Is(err, pawl.ErrLocked); late {
				return // the journal is there by now, and locked
			}
			ckNil(t, err)
			_, err = pawl.Step(r.Context(t.Context()), "paid", func(context.Context) (int, error) { return 1, nil })
			ckNil(t, err)
			ckNil(t, r.Close())
		})
		r, err := s.Begin(t.Context(), "r")
		if !did {
			ckNil(t, err)
			ckNil(t, r.Close())
			if point < 4 {
				t.Errorf("%d points: hardly anything was tested", point)
			}
			return
		}
		if late {
			ckNil(t, errors.Join(err, r.Close()))
			continue
		}
		if err == nil {
			// It was there before this one looked, so it was opened, under a lock of its own.
			_, err = pawl.Step(r.Context(t.Context()), "paid", func(context.Context) (int, error) {
				t.Errorf("point %d: a step that is paid for ran again", point)
				return 1, nil
			})
			ckNil(t, errors.Join(err, r.Close()))
		} else if !errors.Is(err, pawl.ErrLeaseLost) && !errors.Is(err, pawl.ErrConflict) && !errors.Is(err, pawl.ErrReplaced) {
			t.Errorf("point %d: %v", point, err)
		}
		other, err := pawl.Open(dir)
		ckNil(t, err)
		last, err := other.Begin(t.Context(), "r")
		ckNil(t, err)
		if n := last.Resumed().Steps; n != 1 {
			t.Errorf("point %d: the other's step is gone: %d steps", point, n)
		}
		ckNil(t, last.Close())
	}
}

// Rule 16. A process whose lock file was removed makes no journal: who locked a new one could make
// the same.
func TestCreateChecksItsLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	_, s := watch(t, dir, func(op, name string) {
		if op == "looked" && filepath.Base(name) == "r.jsonl" {
			os.Remove(filepath.Join(dir, "runs", "r.lock")) //nolint:errcheck // once is enough
		}
	})
	_, err := s.Begin(t.Context(), "r")
	ckWant(t, err, pawl.ErrLeaseLost, "nothing was written")
	if _, err := os.Lstat(filepath.Join(dir, "runs", "r.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a journal was made: %v", err)
	}
}

// A run's journal that was copied from another store is refused: its owner would be another one,
// and idempotency keys would be used twice.
func TestRunOfAnotherStore(t *testing.T) {
	a, b := openStore(t), openStore(t)
	for _, s := range []*pawl.Store{a, b} {
		_, err := run(t, s, func(context.Context) (int, error) { return 0, errors.New("stop") })
		if err == nil {
			t.Fatal("no error")
		}
	}
	text, err := os.ReadFile(inspect(t, a).Path)
	ckNil(t, err)
	path := inspect(t, b).Path
	ckNil(t, os.WriteFile(path, text, 0o600))
	_, err = run(t, b, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
	ckWant(t, err, pawl.ErrConflict, "another store", "nothing was changed")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(text) {
		t.Errorf("it was changed: %v", err)
	}
}

// Rule 17: a state that is saved already is acknowledged only if it is there still.
func TestSavingAnEqualStateOfARunLooksFirst(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	ckNil(t, err)
	defer r.Close()
	ctx := r.Context(t.Context())
	ckNil(t, pawl.SaveState(ctx, 1))
	ckNil(t, pawl.SaveState(ctx, 1))
	ckNil(t, os.Truncate(inspect(t, s).Path, 100))
	if err := pawl.SaveState(ctx, 1); !errors.Is(err, pawl.ErrReplaced) {
		t.Errorf("an equal state in a journal that was truncated: %v", err)
	}
}
