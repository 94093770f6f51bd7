package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

const opFork = "fork"

// Fork makes a new run of everything that a run had recorded up to and including record
// seq (0: all of it), with the ID newID and a UID of its own. The two share nothing from
// then on: the first is not changed, and deleting either leaves the other. The fork's history
// begins with that of the first run, record for record, and says which run and record it
// comes from ([runs.Info.Parent]). When Fork returns nil the new run is durable.
//
// Results that were recorded up to there are results of the fork. Its idempotency keys
// are others; so a step that was under way at that record is [ErrInDoubt] until it is
// resolved, see [AtMostOnce]: it may have happened for the first run.
//
// It takes no lock of the first run, which may be at work. Errors: [ErrNotFound] (no such
// run or record; a compaction may have dropped it), [ErrConflict] (there is a run newID,
// or the journal belongs to another store), [ErrInvalid] (an ID, or seq below 0),
// [ErrCorrupt], [ErrNewerFormat], and those of the file system.
func (s *Store) Fork(ctx context.Context, id string, seq int64, newID string) error {
	for _, name := range []string{id, newID} {
		if err := runid.Check(name); err != nil {
			return invalidID(opFork, name, err)
		}
	}
	if seq < 0 {
		return &RunError{Op: opFork, RunID: id, Err: fmt.Errorf("%w: there is no record %d; 0 means all of them", ErrInvalid, seq), Hint: nothingCreated}
	}
	if err := s.checkOpen(opFork, id); err != nil {
		return err
	}
	path := s.dir.Journal(id)
	f, err := vfs.OpenRegular(s.dir.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return &RunError{Op: opFork, RunID: id, Path: path, Err: ErrNotFound, Hint: "nothing was created; list the runs with: pawl ls"}
	}
	if err != nil {
		return &RunError{Op: opFork, RunID: id, Err: err, Hint: nothingCreated}
	}
	defer f.Close()
	past, err := s.pastOf(ctx, f, id, seq)
	if err != nil {
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) {
			return openError(id, path, journal.WithPath(err, path))
		}
		return &RunError{Op: opFork, RunID: id, Seq: seq, Path: path, Err: err, Hint: nothingCreated}
	}
	if uid := past.fold.Header.Store; uid != s.dir.UID {
		return &RunError{Op: opFork, RunID: id, Path: path, Err: fmt.Errorf("%w: the run belongs to another store (%s, this is %s)", ErrConflict, uid, s.dir.UID), Hint: nothingCreated + "; a run comes into a store with pawl import, not by copying its file"}
	}
	return s.create(opFork, newID, func(path string) error {
		if err := past.writeTo(ctx, path, newID); err != nil {
			return createError(opFork, newID, err)
		}
		return nil
	})
}

// past is what a journal says up to a record.
type past struct {
	store *Store
	src   vfs.File
	end   int64 // offset behind that record
	fold  *journal.Fold
}

// pastOf reads a journal up to and including record seq, and makes that durable.
func (s *Store) pastOf(ctx context.Context, f vfs.File, id string, seq int64) (*past, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	p := &past{store: s, src: f, fold: journal.NewFold()}
	sc := journal.NewScanner(f, info.Size())
	// To the end in any case: of damage behind the record too one should know now.
	for sc.Scan() {
		if err := s.ctxErr(ctx); err != nil {
			return nil, err
		}
		r := sc.Record()
		if seq > 0 && r.Seq > seq {
			continue
		}
		p.fold.Apply(r)
		p.end = r.Offset + int64(len(r.Text)) + 1
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if p.fold.LastSeq == 0 || seq > 0 && p.fold.LastSeq != seq {
		return nil, fmt.Errorf("%w: no record %d", ErrNotFound, seq)
	}
	if p.fold.Header.RunID != id {
		return nil, &journal.CorruptError{Seq: 1, Reason: fmt.Sprintf("it holds run %q", p.fold.Header.RunID)}
	}
	if err := syncReader(f); err != nil {
		return nil, fmt.Errorf("it is not known whether the newest records are durable: %w", err)
	}
	return p, nil
}

// writeTo makes the journal of the run newID.
func (p *past) writeTo(ctx context.Context, path, newID string) error {
	doubtful := startsInDoubt(p.fold)
	return journalfile.Install(p.store.dir.FS, path, 0, 0, func(add func([]byte) error) error {
		sc := journal.NewScanner(p.src, p.end)
		for sc.Scan() {
			if err := p.store.ctxErr(ctx); err != nil {
				return err
			}
			r := sc.Record()
			body := r.Moved()
			switch {
			case r.Kind == journal.KindRun:
				body = p.header(r, newID)
			case doubtful[r.Seq]:
				body = line.Override(nil, body, 0, "once", []byte("true"))
			case r.Kind == journal.KindAttempt: // its terms are none of the fork's
				body = line.NewBody(r.Kind, "", r.Time()).Int("was", r.Was()).Int("n", r.Int("n")).Str("host", r.Str("host")).Int("pid", r.Int("pid")).Bytes()
			case r.Kind == journal.KindCancelled:
				// Whoever makes a fork wants it to run. The attempt ended there all the same.
				body = line.NewBody(journal.KindInterrupted, "", r.Time()).Int("was", r.Was()).Str("error", "the run that this one was forked from was cancelled").Bytes()
			}
			if err := add(body); err != nil {
				return err
			}
		}
		if err := sc.Err(); err != nil {
			return err
		}
		return p.store.letGo(p.fold, add)
	}, warner(p.store.log))
}

// letGo ends the attempt that a copied journal was in the middle of: the copy has not died.
func (s *Store) letGo(fold *journal.Fold, add func([]byte) error) error {
	if len(fold.Died()) == 0 {
		return nil
	}
	return add(line.NewBody(journal.KindInterrupted, "", s.now()).Str("error", "copied while it was under way").Bytes())
}

// header is the first record of the fork.
func (p *past) header(r *journal.Record, newID string) []byte {
	h := p.fold.Header
	parent := append([]byte(`{"id":`), line.AppendString(nil, h.RunID)...)
	parent = append(append(parent, `,"uid":`...), line.AppendString(nil, h.UID)...)
	parent = append(strconv.AppendInt(append(parent, `,"seq":`...), p.fold.LastSeq, 10), '}')
	body := r.NextIncarnation()
	for _, m := range []struct {
		name string
		raw  []byte
	}{
		{"id", line.AppendString(nil, newID)},
		{"uid", line.AppendString(nil, dirstore.NewUID())},
		{"inc", []byte("1")},
		{"parent", parent},
	} {
		body = line.Override(nil, body, 0, m.name, m.raw)
	}
	return body
}

// startsInDoubt returns the numbers of the start records of the steps that were under
// way.
func startsInDoubt(fold *journal.Fold) map[int64]bool {
	doubtful := map[int64]bool{}
	for key, st := range fold.Steps {
		if t := fold.Trouble[key]; t != nil && !t.Until.IsZero() {
			continue // a sleep does nothing that could happen twice
		}
		if st.Status == journal.StepRunning && st.Start.Len > 0 {
			doubtful[st.Start.Seq] = true
		}
	}
	return doubtful
}
