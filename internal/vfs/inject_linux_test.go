package vfs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawlgo/pawl/internal/vfs"
)

// TestMain is also the program whose system calls strace makes fail.
func TestMain(m *testing.M) {
	if name := os.Getenv("PAWL_TEST_SYNC"); name != "" {
		runtime.LockOSThread() // strace counts calls by thread
		fmt.Print(syncOnce(name))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// syncOnce tells how a flush ended.
func syncOnce(name string) string {
	f, err := vfs.OS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt([]byte("x"), 0)
	}
	if err != nil {
		return err.Error()
	}
	err = f.Sync()
	if _, ok := errors.AsType[*os.PathError](err); err != nil && !ok {
		return fmt.Sprintf("not a PathError: %v", err)
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	return fmt.Sprintf("errno %d", errno)
}

// TestSyncRetriesEINTR: rule 19, of the errors of fdatasync only EINTR is tried again,
// rule 3, no other.
func TestSyncRetriesEINTR(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT TESTED: strace is not installed")
	}
	for _, c := range []struct {
		inject string
		want   string
	}{
		{"EINTR:when=1..3", "errno 0"},
		{"EIO:when=1", fmt.Sprintf("errno %d", syscall.EIO)},
		{"ENOSPC:when=1", fmt.Sprintf("errno %d", syscall.ENOSPC)},
		{"EAGAIN:when=1", fmt.Sprintf("errno %d", syscall.EAGAIN)},
	} {
		cmd := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error="+c.inject, os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_SYNC="+filepath.Join(t.TempDir(), "f"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("NOT TESTED: strace does not work here: %v: %s", err, out)
		}
		if string(out) != c.want {
			t.Errorf("%s: %s, want %s", c.inject, out, c.want)
		}
	}
}

// TestCloseOnExec: rule 18, no descriptor is inherited by a child.
func TestCloseOnExec(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	create(t, name)
	found := false
	for fd := range 64 {
		link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err != nil || link != name {
			continue
		}
		found = true
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d is inherited: %d %v", fd, flags, err)
		}
	}
	if !found {
		t.Error("the descriptor was not found: nothing was tested")
	}
}

// TestDropCacheDrops: rule 4, what is synced is not cached any more; and the reason why
// callers must begin to drop at the border of the largest folio: what begins before
// stays.
func TestDropCacheDrops(t *testing.T) {
	const size = 4 << 20
	f := create(t, filepath.Join(t.TempDir(), "f"))
	for off := int64(0); off < size; off += 1 << 20 {
		if _, err := f.WriteAt(make([]byte, 1<<20), off); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.DropCache(size/2 + 64<<10); err != nil {
		t.Fatal(err)
	}
	t.Logf("dropped from an offset within a folio: %d KB behind it are still cached", cached(t, f.Name(), size/2+64<<10, size)>>10)
	left := size
	for try := 0; try < 5 && left > 0; try++ { // the kernel may be at a page for a moment
		time.Sleep(time.Duration(try) * 10 * time.Millisecond)
		if err := f.DropCache(0); err != nil {
			t.Fatal(err)
		}
		left = cached(t, f.Name(), 0, size)
	}
	switch kind := fileSystem(t, f.Name()); kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
		if left > 0 {
			t.Errorf("%d of %d bytes are still cached", left, size)
		}
	default:
		if left > 0 {
			t.Skipf("NOT TESTED: this file system (%#x) keeps %d bytes cached", kind, left)
		}
	}
}

// fileSystem is the kind of the file system that a file is on.
func fileSystem(t *testing.T, name string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(name, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Type)
}

// cached counts the bytes of a file, from from to size, that the page cache holds.
func cached(t *testing.T, name string, from, size int) int {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m) //nolint:errcheck // the test is over
	page := os.Getpagesize()
	in := make([]byte, (size+page-1)/page)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(size), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	n := 0
	for _, b := range in[from/page:] {
		n += int(b&1) * page
	}
	return n
}
