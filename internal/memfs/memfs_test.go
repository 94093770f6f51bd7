package memfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// TestContent compares a file with a slice of bytes under random writes and cuts.
func TestContent(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		f := create(t, memfs.New(), "x")
		var want []byte
		for range 300 {
			switch off := r.IntN(len(want) + 1 + r.IntN(40_000)); r.IntN(4) {
			case 0:
				if err := f.Truncate(int64(off)); err != nil {
					t.Fatal(err)
				}
				want = resized(want, off)
			default:
				p := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 1+r.IntN(1<<r.IntN(17)))
				if n, err := f.WriteAt(p, int64(off)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
				want = resized(want, max(len(want), off+len(p)))
				copy(want[off:], p)
			}
			off := r.IntN(len(want) + 10)
			p := make([]byte, r.IntN(100_000))
			n, err := f.ReadAt(p, int64(off))
			expect := want[min(off, len(want)):min(off+len(p), len(want))]
			if !bytes.Equal(p[:n], expect) || (n < len(p)) != (err == io.EOF) {
				t.Fatalf("seed %d: read %d of %d bytes at %d, %v", seed, n, len(p), off, err)
			}
		}
	}
}

func resized(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n:n]
	}
	return append(b[:len(b):len(b)], make([]byte, n-len(b))...)
}

// TestLikeOS does the same on disk and in memory; names and errors must agree.
func TestLikeOS(t *testing.T) {
	disk, memory := calls(t, vfs.OS, t.TempDir()), calls(t, memfs.New(), "root")
	if disk != memory {
		t.Errorf("on disk:\n%s\nin memory:\n%s", disk, memory)
	}
}

