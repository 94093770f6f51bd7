package journalfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

func quiet(string) {}

// TestCreateNeverReplaces: rule 16, invariant 9. Another owner, who has no right to it either,
// creates the journal and appends while it is created here. Whenever that is, his record stays,
// and whoever did not get the name is told.
func TestCreateNeverReplaces(t *testing.T) {
	for noLinks, where := range map[bool]string{false: "hard links", true: "no hard links"} {
		t.Run(where, func(t *testing.T) {
			for n := 1; ; n++ {
				base := emptyDir(t)
				if noLinks {
					base.Fault = crashfs.Nth(crashfs.Link, 1, -1, crashfs.Fault{Err: syscall.EPERM})
				}
				first := base.Ops()
				var otherErr error
				var last crashfs.Kind
				base.Before = func(op crashfs.Op) {
					if op.N != first+n {
						return
					}
					base.Before, last = nil, op.Kind
					var b *journalfile.File
					if b, otherErr = journalfile.Create(base, path, body(journal.KindRun, 7, 10), quiet); otherErr == nil {
						_, otherErr = b.Append(body(journal.KindStep, 2, 10), true)
					}
				}
				mine, err := journalfile.Create(base, path, body(journal.KindRun, 1, 10), quiet)
				if base.Before != nil {
					break
				}
				if noLinks && last == crashfs.Rename {
					continue // the moment between looking and renaming, which only locks guard
				}
				_, fold, _, openErr := journalfile.Open(base, path, quiet)
				if openErr != nil {
					t.Fatalf("before operation %d: %v", n, openErr)
				}
				if otherErr == nil && fold.LastSeq != 2 {
					t.Errorf("before operation %d: the other's record was acknowledged, and there are %d records", n, fold.LastSeq)
				}
				if otherErr == nil && err == nil {
					t.Errorf("before operation %d: two owners made the journal", n)
				}
				if err != nil && otherErr != nil {
					t.Errorf("before operation %d: neither made it: %v; %v", n, err, otherErr)
				}
				for _, err := range []error{err, otherErr} {
					if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, journalfile.ErrReplaced) {
						t.Errorf("before operation %d: %v", n, err)
					}
				}
				if mine != nil {
					if _, err := mine.Append(body(journal.KindStep, 2, 10), true); err != nil {
						t.Errorf("before operation %d: appending: %v", n, err)
					}
				}
			}
		})
	}
}

// TestCreateNamesItsOwnFile: rule 16. What another creator put in the place of our file, under the
// name that it has until it is durable, must not get the journal's name as if it were ours.
func TestCreateNamesItsOwnFile(t *testing.T) {
	base := emptyDir(t)
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Link {
			base.Before = nil
			base.Remove(path + ".new") //nolint:errcheck // it is there
			base.Put(path+".new", []byte("another one's"))
		}
	}
	if _, err := journalfile.Create(base, path, body(journal.KindRun, 1, 10), quiet); !errors.Is(err, journalfile.ErrReplaced) {
		t.Errorf("the error is %v", err)
	}
}

// TestOpenRemovesLeftovers: invariant 12. What a creation, a compaction, a recovery or a repair
// left that died goes with the next start, and only from a journal that may be touched.
func TestOpenRemovesLeftovers(t *testing.T) {
	base, j := twoSteps(t)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	left := []string{path + ".new", path + ".torn.new", path + ".damaged.new"}
	for _, name := range left {
		base.Put(name, []byte("x"))
	}
	errForeign := errors.New("foreign")
	_, _, _, err := journalfile.OpenChecked(base, path, func(journal.Header) error { return errForeign }, quiet)
	if n := len(base.Files()); !errors.Is(err, errForeign) || n != 4 {
		t.Errorf("a foreign journal: %v, %d files", err, n)
	}
	if _, _, _, err := journalfile.Open(base, path, quiet); err != nil {
		t.Fatal(err)
	}
	if files := base.Files(); len(files) != 1 {
		t.Errorf("left: %q", files)
	}
}

