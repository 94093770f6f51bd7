package crashfs_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
)

func TestStopAndFaults(t *testing.T) {
	f := crashfs.New()
	h := create(t, f, "/f")
	f.StopAfter(f.Ops() + 1)
	write(t, h, "x", 0)
	if _, err := h.WriteAt([]byte("y"), 0); !errors.Is(err, crashfs.ErrStopped) {
		t.Errorf("after the power cut: %v", err)
	}
	if _, err := f.Stat("/f"); !errors.Is(err, crashfs.ErrStopped) {
		t.Errorf("after the power cut: %v", err)
	}
	if string(f.AppendBytes(nil, "/f")) != "x" {
		t.Error("written after the power cut")
	}

	f = crashfs.New()
	h = create(t, f, "/f")
	f.Fault = crashfs.Nth(crashfs.Write, 2, 2, crashfs.Fault{Err: syscall.ENOSPC, Short: 3})
	write(t, h, "12345", 0)
	for range 2 {
		n, err := h.WriteAt([]byte("abcde"), 5)
		if n != 3 || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d %v", n, err)
		}
	}
	if string(f.AppendBytes(nil, "/f")) != "12345abc" {
		t.Errorf("%s", f.AppendBytes(nil, "/f"))
	}
	write(t, h, "abcde", 5)
	f.Fault = crashfs.Nth(crashfs.Rename, 1, -1, crashfs.Fault{Err: syscall.EIO, Done: true})
	if err := f.Rename("/f", "/g"); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if names := f.Files(); len(names) != 1 || names[0] != "/g" {
		t.Errorf("%q: done, and reported as failed", names)
	}
}

func TestErrors(t *testing.T) {
	f := crashfs.New()
	create(t, f, "/f").Close()
	must(t, f.Mkdir("/d", 0o700))
	for name, c := range map[string]struct{ err, want error }{
		"open absent":      {second(f.OpenFile("/x", os.O_RDWR, 0)), fs.ErrNotExist},
		"create existing":  {second(f.OpenFile("/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0)), fs.ErrExist},
		"open a directory": {second(f.OpenFile("/d", os.O_RDWR, 0)), syscall.EISDIR},
		"below a file":     {second(f.OpenFile("/f/x", os.O_RDWR|os.O_CREATE, 0)), syscall.ENOTDIR},
		"below nothing":    {f.Mkdir("/x/y", 0o700), fs.ErrNotExist},
		"mkdir existing":   {f.Mkdir("/f", 0o700), fs.ErrExist},
		"link existing":    {f.Link("/f", "/d"), fs.ErrExist},
		"rename absent":    {f.Rename("/x", "/y"), fs.ErrNotExist},
		"remove absent":    {f.Remove("/x"), fs.ErrNotExist},
		"sync a file":      {f.SyncDir("/f"), syscall.ENOTDIR},
		"stat absent":      {second(f.Stat("/x")), fs.ErrNotExist},
		"list a file":      {second(f.ReadDir("/f")), syscall.ENOTDIR},
	} {
		if _, ok := errors.AsType[*fs.PathError](c.err); !ok || !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	h, err := f.OpenFile("/f", os.O_RDONLY, 0)
	must(t, err)
	if _, err := h.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EBADF) {
		t.Errorf("written to a file opened for reading: %v", err)
	}
	must(t, h.Close())
	if err := h.Sync(); !errors.Is(err, syscall.EBADF) {
		t.Errorf("synced a closed file: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
