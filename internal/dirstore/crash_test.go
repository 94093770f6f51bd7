package dirstore_test

import (
	"errors"
	"fmt"
	"strings"
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

// TestFaultsWhileMakingAStore fails every operation, once and for good: the error
// is reported, and without the fault the next start works.
func TestFaultsWhileMakingAStore(t *testing.T) {
	for _, kind := range crashfs.Kinds() {
		for n := 1; ; n++ {
			base := crashfs.New()
			base.Fault = crashfs.Nth(kind, n, 1, crashfs.Fault{Err: errNoSpace, Short: 3})
			_, err := firstRun(base)
			if base.Count(kind) < n {
				break
			}
			if err != nil && !errors.Is(err, errNoSpace) {
				t.Errorf("%v %d: the error %v hides its cause", kind, n, err)
			}
			base.Fault = nil
			uid, err := firstRun(base)
			if err != nil {
				t.Errorf("%v %d: the next start fails: %v", kind, n, err)
				continue
			}
			for img := range base.Images(crashfs.Limits{}) {
				if err := check(img, uid); err != nil {
					t.Errorf("%v %d: %v", kind, n, err)
				}
			}
		}
	}
}
