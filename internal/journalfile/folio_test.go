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

// checkLargeFolio: rule 4. The page cache drops large units only whole, so opening must
// not begin to drop behind the border of one. Here the record that a failed flush
// lost lies behind a hundred kilobytes that are known to be durable.
func checkLargeFolio(wrap func(vfs.FS) vfs.FS) error {
	s := newStory(noCrash(&model{wrap: wrap, lying: true}), 1)
	if err := errors.Join(s.create(), s.append(100_000, true), s.append(100_000, true)); err != nil {
		return err
	}
	s.base.Fault = crashfs.Nth(crashfs.Sync, s.base.Count(crashfs.Sync)+1, 1, crashfs.Fault{Err: syscall.EIO})
	if err := s.append(100, true); !errors.Is(err, journalfile.ErrInDoubt) {
		return fmt.Errorf("the flush that failed: %w", err)
	}
	s.base.Fault = nil
	j, n, err := s.m.open(s.base, s.m.acked)
	if err != nil {
		return err
	}
	s.m.settle(s.base, n)
	if err := s.m.append(s.base, j, body(journal.KindStep, 9, 50), true); err != nil {
		return err
	}
	for img, v := range s.base.Images(crashfs.Limits{Sectors: 3, Plain: true}) {
		if _, _, err := s.m.open(img, s.m.acked); err != nil {
			return fmt.Errorf("power cut (%v): %w", v, err)
		}
	}
	return nil
}

// TestOpenDropsLargeFolios: rule 4, see checkLargeFolio.
func TestOpenDropsLargeFolios(t *testing.T) {
	if err := checkLargeFolio(nil); err != nil {
		t.Error(err)
	}
}
