package dirstore_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

const storePath = "/home/me/store"

func quiet(string) {}

// firstRun makes a store and a run in it, as a program does at its first start, or
// as much of it as is not there. It returns the store's UID.
func firstRun(fsys vfs.FS) (string, error) {
	d, err := dirstore.Open(fsys, storePath, true, quiet)
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	if err := d.CheckRuns(); err != nil {
		return d.UID, fmt.Errorf("runs: %w", err)
	}
	j, _, _, err := journalfile.Open(fsys, d.Journal("r"), quiet)
	if err != nil {
		body := line.NewBody(journal.KindRun, "", time.Time{}).Int("format", 1).Str("id", "r").Str("uid", "u").Int("inc", 1).Bytes()
		if j, err = journalfile.Create(fsys, d.Journal("r"), body, quiet); err != nil {
			return d.UID, fmt.Errorf("create: %w", err)
		}
	}
	return d.UID, j.Close()
}

// check says what is wrong with a store that firstRun made and the power left.
func check(img *crashfs.FS, uid string) error {
	d, err := dirstore.Open(img, storePath, false, quiet)
	if err != nil {
		return err
	}
	if d.UID != uid {
		return fmt.Errorf("another store: %s, not %s", d.UID, uid)
	}
	entries, err := d.Entries()
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%d runs, not 1", len(entries))
	}
	for _, name := range img.Files() {
		if strings.HasPrefix(name, storePath+"/store.json.") {
			err = errors.Join(err, fmt.Errorf("invariant 12: %s is left", name))
		}
	}
	return err
}

// TestCrashWhileMakingAStore cuts the power, and kills the process, at every
// operation of making a store and the first run in it. The next start must be able to
// go on, and what it made must survive the next power cut (rule 6: names are durable
// before anything in them is acknowledged, whoever made them).
func TestCrashWhileMakingAStore(t *testing.T) {
	base := crashfs.New()
	images, seen := 0, map[uint64]bool{}
	restart := func(where string, img *crashfs.FS) {
		before, openErr := dirstore.Open(img, storePath, false, quiet)
		uid, err := firstRun(img)
		switch {
		case err != nil:
			t.Errorf("%s: the next start fails: %v", where, err)
			return
		case openErr == nil && before.UID != uid:
			t.Errorf("%s: the store changed its UID", where)
		}
		for again, v := range img.Images(crashfs.Limits{}) {
			images++
			if err := check(again, uid); err != nil {
				t.Errorf("%s; then a restart and a power cut (%v): %v", where, v, err)
			}
		}
	}
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() || t.Failed() {
			return
		}
		for img, v := range base.Images(crashfs.Limits{}) {
			images++
			if h := img.Hash(); !seen[h] {
				seen[h] = true
				restart(fmt.Sprintf("power cut after %v %s (%v)", op.Kind, op.Path, v), img)
			}
		}
		restart(fmt.Sprintf("kill after %v %s", op.Kind, op.Path), base.Clone())
	}
	uid, err := firstRun(base)
	base.After = nil
	if err != nil {
		t.Fatal(err)
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		if err := check(img, uid); err != nil {
			t.Errorf("power cut after all is acknowledged (%v): %v", v, err)
		}
	}
	t.Logf("%d images, %d of the first crash distinct, of %d operations", images, len(seen), base.Ops())
}

// TestFaultsWhileMakingAStore fails every operation in every way, once, twice and for
// good: the error is reported, and without the fault the next start works; what was
// acknowledged in spite of it stays.
func TestFaultsWhileMakingAStore(t *testing.T) {
	runs, hurt := 0, 0
	for _, noLinks := range []bool{false, true} {
		for _, kind := range crashfs.Kinds() {
			for _, errno := range crashfs.Errnos {
				for _, fault := range crashfs.FaultsOf(kind, errno) {
					for _, times := range crashfs.Times {
						for n := 1; ; n++ {
							base := crashfs.New()
							base.Fault = crashfs.Nth(kind, n, times, fault)
							failed, err := makeFaulty(base, noLinks, kind, n, errno)
							if base.Count(kind) < n {
								break
							}
							if runs++; failed {
								hurt++
							}
							if err != nil {
								t.Errorf("no links %v, %v %d of %d times, %+v: %v", noLinks, kind, n, times, fault, err)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs with a fault, %d in which it was reported", runs, hurt)
}

// makeFaulty makes a store and a run while the nth operation of a kind fails, and again when it
// does not any more.
func makeFaulty(base *crashfs.FS, without bool, kind crashfs.Kind, n int, errno syscall.Errno) (failed bool, err error) {
	var fsys vfs.FS = withLocks{base}
	if without {
		fsys = noLinks{withLocks{base}}
	}
	before, err := firstRun(fsys)
	if base.Count(kind) < n {
		return false, nil
	}
	failed = err != nil
	if failed && !errors.Is(err, errno) {
		return failed, fmt.Errorf("the error %w hides its cause", err)
	}
	base.Fault = nil
	if !failed {
		for img, v := range base.Images(crashfs.Limits{}) {
			if err := check(img, before); err != nil {
				return failed, fmt.Errorf("nothing was reported, and after a power cut (%v): %w", v, err)
			}
		}
	}
	uid, err := firstRun(fsys)
	if err != nil {
		return failed, fmt.Errorf("the next start fails: %w", err)
	}
	if before != "" && before != uid {
		return failed, fmt.Errorf("another store: %s, not %s", uid, before)
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		if err := check(img, uid); err != nil {
			return failed, fmt.Errorf("after the next start and a power cut (%v): %w", v, err)
		}
	}
	return failed, nil
}