// calls logs what a sequence of calls answers.
func calls(t *testing.T, fsys vfs.FS, dir string) string {
	var log strings.Builder
	say := func(what string, err error) {
		kind := fmt.Sprint(err)
		for _, known := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, io.EOF} {
			if errors.Is(err, known) {
				kind = known.Error()
			}
		}
		if err != nil && strings.HasPrefix(what, "?") {
			kind = "some error"
		}
		fmt.Fprintf(&log, "%s: %s\n", what, kind)
	}
	if _, err := fsys.Stat(dir); err != nil {
		if err := fsys.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	open := func(name string, flag int) vfs.File {
		f, err := fsys.OpenFile(at(name), flag, 0o600)
		say("?open "+name, err)
		return f
	}
	_, err := fsys.OpenFile(at("absent"), os.O_RDWR, 0)
	say("open absent", err)
	_, err = fsys.OpenFile(at("no/file"), os.O_RDWR|os.O_CREATE, 0o600)
	say("create in absent", err)
	say("mkdir in absent", fsys.Mkdir(at("no/dir"), 0o700))
	say("mkdir", fsys.Mkdir(at("d"), 0o700))
	say("mkdir again", fsys.Mkdir(at("d"), 0o700))
	a := open("a", os.O_RDWR|os.O_CREATE|os.O_EXCL)
	_, err = fsys.OpenFile(at("a"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	say("create again", err)
	_, err = a.WriteAt([]byte("hello"), 2)
	say("write", err)
	say("link", fsys.Link(at("a"), at("b")))
	say("link again", fsys.Link(at("a"), at("b")))
	say("link absent", fsys.Link(at("absent"), at("c")))
	say("?link a directory", fsys.Link(at("d"), at("c")))
	say("rename", fsys.Rename(at("b"), at("d/c")))
	say("rename absent", fsys.Rename(at("b"), at("d/e")))
	say("rename onto itself by another name", fsys.Rename(at("a"), at("a")))
	say("?rename onto a directory", fsys.Rename(at("a"), at("d")))
	say("rename to absent", fsys.Rename(at("a"), at("no/a")))
	for _, name := range []string{"a", "d/c", "b"} {
		same, size, err := vfs.Identify(fsys, a, at(name))
		say(fmt.Sprint("identify ", name, same, size), err)
	}
	fi, err := fsys.Lstat(at("d/c"))
	say("lstat", err)
	mine, err := a.Stat()
	say(fmt.Sprint("stat ", mine.Size(), mine.Mode(), mine.Name(), mine.IsDir(), fsys.SameFile(mine, fi)), err)
	say("?remove a full directory", fsys.Remove(at("d")))
	for _, name := range []string{".", "d", "no", "a"} {
		names, err := fsys.ReadDir(at(name))
		if name == "a" {
			say("?readdir", err)
			continue
		}
		say(fmt.Sprint("readdir ", name, names), err)
	}
	ro := open("a", os.O_RDONLY)
	_, err = ro.WriteAt([]byte("x"), 0)
	say("?write read-only", err)
	say("?truncate read-only", ro.Truncate(0))
	p := make([]byte, 4)
	for range 3 {
		n, err := ro.Read(p)
		say(fmt.Sprintf("read %q", p[:n]), err)
	}
	say("sync", errors.Join(a.Sync(), a.DropCache(0), a.Chown(-1, -1), a.Chmod(0o640), fsys.SyncDir(dir)))
	say("remove", fsys.Remove(at("d/c")))
	say("remove absent", fsys.Remove(at("d/c")))
	say("remove a directory", fsys.Remove(at("d")))
	say("remove an open file", fsys.Remove(at("a")))
	n, err := a.ReadAt(p, 2)
	say(fmt.Sprintf("read %q", p[:n]), err)
	_, _, err = vfs.Identify(fsys, a, at("a"))
	say("identify removed", err)
	say("close", errors.Join(a.Close(), ro.Close()))
	say("close again", a.Close())
	_, err = a.ReadAt(p, 0)
	say("read closed", err)
	return log.String()
}

func TestLocks(t *testing.T) {
	f := memfs.New()
	l, err := f.AcquireLock("x/../y.lock")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.AcquireLock("y.lock")
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Owner.PID != os.Getpid() || held.Owner != l.Owner() {
		t.Errorf("a second owner: %v", err)
	}
	if o, held, err := f.ProbeLock("y.lock"); err != nil || !held || o != l.Owner() || !l.Intact() {
		t.Error(o, held, err)
	}
	if got := f.Locked(); !slices.Equal(got, []string{"y.lock"}) {
		t.Error(got)
	}
	for range 2 { // releasing again must not free somebody else's
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
		if l2, err := f.AcquireLock("y.lock"); (err == nil) != (l2 != nil) {
			t.Error(l2, err)
		}
	}
	if _, held, _ := f.ProbeLock("y.lock"); !held {
		t.Error("an old owner freed the lock of the new one")
	}
	// The lock of an open file ends with it.
	a := create(t, f, "a")
	b, err := f.OpenFile("a", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	try := func(f vfs.File) error { return f.(interface{ TryLock() error }).TryLock() }
	if err := try(a); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*lock.HeldError](try(b)); !ok || try(a) != nil {
		t.Error("two owners of a file")
	}
	if err := errors.Join(a.Close(), try(b)); err != nil {
		t.Error(err)
	}
}

// TestConcurrent is for the race detector: one file is written by one and read by many,
// names come and go.
func TestConcurrent(t *testing.T) {
	f := memfs.New()
	file := create(t, f, "log")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			p := make([]byte, 1000)
			for range 300 {
				n, _ := file.ReadAt(p, 0)
				if len(bytes.Trim(p[:n], "x")) > 0 {
					t.Error("read what nobody wrote")
				}
				name := fmt.Sprint("n", i)
				other := create(t, f, name)
				if err := errors.Join(other.Close(), f.Rename(name, name+"b"), f.Remove(name+"b")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 3000 {
		if _, err := file.WriteAt([]byte("xxxxx"), int64(5*i)); err != nil {
			t.Fatal(err)
		}
		if same, size, err := f.Identify(file, "log"); !same || err != nil || size != int64(5*i+5) {
			t.Fatal(same, size, err)
		}
	}
	wg.Wait()
}

// TestAppendCopiesNothing: appending to a large file costs what is appended.
func TestAppendCopiesNothing(t *testing.T) {
	f := create(t, memfs.New(), "x")
	p := make([]byte, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 20_000
	for i := range n {
		if _, err := f.WriteAt(p, int64(i*len(p))); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if per := float64(after.TotalAlloc-before.TotalAlloc) / n; per > 1.2*float64(len(p)) {
		t.Errorf("%.0f bytes allocated for each %d", per, len(p))
	}
}

func create(t *testing.T, f *memfs.FS, name string) vfs.File {
	t.Helper()
	file, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
