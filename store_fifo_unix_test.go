//go:build unix

package pawl_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Rule 21: what stands in the place of a run's files and is no plain file is never waited for,
// and never followed: not by what lists and reads runs, nor by a start.
func TestFIFOsAndLinksInAStore(t *testing.T) {
	ended := time.AfterFunc(time.Minute, func() { panic("something waits for the other end of a FIFO") })
	defer ended.Stop()
	s, other := openStore(t), openStore(t)
	for _, s := range []*pawl.Store{s, other} {
		if _, err := run(t, s, func(context.Context) (int, error) { return 7, nil }); err != nil {
			t.Fatal(err)
		}
	}
	good := inspect(t, s)
	dir := filepath.Dir(good.Path)
	odd := map[string]func(string) error{
		"fifo": func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"link": func(p string) error { return os.Symlink(inspect(t, other).Path, p) },
		"dir":  func(p string) error { return os.Mkdir(p, 0o700) },
	}
	for id, make := range odd {
		path := filepath.Join(dir, id+".jsonl")
		if err := make(path); err != nil {
			t.Skip("NOT TESTED: ", err)
		}
		if _, err := s.Inspect(t.Context(), id); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("inspect %s: %v", id, err)
		}
		for _, err := range s.History(t.Context(), id) {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("history of %s: %v", id, err)
			}
		}
		if err := s.Fork(t.Context(), id, 0, "fork"); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("fork %s: %v", id, err)
		}
		if err := s.Export(t.Context(), id, io.Discard); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("export %s: %v", id, err)
		}
		if _, err := s.Begin(t.Context(), id); err == nil {
			t.Errorf("%s: it began", id)
		}
		if _, _, err := journal.Read(path); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("read %s: %v", id, err)
		}
		if _, err := journal.Each(path, func(*journal.Record) error { return nil }); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("each of %s: %v", id, err)
		}
		if _, err := pawl.InspectFile(path); id != "link" && (!errors.Is(err, pawl.ErrInvalid) || !errors.Is(err, fs.ErrInvalid)) {
			t.Errorf("inspect file %s: %v", id, err)
		}
	}
	seen := map[string]runs.Info{}
	for info, err := range s.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[info.ID] = info
	}
	for id := range odd {
		if info := seen[id]; !errors.Is(info.Err, fs.ErrInvalid) || info.Size != 0 {
			t.Errorf("listed: %s: %+v", id, info)
		}
	}
	if seen[good.ID].Err != nil || len(seen) != 4 {
		t.Errorf("%d runs, the good one %+v", len(seen), seen[good.ID])
	}
	// A lock file that is a FIFO gives no owner and no lock.
	lock := strings.TrimSuffix(good.Path, ".jsonl") + ".lock"
	if err := errors.Join(os.Remove(lock), syscall.Mkfifo(lock, 0o600)); err != nil {
		t.Fatal(err)
	}
	if info := inspect(t, s); info.Owner != nil {
		t.Errorf("owned by %+v", info.Owner)
	}
	marker := filepath.Join(filepath.Dir(dir), "store.json")
	if err := errors.Join(os.Remove(marker), syscall.Mkfifo(marker, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := pawl.Open(filepath.Dir(dir)); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a store whose marker is a FIFO: %v", err)
	}
}
