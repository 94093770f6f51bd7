package journalfile_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// appender is what a program sees of a journal.
type appender interface {
	Append(body []byte, durable bool) (journal.Span, error)
	Sync() error
}

// forgetful is a journal with a bug that programs like to have: after an error it opens the
// file again by itself and goes on.
type forgetful struct {
	*journalfile.File
	fs vfs.FS
}

func (f *forgetful) Append(body []byte, durable bool) (journal.Span, error) {
	span, err := f.File.Append(body, durable)
	if errors.Is(err, journalfile.ErrInDoubt) {
		if j, _, _, openErr := journalfile.Open(f.fs, path, func(string) {}); openErr == nil {
			f.File = j
		}
	}
	return span, err
}

// checkPoison: rules 3 and 25, invariants 7 and 8. After a failed flush the handle takes
// nothing more, ever, and so gives the number of the record in doubt to no other; the record
// is absent or whole for whoever opens the journal next.
func checkPoison(base *crashfs.FS, open func(*journalfile.File) appender) error {
	if err := errors.Join(base.Mkdir(dir, 0o700), base.SyncDir("/")); err != nil {
		return err
	}
	j, err := journalfile.Create(base, path, body(journal.KindRun, 1, 100), func(string) {})
	if err != nil {
		return err
	}
	a := open(j)
	if _, err := a.Append(body(journal.KindStep, 2, 100), true); err != nil {
		return err
	}
	base.Fault = crashfs.Nth(crashfs.Sync, base.Count(crashfs.Sync)+1, 1, crashfs.Fault{Err: syscall.EIO})
	if _, err := a.Append(body(journal.KindStep, 3, 100), true); !errors.Is(err, journalfile.ErrInDoubt) || !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("rule 25: a failed flush is reported as %w", err)
	}
	for range 3 { // the flush would say nil by now
		if span, err := a.Append(body(journal.KindStep, 4, 100), true); err == nil {
			return fmt.Errorf("invariant 7: record %d was acknowledged by a handle whose flush had failed", span.Seq)
		}
		if _, err := a.Append(body(journal.KindStep, 5, 100), false); err == nil {
			return errors.New("invariant 7: a record was taken by a handle whose flush had failed")
		}
		if err := a.Sync(); err == nil {
			return errors.New("invariant 7: a handle whose flush had failed says that it flushed")
		}
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		_, fold, _, err := journalfile.Open(img, path, func(string) {})
		if err != nil || fold.LastSeq < 2 || fold.LastSeq > 3 || fold.Steps["step/4"] != nil {
			return fmt.Errorf("invariant 8: after a power cut (%v) there are %d records, %w", v, fold.LastSeq, err)
		}
	}
	return nil
}

// TestPoison: rules 3 and 25, invariants 7 and 8, see checkPoison.
func TestPoison(t *testing.T) {
	if err := checkPoison(crashfs.New(), func(j *journalfile.File) appender { return j }); err != nil {
		t.Error(err)
	}
}

// TestPoisonTeeth: rule 3, a handle that forgets that its flush failed is found.
func TestPoisonTeeth(t *testing.T) {
	base := crashfs.New()
	err := checkPoison(base, func(j *journalfile.File) appender { return &forgetful{j, base} })
	if err == nil {
		t.Error("a journal that forgets that a flush failed is not found")
	}
	t.Log(err)
}
