package pawl_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/vfs"
)

// C-42: ESTALE while a file is opened makes it open once more, with the result that it has
// without; twice it is an error with that cause. It is never damage, nor a fresh start.
func TestC42StaleHandle(t *testing.T) {
	path := savedIn(t, fastDir(t), 3)
	before := ckRead(t, path)
	own := map[string]bool{"lstat": true, "open": true, "fstat": true, "sync": true, "dropcache": true, "read": true}
	seen := map[string]bool{}
	for at := 1; ; at++ {
		for _, sticky := range []bool{false, true} {
			f := &faultFS{FS: vfs.OS}
			f.fail = func(c call) error {
				if c.n == at || sticky && c.n > at {
					return syscall.ESTALE
				}
				return nil
			}
			ck, err := pawl.OpenFile[cursorState](path, pawl.WithFileSystem(f))
			if len(f.calls) < at {
				ckNil(t, err)
				ckNil(t, ck.Close())
				for op := range own {
					if !seen[op] {
						t.Errorf("no %s was made to fail", op)
					}
				}
				return
			}
			c := f.calls[at-1]
			switch {
			case err == nil:
				if got := ck.State(); got.Cursor != 3 || !ck.Resumed() {
					t.Errorf("%v: opened with %+v", c, got)
				}
				ckNil(t, ck.Close())
			case !errors.Is(err, syscall.ESTALE) || errors.Is(err, pawl.ErrCorrupt) || errors.Is(err, pawl.ErrNotFound):
				t.Errorf("%v: %v", c, err)
			case !sticky && c.path == path && own[c.op]:
				t.Errorf("%v: once, and it does not open: %v", c, err)
			}
			if c.path == path {
				seen[c.op] = true
			}
			if ckRead(t, path) != before {
				t.Fatalf("%v: the file changed", c)
			}
		}
	}
}

// Invariant 13, case C-70, of a Level 1 file: a copy that is taken while it is saved is one
// whole state, and not older than what was acknowledged when the copy was begun.
func TestC70CopiedWhileSaving(t *testing.T) {
	path := savedIn(t, fastDir(t), 1)
	ck := ckOpen[cursorState](t, path)
	var acked atomic.Int64
	acked.Store(1)
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for n := 2; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := ck.Save(cursorState{n, []string{strings.Repeat("x", n*37%5000)}}); err != nil {
				done <- err
				return
			}
			acked.Store(int64(n))
		}
	}()
	copied := filepath.Join(filepath.Dir(path), "copy.json")
	for range 200 {
		floor := acked.Load()
		ckWrite(t, copied, ckRead(t, path))
		c, err := pawl.OpenFile[cursorState](copied)
		if err != nil {
			t.Errorf("invariant 13: a copy does not open: %v", err)
			break
		}
		if got := c.State().Cursor; int64(got) < floor {
			t.Errorf("invariant 13: a copy holds save %d, and %d was acknowledged before", got, floor)
		}
		ckNil(t, c.Close())
	}
	close(stop)
	ckNil(t, <-done)
	t.Logf("200 copies during %d saves", acked.Load())
}
