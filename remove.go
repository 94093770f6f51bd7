package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/journalfile"
)

// Clear puts a run's journal aside, so that the next start begins the work anew, as a run
// with a new UID that sees nothing of the old one. It returns the path of the file that
// keeps the old journal, beside the new one's. When it returns nil that is durable.
//
// A damaged journal can be cleared too, one of a newer format not. Errors: [ErrNotFound],
// [ErrLocked] (somebody owns the run), [ErrNewerFormat], [ErrInvalid] (the ID), or those of
// the file system.
func (s *Store) Clear(ctx context.Context, id string) (aside string, err error) {
	const op = "clear"
	l, err := s.lockRun(ctx, op, id)
	if err != nil {
		return "", err
	}
	path := s.dir.Journal(id)
	if err := s.mayGo(op, id, false); err != nil {
		l.Release() //nolint:errcheck // nothing was changed
		return "", err
	}
	for n := 1; ; n++ {
		aside = fmt.Sprintf("%s.cleared-%d", path, n)
		if _, err = s.dir.FS.Lstat(aside); err != nil {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = s.dir.FS.Rename(path, aside) // nobody else: we hold the lock
	}
	if err == nil {
		// Mail for the old run means nothing to the new one.
		err = inbox.RemoveAll(s.dir.FS, s.dir.Inbox(id))
	}
	if err == nil {
		err = journalfile.SyncDir(s.dir.FS, s.dir.Runs(), warner(s.log))
	}
	if err = errors.Join(err, l.Release()); err != nil {
		return "", &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "the journal is at its path or at " + aside}
	}
	return aside, nil
}

// Delete removes a run: its journal, what was kept aside of it by recoveries, repairs and
// [Store.Clear], and its lock file. A run that is created with the ID later sees nothing
// of it. When it returns nil that is durable.
//
// A damaged run can be deleted too, but nothing goes if one of these journals is of a newer
// format. A process that had the run open and was deprived of it, by somebody who removed
// files by hand, is refused with [ErrReplaced] or [ErrLeaseLost] when it writes. Errors:
// [ErrNotFound], [ErrLocked] (somebody owns the run), [ErrNewerFormat], [ErrInvalid] (the
// ID), or those of the file system.
func (s *Store) Delete(ctx context.Context, id string) error {
	const op = "delete"
	l, err := s.lockRun(ctx, op, id)
	if err != nil {
		return err
	}
	if err := s.mayGo(op, id, true); err != nil {
		l.Release() //nolint:errcheck // nothing was changed
		return err
	}
	if err := s.dir.Remove(id, warner(s.log)); err != nil {
		err = errors.Join(err, l.Release())
		return &RunError{Op: op, RunID: id, Path: s.dir.Journal(id), Err: err, Hint: "delete it again when the cause is mended"}
	}
	// While it is still ours: who waits for this lock finds out that the file is not
	// at its path any more, and makes a new one.
	s.dir.FS.Remove(s.dir.Lock(id)) //nolint:errcheck // a lock file without a run means nothing
	if err := l.Release(); err != nil {
		return &RunError{Op: op, RunID: id, Err: err, Hint: "the run is deleted"}
	}
	return nil
}

// mayGo refuses a journal that somebody has open, although the lock of its run could be
// had: if the lock file was removed by hand, the owner still holds the journal's own lock.
// And it refuses a newer format, with all set also of what is kept aside of the journal.
func (s *Store) mayGo(op, id string, all bool) error {
	path := s.dir.Journal(id)
	err := journalfile.TryOwn(s.dir.FS, path)
	if locked, ok := lockedError(op, id, path, err); ok {
		return locked
	} // whatever else is wrong with it: a damaged one can be removed too
	err = s.dir.RefuseNewer(id, all)
	switch {
	case errors.Is(err, ErrNewerFormat):
		return causeAt(&RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "nothing was changed; use the newer program"})
	case err != nil:
		return &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "nothing was changed"}
	}
	return nil
}
