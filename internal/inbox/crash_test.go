package inbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/vfs"
)

const crashDir = "/runs/r.inbox"

// newRuns is a store's directory of runs, durable.
func newRuns(t *testing.T) *crashfs.FS {
	base := crashfs.New()
	if err := errors.Join(base.Mkdir("/runs", 0o700), base.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return base
}

// mailIn returns the mail in a file system, by name, or why it cannot be trusted.
func mailIn(fsys vfs.FS) (map[string]bool, error) {
	entries, err := inbox.Read(fsys, crashDir, uid)
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names, err
}

// atEveryCrash calls check with what a power cut, or a kill, leaves after each operation of fn.
func atEveryCrash(t *testing.T, base *crashfs.FS, fn func() error, check func(img *crashfs.FS) error) {
	t.Helper()
	images, seen := 0, map[uint64]bool{}
	first := base.Ops()
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() || t.Failed() {
			return
		}
		look := func(img *crashfs.FS, how string) {
			images++
			if h := img.Hash(); !seen[h] {
				seen[h] = true
				if err := check(img); err != nil {
					t.Errorf("%s after %v %s: %v", how, op.Kind, op.Path, err)
				}
			}
		}
		for img, v := range base.Images(crashfs.Limits{}) {
			look(img, fmt.Sprintf("power cut (%v)", v))
		}
		look(base.Clone(), "kill")
	}
	err := fn()
	base.After = nil
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d images, %d distinct, of %d operations", images, len(seen), base.Ops()-first)
}

// inAll checks the mail in every image of a power cut now.
func inAll(base *crashfs.FS, want map[string]bool) error {
	for img, v := range base.Images(crashfs.Limits{}) {
		got, err := mailIn(img)
		for name, there := range want {
			if err == nil && got[name] != there {
				err = fmt.Errorf("%s: there %v, want %v", name, got[name], there)
			}
		}
		if err != nil {
			return fmt.Errorf("power cut (%v): %w", v, err)
		}
	}
	return nil
}

// TestCrashWhilePosting cuts the power at every operation of posting, into an inbox that is not
// there and into one that is. The entry is there whole or not at all, what was there stays, and
// who posts once more settles it, whatever the first one left.
func TestCrashWhilePosting(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(base *crashfs.FS) error
		old  bool
	}{
		{"no inbox", func(*crashfs.FS) error { return nil }, false},
		{"an inbox whose name is not durable", func(base *crashfs.FS) error { return base.Mkdir(crashDir, 0o700) }, false},
		{"an inbox with mail", func(base *crashfs.FS) error {
			_, err := inbox.Post(base, crashDir, answer("old", "1"), quiet)
			return err
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := newRuns(t)
			if err := c.make(base); err != nil {
				t.Fatal(err)
			}
			e, old := cancel(), answer("old", "1")
			again := 0
			atEveryCrash(t, base, func() error {
				_, err := inbox.Post(base, crashDir, e, quiet)
				return err
			}, func(img *crashfs.FS) error {
				got, err := mailIn(img)
				if err != nil || c.old && !got[old.Name()] || len(got) > 2 {
					return fmt.Errorf("mail %v, %w", got, err)
				}
				again++
				second := e
				second.By = "bob"
				_, err = inbox.Post(img, crashDir, second, quiet)
				if there := got[e.Name()]; err != nil && !(there && errors.Is(err, fs.ErrExist)) || errors.Is(err, inbox.ErrInDoubt) || there && err == nil {
					return fmt.Errorf("posted again: %w", err)
				}
				return inAll(img, map[string]bool{e.Name(): true, old.Name(): c.old})
			})
			if err := inAll(base, map[string]bool{e.Name(): true, old.Name(): c.old}); err != nil {
				t.Errorf("acknowledged, and after a %v", err)
			}
			if names := base.Files(); len(names) > 2 {
				t.Errorf("left: %q", names)
			}
		})
	}
}

