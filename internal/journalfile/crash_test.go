package journalfile_test

import (
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// story is a run of a journal, crashed at every operation.
type story struct {
	x    *explorer
	m    *model
	base *crashfs.FS
	j    *journalfile.File
}

func newStory(x *explorer) *story {
	s := &story{x: x, m: x.m, base: crashfs.New()}
	if err := s.base.Mkdir(dir, 0o700); err != nil {
		panic(err)
	}
	if err := s.base.SyncDir("/"); err != nil {
		panic(err)
	}
	x.watch(s.base)
	return s
}

func (s *story) create() error {
	j, err := s.m.create(s.base, body(journal.KindRun, 1, 100))
	s.j = j
	return err
}

func (s *story) append(size int, durable bool) error {
	return s.m.append(s.j, body(journal.KindStep, s.m.alive+1, size), durable)
}

// on goes on with another file system, as after a restart.
func (s *story) on(base *crashfs.FS, floor int) error {
	s.base = base
	s.x.watch(base)
	j, n, err := s.m.open(base, floor)
	if err != nil {
		return err
	}
	s.j = j
	s.m.settle(base, n)
	return nil
}

func (s *story) reopen() error {
	if err := s.j.Close(); err != nil {
		return err
	}
	s.m.acked = s.m.alive
	return s.on(s.base, s.m.acked)
}

func TestTryout(t *testing.T) {
	x := newExplorer(&model{})
	x.limits = crashfs.Limits{Sectors: 16, Random: 4}
	x.second = crashfs.Limits{Sectors: 4, Random: 2}
	x.every = 16
	s := newStory(x)
	if err := s.create(); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		size := 20 + i*13%300
		if i%7 == 3 {
			size = 600 + i*20
		}
		if err := s.append(size, i%3 != 1); err != nil {
			t.Fatal(err)
		}
		if i == 20 {
			if err := s.reopen(); err != nil {
				t.Fatal(err)
			}
		}
		if x.full() {
			break
		}
	}
	for _, f := range x.failures {
		t.Error(f)
	}
	t.Log("\n" + x.report())
}
