package pawl

import (
	"errors"
	"fmt"
	"io"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// importCheckpoint makes a run of the JSON file of OpenFile.
func (s *Store) importCheckpoint(r io.Reader, id string) (string, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", &RunError{Op: opImport, RunID: id, Err: err, Hint: nothingCreated}
	}
	rec, err := statefile.Decode(data)
	if err != nil {
		return "", notACheckpoint(id, data, err)
	}
	if id == "" {
		return "", &RunError{Op: opImport, Err: fmt.Errorf("%w: a checkpoint file does not say which run it is of", ErrInvalid), Hint: nothingCreated + "; give the run an ID"}
	}
	if !rec.Sealed {
		s.log.Warn("the file has no checksum, so damage would not be noticed: written by the Python original, or edited", "run", id)
	}
	at := rec.At
	if at.IsZero() {
		at = vfs.Now()
	}
	text := value.Redact(rec.Value, s.redact)
	b := line.NewBody(journal.KindState, "", at)
	if rec.Complete {
		b = line.NewBody(journal.KindComplete, "", at)
	} else {
		b.Str("sum", fmt.Sprintf("%08x", line.Checksum(text)))
		if rec.Schema != statefile.NoSchema {
			b.Int("schema", int64(rec.Schema))
		}
	}
	header := line.NewBody(journal.KindRun, "", vfs.Now()).Int("format", journal.Format).
		Str("id", id).Str("uid", dirstore.NewUID()).Int("inc", 1).Str("store", s.dir.UID)
	err = s.create(opImport, id, func(path string) error {
		err := journalfile.Install(s.dir.FS, path, 0, 0, func(add func([]byte) error) error {
			if err := add(header.Bytes()); err != nil {
				return err
			}
			return add(b.Value(text).Bytes())
		}, warner(s.log))
		if err != nil {
			return createError(opImport, id, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// notACheckpoint says why data is neither a journal nor a checkpoint.
func notACheckpoint(id string, data []byte, cause error) error {
	e := &RunError{Op: opImport, RunID: id, Err: fmt.Errorf("%w: %w", ErrCorrupt, cause), Hint: nothingCreated}
	if len(data) == 0 {
		e.Err = fmt.Errorf("%w: it is empty", ErrCorrupt)
		return e
	}
	d, ok := errors.AsType[*statefile.Error](cause)
	switch {
	case ok && d.Newer:
		e.Err = fmt.Errorf("%w: %w", ErrNewerFormat, d)
		e.Hint += "; use the newer program"
	case ok:
		e.Offset = d.Offset
		e.Hint += "; it is neither an export nor a whole checkpoint file"
		if d.Hint != "" {
			e.Hint = nothingCreated + "; " + d.Hint
		}
	}
	return e
}
