//go:build unix

package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal/repair"
)

// modesFS is the operating system's file system, with a look after each operation that
// makes a name or gives one to something else.
type modesFS struct {
	vfs.FS
	look func(op string)
}

func (m modesFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := m.FS.OpenFile(name, flag, perm)
	m.look("open " + name)
	return f, err
}

func (m modesFS) Rename(from, to string) error {
	err := m.FS.Rename(from, to)
	m.look("rename " + to)
	return err
}

func (m modesFS) Link(from, to string) error {
	err := m.FS.Link(from, to)
	m.look("link " + to)
	return err
}

func (m modesFS) Mkdir(name string, perm fs.FileMode) error {
	err := m.FS.Mkdir(name, perm)
	m.look("mkdir " + name)
	return err
}

// C-68: with a umask that takes nothing away, everything in a store is for its owner only,
// at each moment of its making: while runs save, are compacted, recovered, cleared, repaired,
// forked, imported, cancelled.
func TestC68StoreIsForTheOwnerOnly(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(fastDir(t), "deep", "store")
	var mu sync.Mutex
	seen, looks := map[string]bool{}, 0
	look := func(op string) {
		mu.Lock()
		defer mu.Unlock()
		looks++
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // what goes meanwhile is gone
			if err != nil {
				return nil
			}
			fi, err := os.Lstat(path)
			if err != nil {
				return nil
			}
			want := fs.FileMode(0o600)
			if fi.IsDir() {
				want = 0o700
			}
			if fi.Mode().Perm() != want {
				t.Errorf("after %s: %s has mode %v", op, path, fi.Mode())
			}
			seen[filepath.Base(path)] = true
			return nil
		})
	}
	s, err := pawl.Open(dir, hook.StoreFS(modesFS{vfs.OS, look}).(pawl.StoreOption))
	ckNil(t, err)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // from outside, too
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				look("something")
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	attempt := func() {
		t.Helper()
		r := begin(t, s)
		ctx := r.Context(t.Context())
		_, _, err := pawl.LoadState[[]string](ctx)
		ckNil(t, err)
		for i := range 30 {
			_, err := pawl.Step(ctx, fmt.Sprint("s", i), func(ctx context.Context) (string, error) { return "sk-test-0000", pawl.Note(ctx, "sk-test-0001") })
			ckNil(t, errors.Join(err, pawl.SaveState(ctx, []string{"sk-test-0002", fmt.Sprint(i)})))
			if i == 15 {
				ckNil(t, r.Compact())
			}
		}
		ckNil(t, r.Close())
	}
	attempt()
	path := inspect(t, s).Path
	ckWrite(t, path, ckRead(t, path)+`{"crc":"00000000","len":500,"prev":"sk-te`) // a torn tail is put aside
	attempt()
	ckNil(t, s.Fork(t.Context(), "r", 0, "fork"))
	_, err = s.Import(t.Context(), bytes.NewReader(export(t, s)), "copy")
	ckNil(t, err)
	_, _, err = s.Compact(t.Context(), "copy")
	ckNil(t, errors.Join(err, s.Cancel(t.Context(), "copy", "ann", "no more")))
	ckNil(t, overwrite(path, func(b []byte) { b[len(b)/2] ^= 1 }))
	rep, err := repair.Journal(path, repair.Options{})
	if err != nil || rep.Aside == "" {
		t.Fatalf("%+v, %v", rep, err)
	}
	_, err = s.Clear(t.Context(), "r")
	ckNil(t, err)
	attempt()
	look("all")
	mu.Lock()
	defer mu.Unlock()
	for _, name := range []string{"store.json", "runs", "r.jsonl", "r.lock", "fork.jsonl", "copy.jsonl", "r.jsonl.torn.new", "r.jsonl.damaged-1", "r.jsonl.cleared-1"} {
		if !seen[name] {
			t.Errorf("the test never saw %s, but %v", name, seen)
		}
	}
	if looks < 50 {
		t.Errorf("only %d looks", looks)
	}
}
