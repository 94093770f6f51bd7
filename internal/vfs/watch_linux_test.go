package vfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/vfs"
)

// heard is what a watch told.
type heard struct {
	mu    sync.Mutex
	names []string
}

func (h *heard) add(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = append(h.names, name)
}

// until waits for a name and returns what was heard with it, and forgets that.
func (h *heard) until(t *testing.T, name string) []string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		if slices.Contains(h.names, name) {
			names := h.names
			h.names = nil
			h.mu.Unlock()
			return names
		}
		h.mu.Unlock()
		if time.Now().After(end) {
			t.Fatalf("not heard of %q, but of %q", name, h.names)
		}
	}
}

func watch(t *testing.T, dir string, h *heard) {
	t.Helper()
	stop, err := vfs.OS.(vfs.Watcher).Watch(dir, h.add, func() { h.add("LOST") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// TestWatch: what is made, moved in and touched is told; what is made inside of a directory, and the
// writes to a file, which are many, are not.
func TestWatch(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	var h heard
	watch(t, dir, &h)
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(vfs.OS.Mkdir(in("d"), 0o700))
	h.until(t, "d")
	must(os.WriteFile(in("d/inside"), []byte("x"), 0o600))
	vfs.Touch(vfs.OS, in("d"))
	if got := h.until(t, "d"); len(got) != 1 {
		t.Errorf("heard %q", got)
	}
	must(os.Mkdir(filepath.Join(other, "moved"), 0o700))
	must(os.Rename(filepath.Join(other, "moved"), in("moved")))
	h.until(t, "moved")

	// A journal at work.
	f, err := vfs.OS.OpenFile(in("r.jsonl.new"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	must(err)
	must(vfs.RenameNew(vfs.OS, in("r.jsonl.new"), in("r.jsonl")))
	h.until(t, "r.jsonl")
	for i := range 100 {
		_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", i), int64(4*i))
		must(errors.Join(err, f.Sync(), f.DropCache(0)))
	}
	must(errors.Join(f.Truncate(100), f.Sync(), f.Close()))
	_, err = os.ReadFile(in("r.jsonl"))
	must(err)
	must(os.Remove(in("r.jsonl")))
	vfs.Touch(vfs.OS, in("d"))
	if got := h.until(t, "d"); len(got) != 1 {
		t.Errorf("heard %q", got)
	}

	vfs.Touch(vfs.OS, in("absent")) // nothing happens
	must(os.RemoveAll(dir))
	h.until(t, "LOST")
}

// TestWatchOverflow: if more happens than the kernel keeps, that is told.
func TestWatchOverflow(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip(err)
	}
	var limit int
	if _, err := fmt.Sscan(string(text), &limit); err != nil || limit > 1<<16 {
		t.Skipf("%d events, %v", limit, err)
	}
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var h heard
	hold := make(chan struct{})
	stop, err := vfs.OS.(vfs.Watcher).Watch(dir, func(name string) { <-hold; h.add(name) }, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for range limit { // of two, since equal ones are told once
		vfs.Touch(vfs.OS, filepath.Join(dir, "a"))
		vfs.Touch(vfs.OS, filepath.Join(dir, "b"))
	}
	close(hold)
	h.until(t, "")
}

// TestWatchEnds: the descriptor is gone soon after stop.
func TestWatchEnds(t *testing.T) {
	open := func() (n int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		for _, fd := range fds {
			if link, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(link, "inotify") {
				n++
			}
		}
		return n
	}
	before := open()
	stop, err := vfs.OS.(vfs.Watcher).Watch(t.TempDir(), func(string) {}, func() { t.Error("lost") })
	if err != nil || open() != before+1 {
		t.Fatalf("%d descriptors, before %d, %v", open(), before, err)
	}
	stop()
	for end := time.Now().Add(10 * time.Second); open() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the descriptor is left")
		}
	}
	if _, err := vfs.OS.(vfs.Watcher).Watch(filepath.Join(t.TempDir(), "absent"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if n := open(); n > before {
		t.Errorf("%d descriptors are left", n-before)
	}
}

// TestGiveTo: what root makes for a user is the user's.
func TestGiveTo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chown(dir, 12345, 12346)); err != nil {
		t.Fatal(err)
	}
	like, err := vfs.OS.Stat(dir)
	if err == nil {
		err = vfs.GiveTo(vfs.OS, name, like)
	}
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if st := now.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 12346 {
		t.Errorf("of %d:%d", st.Uid, st.Gid)
	}
}
