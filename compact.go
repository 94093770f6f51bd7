package pawl

import (
	"context"
	"errors"
	"io/fs"

	"github.com/pawlgo/pawl/internal/journalfile"
)

// Compact makes a run's journal as small as its meaning: superseded tries, attempts,
// states and results that a later epoch replaced go; every result, the newest
// state, what was under way and the end stay, and so do records of kinds that this
// version does not know. What goes is gone for [Store.History] too. It returns the
// journal's size before and after, in bytes.
//
// Nobody may own the run meanwhile ([ErrLocked]); an owner uses [Run.Compact]. At
// every moment, also of a power cut, either the old or the new journal is there,
// whole. Damage is [ErrCorrupt] and nothing changes.
func (s *Store) Compact(ctx context.Context, id string) (before, after int64, err error) {
	info, _, err := s.inspect(ctx, "compact", id)
	if err != nil {
		return 0, 0, err
	}
	l, err := s.dir.Acquire(id)
	if err != nil {
		if locked, ok := lockedError("compact", id, info.Path, err); ok {
			return 0, 0, locked
		}
		return 0, 0, &RunError{Op: "compact", RunID: id, Path: info.Path, Err: err, Hint: "nothing was changed"}
	}
	defer l.Release() //nolint:errcheck // ends with the process at the latest
	log, _, _, err := journalfile.Open(s.dir.FS, info.Path, warner(s.log))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, &RunError{Op: "compact", RunID: id, Err: ErrNotFound}
	}
	if err != nil {
		return 0, 0, openError(id, info.Path, err)
	}
	before = log.Size()
	_, err = log.Compact(warner(s.log))
	after = log.Size()
	if err = errors.Join(err, log.Close()); err != nil {
		return before, after, writeError("compact", id, "", info.Path, err)
	}
	return before, after, nil
}

// Compact does for an open run what [Store.Compact] does for one that nobody owns.
// Steps that end meanwhile are recorded after it. A complete run is [ErrComplete]: this
// process does not own it any more, use [Store.Compact].
func (r *Run) Compact() error {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return &RunError{Op: "compact", RunID: r.id, Err: r.ended}
	}
	fold, err := r.log.Compact(warner(r.store.log))
	if fold != nil {
		r.fold = fold // the new file is in use even if its name is not durable
	}
	if err != nil {
		return r.writeError("compact", "", err)
	}
	return nil
}

// Compact makes the journal behind [OpenState] as small as the newest state or the
// result. Earlier states are gone then. A JSON file is that small always.
func (c *Checkpoint[T]) Compact() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open("compact"); err != nil {
		return err
	}
	return c.b.compact()
}

func (b *fileBacking) compact() error { return nil }

func (b *stateBacking) compact() error {
	if b.readOnly != nil {
		return b.fail("compact", b.readOnly)
	}
	if b.log == nil {
		return nil
	}
	if err := b.checkOwner("compact"); err != nil {
		return err
	}
	fold, err := b.log.Compact(b.warn)
	if fold != nil {
		b.fold, b.last.patched = fold, 0
	}
	if err != nil {
		return b.fail("compact", err)
	}
	return nil
}
