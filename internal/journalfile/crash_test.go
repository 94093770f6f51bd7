package journalfile_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// story is the life of a journal, crashed at every operation.
type story struct {
	x         *explorer
	m         *model
	base      *crashfs.FS
	j         *journalfile.File
	r         *rand.Rand
	wait      int  // one in so many records is not waited for, or all but one
	long      bool // most records span sectors
	torn      int  // recoveries that cut something off
	compacted int  // how often it was compacted
}

func newStory(x *explorer, seed uint64) *story {
	s := &story{x: x, m: x.m, base: crashfs.New(), r: rand.New(rand.NewPCG(seed, 1)), wait: 3 - int(seed%4)*2, long: seed/4%5 == 0}
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
	return s.m.append(s.base, s.j, body(journal.KindStep, s.m.alive+1, size), durable)
}

// reopen is an orderly end and a new start.
func (s *story) reopen() error {
	if err := s.j.Close(); err != nil {
		return err
	}
	s.m.acked = s.m.alive
	return s.on(s.base, s.m.acked)
}

// die is kill -9 and a new start.
func (s *story) die() error {
	if err := s.on(s.base.Clone(), s.m.alive); err != nil {
		return fmt.Errorf("after a kill: %w", err)
	}
	return nil
}

// loseAppend begins an append that the power interrupts, and goes on with one of
// the images that this leaves: if possible with a torn one.
func (s *story) loseAppend(size int) error {
	next := body(journal.KindStep, s.m.alive+1, size)
	s.m.bodies = append(s.m.bodies[:s.m.alive], next)
	type image struct {
		fs *crashfs.FS
		v  crashfs.Variant
	}
	var left []image
	s.base.Before = nil
	s.base.After = func(op crashfs.Op) {
		if op.Kind == crashfs.Write {
			for img, v := range s.base.Images(crashfs.Limits{Sectors: 8, Random: 4, Seed: s.r.Uint64()}) {
				left = append(left, image{img, v})
			}
		}
	}
	if _, err := s.j.Append(next, true); err != nil {
		return err
	}
	s.m.alive = s.m.acked
	for {
		img := left[s.r.IntN(len(left))]
		if _, _, err := s.m.open(img.fs.Clone(), s.m.acked); !s.x.mayRefuse(img.fs, img.v, err) {
			return s.on(img.fs, s.m.acked)
		}
	}
}

// on goes on with a file system, as after a restart: at least floor records are
// there.
func (s *story) on(base *crashfs.FS, floor int) error {
	s.base = base
	s.x.watch(base)
	before := len(base.Files())
	j, n, err := s.m.open(base, floor)
	if err != nil {
		return err
	}
	if len(base.Files()) > before {
		s.torn++
	}
	s.j = j
	s.m.settle(base, n)
	return nil
}

// size draws the size of a record: most are small, some are larger than a sector or
// a page.
func (s *story) size() int {
	switch n := s.r.IntN(40); {
	case n == 0:
		return 4100 + s.r.IntN(3000)
	case n < 7 || s.long && n < 25:
		return 500 + s.r.IntN(1500)
	default:
		return s.r.IntN(260)
	}
}

// waits draws whether a record is waited for. By the seed most are, or few.
func (s *story) waits() bool {
	if s.wait > 0 {
		return s.r.IntN(s.wait) > 0
	}
	return s.r.IntN(-s.wait+1) == 0
}

// live appends n records with restarts of all kinds in between.
func (s *story) live(n int) error {
	err := s.create()
	for i := 0; i < n && err == nil && !s.x.full(); i++ {
		if i > 0 && i == s.x.plot.from {
			s.x.quiet = false
			s.x.watch(s.base)
		}
		switch s.r.IntN(24) {
		case 0:
			err = s.reopen()
		case 1:
			err = s.die()
		case 2:
			err = s.loseAppend(s.size())
		case 3:
			err = s.compact()
		}
		if err == nil {
			err = s.append(s.size(), s.waits())
		}
	}
	return err
}
