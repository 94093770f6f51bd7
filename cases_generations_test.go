package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// fullDisk is the operating system's file system, whose disk can be full.
type fullDisk struct {
	vfs.FS
	full *atomic.Bool
}

func (d fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fullDiskFile{f, d.full}, nil
}

type fullDiskFile struct {
	vfs.File
	full *atomic.Bool
}

func (f fullDiskFile) WriteAt(p []byte, off int64) (int, error) {
	if f.full.Load() {
		return 0, &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return f.File.WriteAt(p, off)
}

// TryLock keeps the lock on the journal itself, which embedding an interface hides.
func (f fullDiskFile) TryLock() error { return f.File.(interface{ TryLock() error }).TryLock() }

// C-76, of a run: its journal keeps every generation until it is compacted, which leaves the
// newest. Failing saves take none away, nor do old dates, and the size is bounded for whoever
// compacts.
func TestC76GenerationsOfARun(t *testing.T) {
	var full atomic.Bool
	dir := filepath.Join(fastDir(t), "store")
	s, err := pawl.Open(dir, hook.StoreFS(fullDisk{vfs.OS, &full}).(pawl.StoreOption))
	ckNil(t, err)
	pad := strings.Repeat("x", 300)
	save := func(ctx context.Context, n int) error { return pawl.SaveState(ctx, []any{n, pad}) }
	generations := func() (first, last, n int) {
		t.Helper()
		text := ckRead(t, inspect(t, s).Path)
		_, _, err := journal.Verify(strings.NewReader(text), int64(len(text)), func(*journal.Record) error { return nil })
		ckNil(t, err)
		all := states(t, text)
		var ns []int
		for _, st := range all {
			var i int
			_, err := fmt.Sscanf(string(st), "[%d,", &i)
			ckNil(t, err)
			ns = append(ns, i)
		}
		for i, g := range ns {
			if g != ns[0]+i {
				t.Fatalf("generations %v", ns)
			}
		}
		return ns[0], ns[len(ns)-1], len(ns)
	}
	want := func(when string, first, last int) {
		t.Helper()
		if f, l, n := generations(); f != first || l != last || n != last-first+1 {
			t.Fatalf("%s: %d generations, from %d to %d, want %d to %d", when, n, f, l, first, last)
		}
	}
	attempt := func(fn func(r *pawl.Run, ctx context.Context)) {
		t.Helper()
		r := begin(t, s)
		ctx := r.Context(t.Context())
		_, _, err := pawl.LoadState[[]any](ctx)
		ckNil(t, err)
		fn(r, ctx)
		ckNil(t, r.Close())
	}
	attempt(func(_ *pawl.Run, ctx context.Context) {
		for n := 1; n <= 10; n++ {
			ckNil(t, save(ctx, n))
		}
		want("after ten saves", 1, 10)
		full.Store(true)
		for n := range 20 {
			if err := save(ctx, 100+n); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("save %d: %v", n, err)
			}
		}
		full.Store(false)
		want("after twenty failures", 1, 10)
	})
	old := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	ckNil(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	}))
	want("with old dates", 1, 10)
	attempt(func(_ *pawl.Run, ctx context.Context) { ckNil(t, save(ctx, 11)) })
	want("and a save", 1, 11)
	full.Store(true)
	if _, _, err := s.Compact(t.Context(), "r"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("compacting on a full disk: %v", err)
	}
	want("after a compaction that failed", 1, 11)
	full.Store(false)
	_, _, err = s.Compact(t.Context(), "r")
	ckNil(t, err)
	want("compacted", 11, 11)
	most := int64(0)
	attempt(func(r *pawl.Run, ctx context.Context) {
		for n := 12; n <= 1000; n++ {
			ckNil(t, save(ctx, n))
			if n%100 == 0 {
				ckNil(t, r.Compact())
				want("compacted at work", n, n)
			}
			if n%50 == 0 {
				most = max(most, int64(len(strings.TrimRight(ckRead(t, inspect(t, s).Path), "\n"))))
			}
		}
	})
	if most > 100*600 {
		t.Errorf("the journal grew to %d bytes", most)
	}
	if info := inspect(t, s); info.Size > 2000 {
		t.Errorf("at the end it has %d bytes", info.Size)
	}
}
