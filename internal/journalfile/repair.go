package journalfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Repaired says what a repair found and what it gave up.
type Repaired struct {
	Needed     bool           // the journal is damaged
	Why        error          // what is wrong with it
	Kept       int64          // records kept
	Lost       []journal.Lost // stretches given up
	Missing    [][2]int64     // numbers of records that are not there, as ranges
	States     int            // states given up because one before them is missing
	HeaderLost bool           // the first record is lost: the run gets a new UID
	Inferred   []string       // records that must be among the missing ones, and are written anew
	Aside      string         // where the original is kept
	After      *journal.Fold  // what the repaired journal says, or would say
}

// ErrNoID says that a repair must be told the run's ID.
var ErrNoID = errors.New("the run's ID is not known")

// Identity is what the first record of a journal says of its run.
type Identity struct{ ID, UID, Store string }

// Repair makes a damaged journal readable again: records that are whole are kept, in a
// new file that takes the journal's name; the original is kept under another name. The
// caller holds the lock. Who is used if the first record is lost. With dry it only looks. A journal that is clean or torn is left alone.
func Repair(fsys vfs.FS, path string, who Identity, dry bool, warn func(string)) (*Repaired, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if !dry { // who only looks keeps nobody from opening it
		if err := lockFile(f); err != nil {
			return nil, err
		}
	}
	rep := &Repaired{}
	sc := journal.NewScanner(f, info.Size())
	for sc.Scan() {
		rep.Kept++
	}
	rep.Why = journal.WithPath(sc.Err(), path)
	if rep.Why == nil {
		return rep, nil
	}
	if !errors.Is(rep.Why, journal.ErrCorrupt) {
		return nil, rep.Why // newer, or not readable: not ours to repair
	}
	rep.Needed, rep.Kept = true, 0
	s := salvager{rep: rep, src: f, size: info.Size(), who: who}
	if err := s.survey(); err != nil {
		return nil, err
	}
	if dry {
		p := preview{fold: journal.NewFold()}
		if rep.Kept > 0 {
			if err := s.copy(&p); err != nil {
				return nil, err
			}
		}
		rep.After = p.fold
		return rep, nil
	}
	if rep.HeaderLost && who.ID == "" {
		return rep, fmt.Errorf("%w: the first record of %s is lost, and its file name holds only a part of the ID", ErrNoID, path)
	}
	if rep.Kept == 0 {
		return rep, fmt.Errorf("no record of %s can be read: %w", path, rep.Why)
	}
	return rep, s.rewrite(fsys, path, warn)
}

// salvager goes through the file twice: to see what is there, then to copy it.
type salvager struct {
	rep  *Repaired
	src  vfs.File
	size int64
	who  Identity

	lastSeq int64
	lastCRC uint32
	drop    map[int64]bool // states that cannot be reached any more
	infer   *inference
}

func (s *salvager) survey() error {
	s.infer = newInference()
	states := stateChecker{src: s.src, fold: journal.NewFold(), gaps: map[*journal.Saved]bool{}}
	s.drop = map[int64]bool{}
	first := true
	err := journal.Salvage(s.src, s.size, s.who.ID, func(r *journal.Record) error {
		if first {
			s.rep.HeaderLost = r.Kind != journal.KindRun
			s.lastSeq = r.Seq - 1
			if s.rep.HeaderLost {
				s.lastSeq = 0
			}
			first = false
		}
		if r.Seq > s.lastSeq+1 {
			s.rep.Missing = append(s.rep.Missing, [2]int64{s.lastSeq + 1, r.Seq - 1})
			states.missing()
			s.infer.gap(r.Seq-1, r.Seq-1-s.lastSeq)
		}
		s.lastSeq, s.lastCRC = r.Seq, r.CRC()
		s.rep.Kept++
		reachable := true
		if r.Kind == journal.KindState {
			var err error
			if reachable, err = states.reachable(r); err != nil {
				return err
			}
		}
		s.infer.record(r, !reachable)
		if !reachable {
			s.drop[r.Seq] = true
			s.rep.States++
			s.rep.Kept--
			return nil
		}
		states.fold.Apply(r)
		return nil
	}, func(l journal.Lost) { s.rep.Lost = append(s.rep.Lost, l) })
	s.rep.Inferred = s.infer.said
	return err
}

