package pawl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// move brings a journal into a store.
type move struct {
	store      *Store
	id         string         // that the run gets
	who        journal.Header // as its first record says
	anyJournal bool           // the end of an export may be missing
}

// spoolSuffix names the file that holds a journal until it is verified.
const spoolSuffix = ".import"

// run reads a journal from r, verifies it, and makes the run's journal, at path, of it. The
// caller holds the run's lock.
func (m *move) run(ctx context.Context, path string, r io.Reader) error {
	fsys := m.store.dir.FS
	name := path + spoolSuffix
	// A leftover of an import that died here; only the lock's holder comes here.
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return createError(opImport, m.id, err)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return createError(opImport, m.id, err)
	}
	err = m.verified(ctx, path, r, f)
	f.Close()         //nolint:errcheck // nobody reads it any more
	fsys.Remove(name) //nolint:errcheck // removed by the next import or by Delete, if not now
	if _, known := errors.AsType[*RunError](err); err != nil && !known {
		err = createError(opImport, m.id, err)
	}
	return err
}

func (m *move) verified(ctx context.Context, path string, r io.Reader, spool vfs.File) error {
	size, err := io.Copy(io.NewOffsetWriter(spool, 0), r)
	if err != nil {
		return err
	}
	var last string
	var seq int64 // of the last record that belongs to the run
	var crc uint32
	fold, tail, err := journal.Verify(spool, size, func(r *journal.Record) error {
		if last = r.Kind; last != journal.KindExport {
			seq, crc = r.Seq, r.CRC()
		}
		return m.store.ctxErr(ctx)
	})
	if err != nil {
		return err
	}
	if err := m.checkEnd(last, fold, tail); err != nil {
		return err
	}
	doubtful := m.inDoubt(fold)
	warn := warner(m.store.log)
	return journalfile.Install(m.store.dir.FS, path, seq, crc, func(add func([]byte) error) error {
		sc := journal.NewScanner(spool, tail.End)
		for sc.Scan() {
			if err := m.store.ctxErr(ctx); err != nil {
				return err
			}
			var body []byte
			switch r := sc.Record(); {
			case r.Kind == journal.KindRun:
				body = m.header(r)
			case r.Kind == journal.KindExport:
				continue
			case doubtful[r.Seq]:
				body = line.Override(nil, r.Moved(), 0, "once", []byte("true"))
			default:
				body = r.Moved()
			}
			if err := add(body); err != nil {
				return err
			}
		}
		if err := sc.Err(); err != nil {
			return err
		}
		return m.store.letGo(fold, add)
	}, warn)
}

// checkEnd refuses what may not be all of a run.
func (m *move) checkEnd(last string, fold *journal.Fold, tail journal.Tail) error {
	torn := tail.Torn > 0
	switch {
	case last == journal.KindExport && !torn:
		return nil
	case last == journal.KindExport:
		return &journal.CorruptError{Offset: tail.End, Seq: fold.LastSeq + 1, Reason: fmt.Sprintf("%d bytes follow the end of the export", tail.Torn)}
	case !m.anyJournal:
		reason := "the record that ends an export is missing: it was cut off, or this is a journal copied by other means"
		if torn {
			reason = "an export does not end so: " + tail.Reason
		}
		return &RunError{
			Op: opImport, RunID: m.id, Seq: fold.LastSeq + 1, Offset: tail.End,
			Err:  &journal.CorruptError{Offset: tail.End, Seq: fold.LastSeq + 1, Reason: reason},
			Hint: nothingCreated + "; export it again. A journal that was copied by other means: pawl import --journal, or Store.ImportJournal",
		}
	case torn:
		m.store.log.Warn(fmt.Sprintf("%d bytes of an interrupted write behind record %d were left out", tail.Torn, fold.LastSeq), "run", m.id)
	}
	return nil
}

// inDoubt returns the numbers of the start records of the steps that were under way, if
// the run gets another identity: no service can tell by the idempotency key that it has
// been asked before.
func (m *move) inDoubt(fold *journal.Fold) map[int64]bool {
	if m.id == m.who.RunID && m.who.UID != "" {
		return nil
	}
	return startsInDoubt(fold)
}

// header is the first record of the new journal.
func (m *move) header(r *journal.Record) []byte {
	body := r.NextIncarnation()
	set := func(name, v string) {
		body = line.Override(nil, body, 0, name, line.AppendString(nil, v))
	}
	set("store", m.store.dir.UID)
	set("id", m.id)
	if m.id != m.who.RunID || m.who.UID == "" {
		set("uid", dirstore.NewUID())
	}
	return body
}