// TestCrashWhileRemoving: an entry that is removed is there or not, nothing else is touched, and
// to remove it once more settles it.
func TestCrashWhileRemoving(t *testing.T) {
	for _, others := range []bool{false, true} {
		base := newRuns(t)
		e, other := cancel(), answer("other", "1")
		want := map[string]bool{e.Name(): false, other.Name(): others}
		_, err := inbox.Post(base, crashDir, e, quiet)
		if err == nil && others {
			_, err = inbox.Post(base, crashDir, other, quiet)
		}
		if err != nil {
			t.Fatal(err)
		}
		base.Put(crashDir+"/new-20200101T000000Z-0123456789abcdef", []byte("{"))
		atEveryCrash(t, base, func() error { return inbox.Remove(base, crashDir, e, quiet) }, func(img *crashfs.FS) error {
			if got, err := mailIn(img); err != nil || got[other.Name()] != others {
				return fmt.Errorf("mail %v, %w", got, err)
			}
			if err := inbox.Remove(img, crashDir, e, quiet); err != nil {
				return fmt.Errorf("removed again: %w", err)
			}
			return inAll(img, want)
		})
		if err := inAll(base, want); err != nil {
			t.Errorf("removed, and after a %v", err)
		}
		if _, err := base.Lstat(crashDir); (err == nil) != others {
			t.Errorf("others %v: the inbox: %v", others, err)
		}
	}
}

// TestRemoveWhatIsGone: an inbox that somebody removed, and did not live to make that durable, does
// not come back once Remove has said so.
func TestRemoveWhatIsGone(t *testing.T) {
	base := newRuns(t)
	e, err := inbox.Post(base, crashDir, cancel(), quiet)
	if err = errors.Join(err, base.Remove(crashDir+"/"+e.Name()), base.Remove(crashDir)); err == nil {
		err = inbox.Remove(base, crashDir, e, quiet)
	}
	if err = errors.Join(err, inAll(base, map[string]bool{e.Name(): false})); err != nil {
		t.Error(err)
	}
}