// stateChecker finds states whose patch has nothing left to be applied to.
type stateChecker struct {
	src  vfs.File
	fold *journal.Fold           // of what is kept
	gaps map[*journal.Saved]bool // states since whose whole record records are missing: look closely
}

// missing notes that records are missing here.
func (c *stateChecker) missing() {
	for _, s := range c.fold.Saved {
		c.gaps[s] = true
	}
}

func (c *stateChecker) reachable(r *journal.Record) (bool, error) {
	s := c.fold.Saved[r.Key]
	if r.Member("patch") == nil {
		delete(c.gaps, s)
		return true, nil
	}
	if s == nil || !c.gaps[s] {
		return s != nil, nil
	}
	saved := *s
	saved.Patches = append(append([]journal.Span(nil), saved.Patches...), journal.Span{Seq: r.Seq, Offset: r.Offset, Len: int64(len(r.Text))})
	_, _, err := saved.Read(func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(c.src, s) })
	if errors.Is(err, journal.ErrCorrupt) {
		return false, nil
	}
	return err == nil, err
}

func (s *salvager) rewrite(fsys vfs.FS, path string, warn func(string)) error {
	w, err := newWriter(fsys, path+tempSuffix, s.src, s.lastSeq, s.lastCRC, warn)
	if err != nil {
		return err
	}
	err = s.copy(w)
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		s.rep.After, err = w.check()
	}
	if err == nil {
		s.rep.Aside, err = keepOriginal(fsys, s.src, s.size, path, warn)
	}
	if err == nil {
		// The second name must be durable before the first one goes.
		err = SyncDir(fsys, dirOf(path), warn)
	}
	if err == nil {
		// The original has its second name by now, and a reader finds one of the
		// two files at every moment: never an absent one, which would be a fresh start.
		err = fsys.Rename(w.name, path)
	}
	if err != nil {
		w.discard()
		return err
	}
	if err := w.f.Close(); err != nil {
		return err
	}
	return SyncDir(fsys, dirOf(path), warn)
}

func (s *salvager) copy(w sink) error {
	first := true
	err := journal.Salvage(s.src, s.size, s.who.ID, func(r *journal.Record) error {
		if first {
			first = false
			if err := w.add(s.header(r)); err != nil {
				return err
			}
			if r.Kind == journal.KindRun {
				return nil
			}
		}
		for _, body := range s.infer.before[r.Seq] {
			if err := w.add(body); err != nil {
				return err
			}
		}
		if s.drop[r.Seq] {
			return nil
		}
		return w.add(r.Moved())
	}, func(journal.Lost) {})
	if err != nil {
		return err
	}
	b := line.NewBody(journal.KindRepair, "", vfs.Now()).Int("lost", int64(len(s.rep.Lost)))
	if n := len(s.rep.Missing); n > 0 {
		b.Int("missing_from", s.rep.Missing[0][0]).Int("missing_to", s.rep.Missing[n-1][1])
	}
	return w.add(b.Bytes())
}

// header is the first record of the new file: the old one, or what can be said
// without it.
func (s *salvager) header(r *journal.Record) []byte {
	if r.Kind == journal.KindRun {
		return r.NextIncarnation()
	}
	b := line.NewBody(journal.KindRun, "", vfs.Now()).Int("format", journal.Format).
		Str("id", s.who.ID).Str("uid", s.who.UID).Int("inc", 2)
	if s.who.Store != "" {
		b.Str("store", s.who.Store)
	}
	return b.Bytes()
}
