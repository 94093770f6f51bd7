package killfs_test

import (
	"errors"
	"os"
	"testing"

	"github.com/pawlgo/pawl/internal/killfs"
	"github.com/pawlgo/pawl/internal/memfs"
)

// TestDeath: what was written before the death stays, the operation of the death is done
// not, in part or wholly, and nothing is done after it.
func TestDeath(t *testing.T) {
	for mode, want := range map[killfs.Mode]string{killfs.Before: "first", killfs.Torn: "firstsec", killfs.After: "firstsecond\n"} {
		base := memfs.New()
		fsys := killfs.New(base, func(op killfs.Op) (killfs.Mode, bool) { return mode, op.N == 3 })
		f, err := fsys.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("first"), 0); err != nil || fsys.Dead() {
			t.Fatal(err, fsys.Dead())
		}
		if _, err := fsys.AcquireLock("l"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("second\n"), 5); !errors.Is(err, killfs.ErrDead) || !fsys.Dead() || fsys.Death() != "write: "+mode.String() {
			t.Errorf("%v: %v, %q", mode, err, fsys.Death())
		}
		_, writeErr := f.WriteAt([]byte("third"), 0)
		_, openErr := fsys.OpenFile("f", os.O_RDONLY, 0)
		for i, err := range []error{writeErr, openErr, f.Sync(), f.Truncate(0), fsys.Remove("f"), fsys.Rename("f", "g"), fsys.Mkdir("d", 0o700)} {
			if !errors.Is(err, killfs.ErrDead) {
				t.Errorf("%v: operation %d after the death: %v", mode, i, err)
			}
		}
		next := base.Snapshot()
		if _, held, _ := next.ProbeLock("l"); held {
			t.Errorf("%v: the dead holds its lock", mode)
		}
		if got := content(t, next); got != want {
			t.Errorf("%v: %q is left, want %q", mode, got, want)
		}
	}
}

// TestSnapshot: a copy shares nothing.
func TestSnapshot(t *testing.T) {
	base := memfs.New()
	f, err := base.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	big := make([]byte, 100_000)
	copy(big[70_000:], "here")
	for _, write := range []func() error{
		func() error { _, err := f.WriteAt(big, 0); return err },
		func() error { return base.Link("f", "g") },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	s := base.Snapshot()
	if _, err := f.WriteAt([]byte("there"), 70_000); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != string(big) {
		t.Error("the copy has another content")
	}
	a, err := s.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Stat("g")
	if err != nil || !s.SameFile(a, b) {
		t.Error("the names of a file have become two files", err)
	}
}

func content(t *testing.T, fsys *memfs.FS) string {
	t.Helper()
	f, err := fsys.OpenFile("f", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, info.Size())
	if n, err := f.ReadAt(p, 0); n != len(p) {
		t.Fatal(n, err)
	}
	return string(p)
}