// TestCompactionLeavesNoTemp: invariant 12. Whatever fails in a compaction, nothing of the new
// file is left, unless removing it is what failed.
func TestCompactionLeavesNoTemp(t *testing.T) {
	runs := 0
	for _, kind := range crashfs.Kinds() {
		for n := 1; kind != crashfs.Remove; n++ {
			base, j := twoSteps(t)
			at := base.Count(kind) + n
			base.Fault = crashfs.Nth(kind, at, 1, crashfs.Fault{Err: syscall.EIO, Short: 7})
			_, err := j.Compact(quiet)
			if base.Count(kind) < at {
				break
			}
			runs++
			if files := base.Files(); len(files) != 1 {
				t.Errorf("%v %d fails (%v): left %q", kind, n, err, files)
			}
		}
	}
	if runs < 10 {
		t.Errorf("%d runs: hardly anything was tested", runs)
	}
}

// TestCompactionPads: rule 9. A compacted journal has no newline at the start of a sector either
// (but for that of the first record), where it could be missing without a trace.
func TestCompactionPads(t *testing.T) {
	padded := 0
	for size := 60; size < 330; size++ {
		base := emptyDir(t)
		j, err := journalfile.Create(base, path, body(journal.KindRun, 1, 100), quiet)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := j.Append(body(journal.KindStep, i+2, size), true); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := j.Compact(quiet); err != nil {
			t.Fatal(err)
		}
		text := base.AppendBytes(nil, path)
		for off := slices.Index(text, '\n') + 1; off < len(text); off++ {
			if text[off] == '\n' && off%512 == 0 {
				t.Errorf("records of %d bytes: there is a newline at byte %d", size, off)
			}
		}
		padded += strings.Count(string(text), `"pad":`)
	}
	if padded == 0 {
		t.Error("nothing was padded: nothing was tested")
	}
}

// TestRepairFailsCleanly: invariants 4 and 12. Whatever fails in a repair, the damaged file is at its
// path and no temporary file is left; and repairing again and again keeps one copy.
func TestRepairFailsCleanly(t *testing.T) {
	b := wholeJournal(t).AppendBytes(nil, path)
	b[len(b)/2] ^= 4
	runs := 0
	for _, noLinks := range []bool{false, true} {
		for _, kind := range crashfs.Kinds() {
			for n := 1; kind != crashfs.Remove; n++ {
				base := put(t, b)
				at := base.Count(kind) + n
				base.Fault = func(op crashfs.Op) crashfs.Fault {
					if noLinks && op.Kind == crashfs.Link {
						return crashfs.Fault{Err: syscall.EPERM}
					}
					return crashfs.Nth(kind, at, 1, crashfs.Fault{Err: syscall.ENOSPC, Short: 7})(op)
				}
				_, err := realRepair(base)
				if base.Count(kind) < at {
					break
				}
				runs++
				for _, name := range base.Files() {
					if strings.HasSuffix(name, ".new") {
						t.Errorf("no links %v, %v %d fails (%v): %s is left", noLinks, kind, n, err, name)
					}
				}
				if text := base.AppendBytes(nil, path); err != nil && string(text) != string(b) && kind != crashfs.SyncDir && kind != crashfs.Close {
					t.Errorf("no links %v, %v %d fails (%v): it is not the damaged file any more", noLinks, kind, n, err)
				}
			}
		}
		base := put(t, b)
		base.Fault = func(op crashfs.Op) crashfs.Fault {
			if noLinks && op.Kind == crashfs.Link {
				return crashfs.Fault{Err: syscall.EPERM}
			}
			if op.Kind == crashfs.Rename && op.Path == path {
				return crashfs.Fault{Err: syscall.EIO}
			}
			return crashfs.Fault{}
		}
		for range 3 {
			if _, err := realRepair(base); !errors.Is(err, syscall.EIO) {
				t.Errorf("no links %v: %v", noLinks, err)
			}
		}
		if files := base.Files(); len(files) != 2 {
			t.Errorf("no links %v: after three repairs that failed: %q", noLinks, files)
		}
		base.Fault = nil
		rep, err := realRepair(base)
		if err != nil || rep.Aside != path+".damaged-1" || string(base.AppendBytes(nil, rep.Aside)) != string(b) {
			t.Errorf("no links %v: %+v, %v", noLinks, rep, err)
		}
	}
	if runs < 50 {
		t.Errorf("%d runs: hardly anything was tested", runs)
	}
}

