package journalfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

const installed = 6 // records that install makes

// install makes a journal of a few records, some of them longer than a sector.
func install(fsys vfs.FS) error {
	return journalfile.Install(fsys, path, 0, 0, func(add func([]byte) error) error {
		for i := range installed {
			kind := journal.KindStep
			if i == 0 {
				kind = journal.KindRun
			}
			if err := add(body(kind, i, 100+i*300)); err != nil {
				return err
			}
		}
		return nil
	}, func(string) {})
}

func noJournal() *crashfs.FS {
	base := crashfs.New()
	base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
	base.SyncDir("/")      //nolint:errcheck // as above
	return base
}

// whole says what is wrong with an installed journal. One that is not there is fs.ErrNotExist.
func whole(fsys vfs.FS) error {
	j, fold, rec, err := journalfile.Open(fsys, path, func(string) {})
	if err != nil {
		return err
	}
	if fold.Records != installed || fold.LastSeq != installed || rec.Torn > 0 {
		return fmt.Errorf("%d records up to %d, %d bytes torn", fold.Records, fold.LastSeq, rec.Torn)
	}
	return j.Close()
}

// TestCrashWhileInstalling cuts the power, and kills the process, at every operation: the
// journal is whole or not there, it can be installed then, and one that was acknowledged
// stays.
func TestCrashWhileInstalling(t *testing.T) {
	base := noJournal()
	images, absent, there := 0, 0, 0
	look := func(where string, img *crashfs.FS) {
		images++
		err := whole(img)
		if err == nil {
			there++
			return
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", where, err)
			return
		}
		absent++
		if err := install(img); err != nil {
			t.Errorf("%s: it cannot be installed after that: %v", where, err)
		} else if err := whole(img); err != nil {
			t.Errorf("%s: installed after that: %v", where, err)
		}
	}
	base.After = func(op crashfs.Op) {
		if !op.Kind.Changes() || t.Failed() {
			return
		}
		for img, v := range base.Images(crashfs.Limits{}) {
			look(fmt.Sprintf("power cut after %v %s (%v)", op.Kind, op.Path, v), img)
		}
		look(fmt.Sprintf("kill after %v %s", op.Kind, op.Path), base.Clone())
	}
	if err := install(base); err != nil {
		t.Fatal(err)
	}
	base.After = nil
	for img, v := range base.Images(crashfs.Limits{}) {
		if err := whole(img); err != nil {
			t.Errorf("power cut after it was acknowledged (%v): %v", v, err)
		}
	}
	if err := install(base); !errors.Is(err, fs.ErrExist) {
		t.Errorf("installed over a journal: %v", err)
	}
	t.Logf("%d images: not there in %d, whole in %d", images, absent, there)
}

// TestFaultsWhileInstalling fails every operation: without the fault it can be installed
// then, unless the error said that it is there.
func TestFaultsWhileInstalling(t *testing.T) {
	runs := 0
	for _, kind := range crashfs.Kinds() {
		for _, fault := range faultsOf(kind, syscall.EIO) {
			for n := 1; ; n++ {
				base := noJournal()
				base.Fault = crashfs.Nth(kind, n, 1, fault)
				err := install(base)
				if base.Count(kind) < n {
					break
				}
				runs++
				where := fmt.Sprintf("%v %d %+v", kind, n, fault)
				base.Fault = nil
				switch {
				case err == nil, errors.Is(err, journalfile.ErrInDoubt):
					if wholeErr := whole(base); wholeErr != nil {
						t.Errorf("%s: %v, and then %v", where, err, wholeErr)
					}
					continue
				case !errors.Is(err, syscall.EIO):
					t.Errorf("%s: the error %v hides its cause", where, err)
				}
				if err := install(base); err != nil && !errors.Is(err, fs.ErrExist) {
					t.Errorf("%s: %v", where, err)
				}
				if err := whole(base); err != nil {
					t.Errorf("%s: %v", where, err)
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}
