package pawl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Export writes a copy of a run to w, which [Store.Import] takes on any machine: the
// records of its journal, one JSON object a line, each with its checksum, and at the end
// one that says that nothing is missing. It takes no lock, changes nothing, and may be
// called while another process works on the run: the copy is then the run as it stood
// at one moment between the call and its end, with everything that was acknowledged
// before the call. All of it is durable in the store when Export returns nil.
//
// If Export returns an error, what w got until then is no export, and Import refuses it.
// A damaged journal is [ErrCorrupt] with its place, and nothing is written to w. The other
// errors are [ErrNotFound], [ErrNewerFormat], [ErrInvalid] (the ID), and those of w and the
// file system.
func (s *Store) Export(ctx context.Context, id string, w io.Writer) error {
	const op = "export"
	if err := s.checkOpen(op, id); err != nil {
		return err
	}
	if err := runid.Check(id); err != nil {
		return invalidID(op, id, err)
	}
	path := s.dir.Journal(id)
	// Before the journal: what its owner takes meanwhile must be in one of the two.
	mail, err := inbox.ReadAll(s.dir.FS, s.dir.Inbox(id))
	if err != nil {
		return &RunError{Op: op, RunID: id, Path: s.dir.Inbox(id), Err: err, Hint: "nothing was written"}
	}
	// All from one descriptor: a compaction may replace the file meanwhile.
	f, err := vfs.OpenRegular(s.dir.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return &RunError{Op: op, RunID: id, Path: path, Err: ErrNotFound, Hint: "nothing was created; list the runs with: pawl ls"}
	}
	if err != nil {
		return &RunError{Op: op, RunID: id, Err: err}
	}
	defer f.Close()
	if err := s.exportFile(ctx, f, id, w, mail); err != nil {
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) {
			return openError(id, path, journal.WithPath(err, path))
		}
		return &RunError{Op: op, RunID: id, Path: path, Err: err, Hint: "the run is as it was; what was written of the copy is no export"}
	}
	return nil
}

func (s *Store) exportFile(ctx context.Context, f vfs.File, id string, w io.Writer, mail []inbox.Entry) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkRegular(st); err != nil {
		return err
	}
	fold, tail, err := journal.Verify(f, st.Size(), func(*journal.Record) error { return s.ctxErr(ctx) })
	if err != nil {
		return err
	}
	if fold.Header.RunID != id {
		return &journal.CorruptError{Seq: 1, Reason: fmt.Sprintf("it holds run %q", fold.Header.RunID)}
	}
	if err := syncReader(f); err != nil {
		return fmt.Errorf("it is not known whether the newest records are durable: %w", err)
	}
	return journal.Export(ctxWriter{s, ctx, w}, f, tail.End, inForce(f, fold, mail)...)
}

// inForce returns the bodies of the records that the owner of a run will make of its mail.
func inForce(f vfs.File, fold *journal.Fold, mail []inbox.Entry) (bodies [][]byte) {
	for i := range mail {
		e := &mail[i]
		switch st := fold.Steps[e.Key]; {
		case e.UID != fold.Header.UID || fold.Status == journal.Complete:
		case e.Kind == inbox.KindCancel && e.Mail != fold.Mail && fold.Status != journal.Cancelled:
			bodies = append(bodies, cancelled(e).Bytes())
		case e.Kind == inbox.KindAnswer && st != nil && st.Status == journal.StepWaiting:
			q, err := journal.RecordAt(f, st.Start)
			if err == nil && refusal(q, e) == "" {
				bodies = append(bodies, answerBody(journal.KindAnswer, q, e).Value(e.Value).Bytes())
			}
		}
	}
	return bodies
}

// syncReader makes durable what was read from a file: its owner may not have flushed it
// yet. Who may only read has nothing to flush.
func syncReader(f vfs.File) error {
	err := f.Sync()
	if err != nil && (vfs.IsReadOnly(err) || vfs.IsUnsupported(err) || errors.Is(err, fs.ErrPermission)) {
		return nil
	}
	return err
}

// ctxErr returns why ctx is done, nil while it is not.
func (s *Store) ctxErr(ctx context.Context) error {
	if ctx.Err() != nil {
		return s.ended(ctx)
	}
	return nil
}

// ctxWriter writes until ctx is done.
type ctxWriter struct {
	s   *Store
	ctx context.Context
	w   io.Writer
}

func (c ctxWriter) Write(b []byte) (int, error) {
	if err := c.s.ctxErr(c.ctx); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}