// TestReadWhileTheOwnerTakes: what is taken before each operation of a reader is there for it, or is
// not; it is no error.
func TestReadWhileTheOwnerTakes(t *testing.T) {
	for n := 1; ; n++ {
		base := newRuns(t)
		for _, e := range []inbox.Entry{cancel(), answer("k", "1")} {
			if _, err := inbox.Post(base, crashDir, e, quiet); err != nil {
				t.Fatal(err)
			}
		}
		first := base.Ops()
		base.Before = func(op crashfs.Op) {
			if op.N != first+n {
				return
			}
			base.Before = nil
			for _, e := range []inbox.Entry{cancel(), answer("k", "1")} {
				if err := inbox.Remove(base, crashDir, e, quiet); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := inbox.Read(base, crashDir, uid); err != nil {
			t.Errorf("taken before operation %d: %v", n, err)
		}
		if base.Before != nil {
			break
		}
	}
}

// noLinks is a file system without hard links.
type noLinks struct{ *crashfs.FS }

func (noLinks) Link(string, string) error { return &os.LinkError{Op: "link", Err: syscall.EPERM} }

// TestFaults fails every operation of posting and removing in every way, once, twice and for good:
// what is acknowledged stays, an error says what it leaves, and without the fault all goes well.
func TestFaults(t *testing.T) {
	runs, hurt := 0, 0
	for _, without := range []bool{false, true} {
		for _, kind := range crashfs.Kinds() {
			for _, errno := range crashfs.Errnos {
				for _, fault := range crashfs.FaultsOf(kind, errno) {
					for _, times := range crashfs.Times {
						for n := 1; ; n++ {
							failed, reached, err := oneFault(t, without, kind, n, times, fault)
							if !reached {
								break
							}
							if runs++; failed {
								hurt++
							}
							if err != nil {
								t.Errorf("no links %v, %v %d of %d times, %+v: %v", without, kind, n, times, fault, err)
								break // the fault may never be reached
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs with a fault, %d in which it was reported", runs, hurt)
}

func oneFault(t *testing.T, without bool, kind crashfs.Kind, n, times int, fault crashfs.Fault) (failed, reached bool, err error) {
	base := newRuns(t)
	var fsys vfs.FS = base
	if without {
		fsys = noLinks{base}
	}
	e := cancel()
	before := base.Count(kind)
	arm := func() { base.Fault = crashfs.Nth(kind, before+n, times, fault) }
	arm()
	_, postErr := inbox.Post(fsys, crashDir, e, quiet)
	var removeErr error
	if postErr == nil {
		base.Fault = nil
		if err := inAll(base, map[string]bool{e.Name(): true}); err != nil {
			return false, true, fmt.Errorf("acknowledged, and after a %w", err)
		}
		arm()
		if removeErr = inbox.Remove(fsys, crashDir, e, quiet); removeErr == nil {
			base.Fault = nil
			if err := inAll(base, map[string]bool{e.Name(): false}); err != nil {
				return false, true, fmt.Errorf("removed, and after a %w", err)
			}
		}
	}
	base.Fault = nil
	failed = postErr != nil || removeErr != nil
	if base.Count(kind) < before+n {
		return failed, false, nil
	}
	got, err := mailIn(fsys)
	if err != nil {
		return failed, true, err
	}
	doubt := errors.Is(postErr, inbox.ErrInDoubt)
	switch {
	case failed && !errors.Is(errors.Join(postErr, removeErr), fault.Err):
		return failed, true, fmt.Errorf("the errors %w and %w hide their cause", postErr, removeErr)
	case postErr != nil && doubt != got[e.Name()]:
		return failed, true, fmt.Errorf("mail %v and the error %w", got, postErr)
	}
	if _, err = inbox.Post(fsys, crashDir, e, quiet); err != nil && !errors.Is(err, fs.ErrExist) || errors.Is(err, inbox.ErrInDoubt) {
		return failed, true, fmt.Errorf("posted again: %w", err)
	}
	if err := inAll(base, map[string]bool{e.Name(): true}); err != nil {
		return failed, true, fmt.Errorf("posted again, and after a %w", err)
	}
	if err := inbox.Remove(fsys, crashDir, e, quiet); err != nil {
		return failed, true, fmt.Errorf("removed again: %w", err)
	}
	for _, name := range base.Files() {
		if strings.HasSuffix(name, ".json") {
			return failed, true, fmt.Errorf("left: %s", name)
		}
	}
	return failed, true, inAll(base, map[string]bool{e.Name(): false})
}

// TestAnotherBetweenAnyTwoOperations lets the owner take all mail, another sender post, and somebody
// take the temporary file for a dead sender's, before each operation of one who posts. Exactly one of the two has the word at any time, and
// nothing that was acknowledged is lost.
func TestAnotherBetweenAnyTwoOperations(t *testing.T) {
	for _, what := range []string{"take", "post", "post and take", "take other mail", "take what was first", "sweep"} {
		for n := 1; ; n++ {
			base := newRuns(t)
			mine, other := cancel(), cancel()
			mine.Mail, other.Mail = "mine", "first"
			before := map[string]inbox.Entry{"take other mail": answer("other", "1"), "take what was first": other}
			other.Mail = "other"
			if e, ok := before[what]; ok {
				if _, err := inbox.Post(base, crashDir, e, quiet); err != nil {
					t.Fatal(err)
				}
			}
			first := base.Ops()
			var taken []string
			take := func() {
				entries, err := inbox.Read(base, crashDir, uid)
				if err != nil {
					t.Errorf("%s before operation %d: %v", what, n, err)
				}
				for _, e := range entries {
					taken = append(taken, e.Mail)
					if err := inbox.Remove(base, crashDir, e, quiet); err != nil {
						t.Errorf("%s before operation %d: %v", what, n, err)
					}
				}
			}
			var otherErr error
			base.Before = func(op crashfs.Op) {
				if op.N != first+n {
					return
				}
				base.Before = nil
				if strings.Contains(what, "post") {
					_, otherErr = inbox.Post(base, crashDir, other, quiet)
				}
				if strings.Contains(what, "take") {
					take()
				}
				for _, name := range base.Files() {
					if what == "sweep" && strings.Contains(name, "/new-") {
						if err := base.Remove(name); err != nil {
							t.Error(err)
						}
					}
				}
			}
			_, err := inbox.Post(base, crashDir, mine, quiet)
			if base.Before != nil {
				break
			}
			if err != nil && !errors.Is(err, fs.ErrExist) || otherErr != nil && !errors.Is(otherErr, fs.ErrExist) || errors.Is(err, inbox.ErrInDoubt) {
				t.Fatalf("%s before operation %d: %v; the other: %v", what, n, err, otherErr)
			}
			take()
			all := strings.Join(taken, " ")
			if strings.Contains(all, "mine") != (err == nil) || strings.Contains(what, "post") && strings.Contains(all, "other") != (otherErr == nil) || what == "post" && err == nil && otherErr == nil {
				t.Errorf("%s before operation %d: taken %s; %v; the other: %v", what, n, all, err, otherErr)
			}
			if _, err := base.Lstat(crashDir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s before operation %d: left: %q", what, n, base.Files())
			}
		}
	}
}