// TestRepairKeepsOlderOriginals: a damaged original that is kept already is never written over, nor
// written through a link.
func TestRepairKeepsOlderOriginals(t *testing.T) {
	b := wholeJournal(t).AppendBytes(nil, path)
	b[len(b)/2] ^= 4
	older := slices.Clone(b)
	older[len(b)-30] ^= 1 // as long, and another one
	for _, noLinks := range []bool{false, true} {
		base := put(t, b)
		base.Put(path+".damaged-1", older)
		base.Put(path+".damaged-2", []byte("short"))
		if noLinks {
			base.Fault = crashfs.Nth(crashfs.Link, 1, -1, crashfs.Fault{Err: syscall.EPERM})
		}
		rep, err := realRepair(base)
		if err != nil || rep.Aside != path+".damaged-3" || string(base.AppendBytes(nil, rep.Aside)) != string(b) {
			t.Errorf("no links %v: %+v, %v", noLinks, rep, err)
		}
		if string(base.AppendBytes(nil, path+".damaged-1")) != string(older) || string(base.AppendBytes(nil, path+".damaged-2")) != "short" {
			t.Errorf("no links %v: an older one was written over", noLinks)
		}
	}
}

// TestRepairNeedsAnID: where the first record is lost and nobody knows the ID, nothing is changed.
func TestRepairNeedsAnID(t *testing.T) {
	b := wholeJournal(t).AppendBytes(nil, path)
	b[30] ^= 4
	base := put(t, b)
	before := base.Hash()
	rep, err := journalfile.Repair(base, path, journalfile.Identity{UID: "u"}, false, quiet)
	if !errors.Is(err, journalfile.ErrNoID) || !rep.HeaderLost || base.Hash() != before {
		t.Errorf("%+v, %v", rep, err)
	}
	rep, err = journalfile.Repair(base, path, journalfile.Identity{ID: "r", UID: "u"}, false, quiet)
	if err != nil || !rep.HeaderLost {
		t.Errorf("with an ID: %+v, %v", rep, err)
	}
}

// readingFS calls fn before something is read.
type readingFS struct {
	vfs.FS
	fn func()
}

type readingFile struct {
	vfs.File
	fn func()
}

func (r readingFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := r.FS.OpenFile(name, flag, perm)
	return readingFile{f, r.fn}, err
}

func (f readingFile) ReadAt(p []byte, off int64) (int, error) {
	f.fn()
	return f.File.ReadAt(p, off)
}

func (f readingFile) TryLock() error { return f.File.(interface{ TryLock() error }).TryLock() }

// TestRepairLocks: rule 16. A journal that somebody has open is not repaired, whatever became of
// its lock file; who only looks locks nothing.
func TestRepairLocks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	b := wholeJournal(t).AppendBytes(nil, path)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j, _, _, err := journalfile.Open(vfs.OS, name, quiet)
	if err != nil {
		t.Fatal(err)
	}
	who := journalfile.Identity{ID: "r", UID: "u"}
	if rep, err := journalfile.Repair(vfs.OS, name, who, false, quiet); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("repaired under its owner: %+v, %v", rep, err)
	}
	if _, err := journalfile.Repair(vfs.OS, name, who, true, quiet); err != nil {
		t.Errorf("looking beside its owner: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := ""
	fsys := readingFS{vfs.OS, func() {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opened = "free"
		if lock.TryFile(f) != nil {
			opened = "locked"
		}
	}}
	for _, c := range []struct {
		dry  bool
		want string
	}{{true, "free"}, {false, "locked"}} {
		if _, err := journalfile.Repair(fsys, name, who, c.dry, quiet); err != nil || opened != c.want {
			t.Errorf("dry %v: the journal is %s while it is read, %v", c.dry, opened, err)
		}
	}
}
