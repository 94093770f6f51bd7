package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// ResolveDone says of a step in doubt that it happened, and what its result is: the next
// start returns that and does not call the step's function. Result must be what the
// function would have returned, or its JSON as a json.RawMessage. Who says so and why
// stand in the history. When it returns nil that is durable.
//
// Until the run is complete, what was said of a step so may be corrected by saying it anew, with
// either of the two methods: the newest counts, and all of them stand in the history.
//
// Errors: [ErrNotFound] (no such run or step), [ErrLocked] (the run is open: the step may
// be under way), [ErrConflict] (the step's function has given a result), [ErrInvalid] (it is not
// in doubt, or the result cannot be stored), [ErrComplete], [ErrCorrupt] and
// [ErrNewerFormat].
func (s *Store) ResolveDone(ctx context.Context, id, key string, result any, by, reason string) error {
	text, err := (&Run{store: s}).encode(result)
	if err != nil {
		return &RunError{Op: "resolve", RunID: id, Key: key, Err: fmt.Errorf("%w: result: %w", ErrInvalid, err), Hint: "nothing was written"}
	}
	return s.resolve(ctx, id, key, func(st *journal.Step, _ int64) []byte {
		b := line.NewBody(journal.KindStep, key, s.now()).Int("try", st.Tries).Int("us", 0)
		s.signed(b, by, reason)
		return b.Value(text).Bytes()
	})
}

// ResolveRerun says of a step in doubt that it did not happen: the next start calls its
// function, as its first try and with a new [IdempotencyKey]. Its older tries and its note are
// history.
//
// It says nothing of what is inside the step: steps there that have a result return it, an
// [AtMostOnce] step that is finished does not happen a second time, one that is in doubt stays
// so, others run again with the idempotency key that they had; and [LoadState] in the step's
// function returns the state that was saved there last. Otherwise it is as [Store.ResolveDone].
func (s *Store) ResolveRerun(ctx context.Context, id, key, by, reason string) error {
	return s.resolve(ctx, id, key, func(_ *journal.Step, epoch int64) []byte {
		b := line.NewBody(journal.KindEpoch, key, s.now()).Int("n", epoch).Raw("alone", []byte("true"))
		s.signed(b, by, reason)
		return b.Bytes()
	})
}

// signed adds who decided and why.
func (s *Store) signed(b *line.Body, by, reason string) {
	hide := (&Run{store: s}).hide
	b.Str("reason", bounded(hide(reason))).Str("by", bounded(hide(by))) // cut last: half a secret is one too
}

func (s *Store) resolve(ctx context.Context, id, key string, body func(st *journal.Step, epoch int64) []byte) error {
	const op = "resolve"
	log, fold, release, err := s.openUnowned(ctx, op, id)
	if err != nil {
		return err
	}
	refuse := func(err error, hint string) error {
		return &RunError{Op: op, RunID: id, Key: key, Err: err, Hint: "nothing was written; " + hint}
	}
	st := fold.Steps[key]
	said, readErr := saidBefore(log, st)
	switch {
	case readErr != nil:
		err = openError(id, log.Path(), readErr)
	case fold.Status == journal.Complete:
		err = refuse(ErrComplete, "the run has its result")
	case st == nil:
		err = refuse(fmt.Errorf("%w: no such step", ErrNotFound), "list them with: pawl steps "+quoteArg(id))
	case st.Status == journal.StepDone && !said:
		err = refuse(fmt.Errorf("%w: the step's function has given a result", ErrConflict), "look at it with: pawl steps "+quoteArg(id))
	case st.Status == journal.StepWaiting:
		err = refuse(fmt.Errorf("%w: it is a question, it is not in doubt", ErrInvalid), "answer it with: pawl answer "+quoteArg(id)+" "+quoteArg(key)+" JSON")
	case st.Status == journal.StepFailed:
		err = refuse(fmt.Errorf("%w: the step failed, it is not in doubt", ErrInvalid), "the next start tries it again")
	default:
		if _, err = log.Append(body(st, fold.NextEpoch(key)), true); err != nil {
			err = writeError(op, id, key, log.Path(), err)
		}
	}
	if releaseErr := release(); err == nil {
		err = releaseErr
	}
	return err
}

// saidBefore reports whether the result of a step is what somebody said it to be. An answer to a
// question is not: it stands.
func saidBefore(log *journalfile.File, st *journal.Step) (bool, error) {
	if st == nil || st.Status != journal.StepDone {
		return false, nil
	}
	rec, err := log.Record(journal.Span{Seq: st.Seq, Offset: st.Offset, Len: st.Len})
	if err != nil {
		return false, err
	}
	return rec.Kind == journal.KindStep && rec.Member("by") != nil, nil
}

// openUnowned opens the journal of a run that nobody owns, to write into it outside of an
// attempt. Release closes it and lets go of the run.
func (s *Store) openUnowned(ctx context.Context, op, id string) (log *journalfile.File, fold *journal.Fold, release func() error, err error) {
	l, err := s.lockRun(ctx, op, id)
	if err != nil {
		return nil, nil, nil, err
	}
	path := s.dir.Journal(id)
	check := (&Run{store: s, id: id}).checkHeader
	log, fold, _, err = journalfile.OpenChecked(s.dir.FS, path, func(h journal.Header) error { return check(path, h, value.Fingerprint{}) }, warner(s.log))
	if err != nil {
		l.Release() //nolint:errcheck // nothing was written
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil, &RunError{Op: op, RunID: id, Path: path, Err: ErrNotFound, Hint: "nothing was changed; list the runs with: pawl ls"}
		}
		return nil, nil, nil, openError(id, path, err)
	}
	release = func() error {
		// The lock goes last: the next owner must find everything written.
		if err := errors.Join(log.Close(), l.Release()); err != nil {
			return writeError("close", id, "", path, err)
		}
		return nil
	}
	return log, fold, release, nil
}

// lockRun takes the lock of a run for something other than an attempt.
func (s *Store) lockRun(ctx context.Context, op, id string) (vfs.Lock, error) {
	if err := s.checkOpen(op, id); err != nil {
		return nil, err
	}
	if err := runid.Check(id); err != nil {
		return nil, invalidID(op, id, err)
	}
	if ctx.Err() != nil {
		return nil, &RunError{Op: op, RunID: id, Err: s.ended(ctx)}
	}
	path := s.dir.Journal(id)
	// Not even a lock file is made for a run that is not there.
	if _, err := s.dir.FS.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, &RunError{Op: op, RunID: id, Path: path, Err: ErrNotFound, Hint: "nothing was changed; list the runs with: pawl ls"}
	}
	l, err := s.dir.Acquire(id)
	if err != nil {
		if locked, ok := lockedError(op, id, path, err); ok {
			return nil, locked
		}
		return nil, &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "nothing was changed"}
	}
	return l, nil
}

// howToResolve says what to type about a step in doubt.
func (r *Run) howToResolve(key string) string {
	return "find out whether it happened, then: " + r.resolveCommand(key)
}

func (r *Run) resolveCommand(key string) string {
	return fmt.Sprintf("pawl resolve %s %s --done RESULT | --rerun", quoteArg(r.id), quoteArg(key))
}
