package pawl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/journal"
)

// Import makes a run of this store from r, which holds what [Store.Export] wrote, or the
// JSON file of [OpenFile] or of its Python original; it returns the run's ID. When it
// returns nil the run is durable. Everything is verified before anything is there:
// whatever byte of an export was changed, dropped or added, it is [ErrCorrupt] with the
// place, and nothing was created.
//
// With id "" the run keeps its ID, and is the same run in another place: idempotency
// keys are those it had, and a step that was under way runs again with them. Go on with
// it in one of the two places only. With another ID it is a new run with the same
// past: idempotency keys differ, so every step that was under way is [ErrInDoubt] until it
// is resolved, see [AtMostOnce]. Either way everything that was finished is finished
// here, and the history is whole.
//
// A file of OpenFile holds no ID, so one must be given. Its state becomes the run's own
// state, which [LoadState] returns outside of any [Scope] or step, with its schema version;
// its result makes the run complete. [Redact] is applied to these. An export is taken
// as it is.
//
// Errors: [ErrConflict] (there is such a run; it is as it was), [ErrCorrupt],
// [ErrNewerFormat], [ErrInvalid] (the ID), and those of r and the file system.
func (s *Store) Import(ctx context.Context, r io.Reader, id string) (string, error) {
	return s.importFrom(ctx, r, id, false)
}

// ImportJournal is [Store.Import] for a journal that was copied by other means than
// [Store.Export]: from a backup, or one of [OpenState], whose newest state becomes the
// run's own. What an interrupted write left behind its last record is left out with a
// warning, as on a start. A copy that was cut off exactly between two records cannot be told
// from a whole one: where the original is there, export it.
func (s *Store) ImportJournal(ctx context.Context, r io.Reader, id string) (string, error) {
	return s.importFrom(ctx, r, id, true)
}

const opImport = "import"

// nothingCreated is what is safe after a refusal.
const nothingCreated = "nothing was created"

func (s *Store) importFrom(ctx context.Context, r io.Reader, id string, anyJournal bool) (string, error) {
	if err := s.checkOpen(opImport, id); err != nil {
		return "", err
	}
	if id != "" {
		if err := runid.Check(id); err != nil {
			return "", invalidID(opImport, id, err)
		}
	}
	in := bufio.NewReaderSize(&ctxReader{s, ctx, r}, 1<<16)
	begin, err := in.Peek(len(line.Prefix))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", &RunError{Op: opImport, RunID: id, Err: err, Hint: nothingCreated}
	}
	if !bytes.Equal(begin, []byte(line.Prefix)) {
		return s.importCheckpoint(in, id)
	}
	first, who, err := firstRecord(in)
	if err != nil {
		return "", createError(opImport, id, err)
	}
	m := move{store: s, id: id, who: who, anyJournal: anyJournal}
	if m.id == "" {
		m.id = who.RunID
		if err := runid.Check(m.id); err != nil {
			return "", &RunError{Op: opImport, Err: fmt.Errorf("%w: the run's ID: %w", ErrInvalid, err), Hint: nothingCreated + "; give the run another ID"}
		}
	}
	err = s.create(opImport, m.id, func(path string) error { return m.run(ctx, path, io.MultiReader(bytes.NewReader(first), in)) })
	if err != nil {
		return "", err
	}
	return m.id, nil
}

// maxFirst bounds the first record of a journal that is imported, in bytes.
const maxFirst = 16 << 20

// firstRecord reads the line that says whose journal it is.
func firstRecord(in *bufio.Reader) (text []byte, h journal.Header, err error) {
	for len(text) < maxFirst {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if err == nil || errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, h, err
		}
	}
	sc := journal.NewScanner(bytes.NewReader(text), int64(len(text)))
	if !sc.Scan() {
		return nil, h, sc.Err()
	}
	fold := journal.NewFold()
	fold.Apply(sc.Record())
	return text, fold.Header, nil
}

// create lets fill make the journal of a run that is not there, holding its lock. If
// that fails, the lock file that this made is removed.
func (s *Store) create(op, id string, fill func(path string) error) error {
	path := s.dir.Journal(id)
	done := map[string]string{opImport: "imported", opFork: "forked"}[op]
	taken := func() error {
		if _, err := s.dir.FS.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("%w: there is such a run", ErrConflict)
			}
			return &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "that run is as it was and nothing was " + done + "; " + op + " it under another ID, or put that run aside with: pawl clear " + quoteArg(id)}
		}
		return nil
	}
	// Before the lock too: who owns it does not matter then.
	if err := taken(); err != nil {
		return err
	}
	if err := s.dir.CheckRuns(); err != nil {
		return createError(op, id, err)
	}
	l, err := s.dir.Acquire(id)
	if err != nil {
		if locked, ok := lockedError(op, id, path, err); ok {
			return locked
		}
		return &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: nothingCreated}
	}
	if err = taken(); err == nil {
		err = fill(path)
	}
	if _, statErr := s.dir.FS.Lstat(path); errors.Is(statErr, fs.ErrNotExist) {
		// While it is still ours, see Delete.
		s.dir.FS.Remove(s.dir.Lock(id)) //nolint:errcheck // a lock file without a run means nothing
	}
	if releaseErr := l.Release(); err == nil && releaseErr != nil {
		err = &RunError{Op: op, RunID: id, Err: releaseErr, Hint: "the run was " + done + " and is durable"}
	}
	return err
}

// createError says why a run was not made of what was there.
func createError(op, id string, err error) error {
	e := &RunError{Op: op, RunID: id, Err: err, Hint: nothingCreated}
	if c, ok := errors.AsType[*journal.CorruptError](err); ok {
		e.Seq, e.Offset = c.Seq, c.Offset
	}
	switch {
	case errors.Is(err, journalfile.ErrInDoubt):
		e.Err = joined{ErrInDoubt, err}
		e.Hint = "the run is there, and may be gone after a power cut: delete it and make it again"
	case errors.Is(err, ErrCorrupt):
		e.Hint += "; the original is not concerned: export it again"
	case errors.Is(err, ErrNewerFormat):
		e.Hint += "; use the newer program"
	}
	return e
}

// ctxReader reads until ctx is done.
type ctxReader struct {
	s   *Store
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(b []byte) (int, error) {
	if err := c.s.ctxErr(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
