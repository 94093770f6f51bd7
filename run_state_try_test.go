package pawl_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/vfs"
)

// What one try has loaded or saved, the next one has not seen: it must load before it saves, in one
// attempt too, whoever asks again.
func TestEachTryLoadsAnew(t *testing.T) {
	failed := errors.New("failed")
	for _, how := range []string{"step", "item", "inside"} {
		s := openStore(t)
		try, load := 0, false
		fn := func(ctx context.Context) (int, error) {
			if how == "inside" {
				ctx = pawl.Scope(ctx, "in/side")
			}
			try++
			if load {
				if n, found, err := pawl.LoadState[int](ctx); n != 1 || !found || err != nil {
					t.Errorf("%s: loaded %d, %v, %v", how, n, found, err)
				}
			}
			switch err := pawl.SaveState(ctx, try); {
			case try == 2:
				wantErr(t, err, pawl.ErrStateNotLoaded)
			case err != nil:
				t.Errorf("%s: try %d: %v", how, try, err)
			}
			return 0, failed
		}
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			for range 3 {
				if how == "item" {
					pawl.Map(ctx, "m", []int{1}, func(int) string { return "k" }, func(ctx context.Context, _ int) (int, error) { return fn(ctx) }) //nolint:errcheck // it fails on purpose
				} else {
					pawl.Step(ctx, "a", fn) //nolint:errcheck // it fails on purpose
				}
				load = try == 2
			}
			return 0, failed
		})
		wantErr(t, err, failed)
		if try != 3 {
			t.Errorf("%s: %d tries", how, try)
		}
	}
}

// heldFS holds a flush of a file back while it is told to.
type heldFS struct {
	vfs.FS
	hold    atomic.Bool
	flushes chan struct{} // one has begun
	goOn    chan struct{}
}

type heldFile struct {
	vfs.File
	fs *heldFS
}

func (h *heldFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &heldFile{f, h}, nil
}

func (f *heldFile) Sync() error {
	if f.fs.hold.CompareAndSwap(true, false) {
		f.fs.flushes <- struct{}{}
		<-f.fs.goOn
	}
	return f.File.Sync()
}

// A state that a goroutine saves while its try ends stands in the journal: what the next try saves
// must not rest on the one before it.
func TestStateSavedWhileItsTryEnds(t *testing.T) {
	h := &heldFS{FS: vfs.OS, flushes: make(chan struct{}), goOn: make(chan struct{})}
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), hook.StoreFS(h).(pawl.StoreOption))
	ckNil(t, err)
	state := func(what string) []string {
		return append(strings.Split(strings.Repeat("a state of which little changes ", 50), " "), what)
	}
	once := errors.New("once more")
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		late := make(chan error)
		_, err := pawl.Step(ctx, "a", func(ctx context.Context) (int, error) {
			ckNil(t, pawl.SaveState(ctx, state("first")))
			h.hold.Store(true)
			go func() { late <- pawl.SaveState(ctx, state("second, by a goroutine that nobody waits for")) }()
			<-h.flushes
			return 0, errors.New("failed")
		})
		if err == nil {
			t.Error("no error")
		}
		h.goOn <- struct{}{}
		<-late
		_, err = pawl.Step(ctx, "a", func(ctx context.Context) (int, error) {
			st, _, err := pawl.LoadState[[]string](ctx)
			if err != nil {
				return 0, err
			}
			return 0, errors.Join(pawl.SaveState(ctx, append(st, "third")), once)
		})
		return 0, err
	})
	wantErr(t, err, once)
	_, err = run(t, s, func(ctx context.Context) (int, error) {
		st, found, err := pawl.LoadState[[]string](pawl.Scope(ctx, "a"))
		if err != nil || !found || st[len(st)-1] != "third" {
			t.Errorf("%v, %v", found, err)
		}
		return 0, once
	})
	wantErr(t, err, once)
}
