//go:build unix

package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"io"
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
)

// Rule 17, C-74. A backup that was taken live is copied back in place (cp, rsync --inplace) while
// the owner is stopped: the inode stays, and since the file is filled ahead, the length as well. The
// owner touches nothing, and the backup opens.
func TestRestoredInPlaceUnderAStoppedOwner(t *testing.T) {
	for _, saved := range []int{1, 4} { // since the backup
		s := openStore(t)
		dir := filepath.Dir(filepath.Dir(mustPath(t, s)))
		r := startRacer(t, "PAWL_TEST_CHILD=paused", "H_STORE="+dir)
		if a := r.answer(t); a != "owner" {
			t.Fatal(a)
		}
		path := inspect(t, s).Path
		step := func() string {
			t.Helper()
			if _, err := io.WriteString(r.in, "go\n"); err != nil {
				t.Fatal(err)
			}
			return r.answer(t)
		}
		step()
		backup, err := os.ReadFile(path)
		ckNil(t, err)
		for range saved {
			if a := step(); a != "saved" {
				t.Fatal(a)
			}
		}
		ckNil(t, r.cmd.Process.Signal(syscall.SIGSTOP))
		before, err := os.Stat(path)
		ckNil(t, err)
		ckNil(t, os.WriteFile(path, backup, 0o600))
		after, err := os.Stat(path)
		ckNil(t, err)
		if !os.SameFile(before, after) || before.Size() != after.Size() {
			t.Fatalf("%d and then %d bytes: this is not what is to be tested", before.Size(), after.Size())
		}
		ckNil(t, r.cmd.Process.Signal(syscall.SIGCONT))
		if a := step(); !strings.Contains(a, "errreplaced") {
			t.Errorf("the owner says %q", a)
		}
		r.in.Close()
		r.cmd.Wait() //nolint:errcheck // it ends with that error
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, backup) {
			t.Errorf("the backup was changed: %v", err)
		}
		stop := errors.New("stop")
		if _, err := run(t, s, func(context.Context) (int, error) { return 0, stop }); !errors.Is(err, stop) {
			t.Errorf("the backup does not open: %v", err)
		}
	}
}

// Rule 17. The same at Level 1, and for a state that is saved already, which writes nothing.
func TestStateRestoredInPlace(t *testing.T) {
	for _, next := range []int{2, 3} { // equal to what is saved, or not
		path := filepath.Join(t.TempDir(), "a.jsonl")
		ck := openState[int](t, path)
		ckNil(t, ck.Save(1))
		backup, err := os.ReadFile(path)
		ckNil(t, err)
		ckNil(t, ck.Save(2))
		ckNil(t, os.WriteFile(path, backup, 0o600))
		if err := ck.Save(next); !errors.Is(err, pawl.ErrReplaced) {
			t.Errorf("saving %d: %v", next, err)
		}
		ck.Close() //nolint:errcheck // it may report the same again
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, backup) {
			t.Errorf("the backup was changed: %v", err)
		}
		if ck := openState[int](t, path); ck.State() != 1 {
			t.Errorf("the backup holds %d", ck.State())
		}
	}
}

// deleting removes each journal at the end of a flush of it, as soon as it is told to.
type deleting struct {
	vfs.FS
	now atomic.Bool
}

type deletingFile struct {
	vfs.File
	fs   *deleting
	name string
}

func (d *deleting) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return deletingFile{f, d, name}, err
}

func (d *deleting) AcquireLock(path string) (vfs.Lock, error) { return vfs.AcquireLock(vfs.OS, path) }

func (f deletingFile) Sync() error {
	err := f.File.Sync()
	if f.fs.now.Load() {
		err = errors.Join(err, os.Remove(strings.TrimSuffix(f.name, ".new")))
	}
	return err
}

// Rule 17. A save whose journal is deleted while it is flushed is not acknowledged, nor is any
// other behind it.
func TestDeletedDuringTheFlushOfASave(t *testing.T) {
	for what, save := range map[string]func(ctx context.Context) error{
		"state": func(ctx context.Context) error { return pawl.SaveState(ctx, 2) },
		"step": func(ctx context.Context) error {
			_, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
			return err
		},
	} {
		d := &deleting{FS: vfs.OS}
		s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), hook.StoreFS(d).(pawl.StoreOption))
		ckNil(t, err)
		_, err = run(t, s, func(ctx context.Context) (int, error) {
			ckNil(t, pawl.SaveState(ctx, 1))
			d.now.Store(true)
			wantErr(t, save(ctx), pawl.ErrReplaced)
			d.now.Store(false)
			wantErr(t, save(ctx), pawl.ErrReplaced)
			return 0, errors.New("stop")
		})
		if err == nil {
			t.Errorf("%s: the run ended", what)
		}
	}
}

// Rule 17. The journal is deleted while saves come one after the other, most of the time while one
// is flushed. What is acknowledged behind that is rare: only a deletion between the look behind
// the flush and the return of the save cannot be seen.
func TestDeletedDuringASave(t *testing.T) {
	late, trials := 0, 40
	for i := range trials {
		s := openStore(t)
		var acked atomic.Int64
		begin := time.Now()
		removed := make(chan time.Duration, 1)
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			path := inspect(t, s).Path
			go func() {
				time.Sleep(time.Duration(3000+i*137%2000) * time.Microsecond)
				os.Remove(path) //nolint:errcheck // else no save fails
				removed <- time.Since(begin)
			}()
			for n := 0; ; n++ {
				if err := pawl.SaveState(ctx, n); err != nil {
					return 0, err
				}
				acked.Store(int64(time.Since(begin)))
			}
		})
		wantErr(t, err, pawl.ErrReplaced)
		if acked.Load() > int64(<-removed) {
			late++
		}
	}
	t.Logf("%d of %d times a save was acknowledged behind the deletion", late, trials)
	if late > trials*3/4 { // without the look behind the flush it is nearly always
		t.Error("that is not rare")
	}
}
