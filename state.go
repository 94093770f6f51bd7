package pawl

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// OpenState opens the checkpoint that a journal holds, with the verbs and the
// promises of [OpenFile]. A save appends what changed since the one before, so that
// a large state costs what its change costs, and every earlier state stays in the
// file. The journal's format is described in spec/journal-v1.md; its usual extension
// is .jsonl.
//
// What a crash left behind the last save is cut off and kept beside the file, with
// a warning. Damage is [ErrCorrupt]. [KeepVersions] asks for what a journal does
// anyway; [FallBack] is [ErrInvalid] here. A journal of a run in a store is
// [ErrInvalid] too: open the store. The other errors are those of [OpenFile].
func OpenState[T any](path string, opts ...FileOption) (*Checkpoint[T], error) {
	cfg := newFileConfig(opts)
	err := cfg.check()
	if err == nil && cfg.fallBack != nil {
		err = fmt.Errorf("%w: FallBack is for OpenFile; a journal tells an interrupted write from damage", ErrInvalid)
	}
	if err != nil {
		return nil, &RunError{Op: "open", Path: path, Err: err, Hint: untouched}
	}
	if err := checkType[T](path); err != nil {
		return nil, err
	}
	b, err := openState(path, cfg)
	if err != nil {
		return nil, err
	}
	opened := false
	defer func() {
		if !opened { // also when a migration panics
			b.close() //nolint:errcheck // nothing of ours was written
		}
	}()
	ck, err := newCheckpoint[T](b, cfg)
	if err != nil {
		return nil, err
	}
	opened = true
	return ck, nil
}

// journalTemp ends the names of files that a journal's owner writes beside it until they are
// whole, and removes if it finds them.
const journalTemp = ".new"

// stateBacking keeps a checkpoint in a journal. Its methods are called one at a
// time.
type stateBacking struct {
	cfg  *fileConfig
	path string
	lock ownerLock
	log  *journalfile.File // nil while there is no file, or it is read only
	fold *journal.Fold

	found    stored
	last     stateText
	attempt  bool  // this opening was recorded
	failed   bool  // the last save failed
	readOnly error // why nothing can be written here; the journal is complete
}

func openState(path string, cfg *fileConfig) (*stateBacking, error) {
	resolved, err := resolveFile(cfg.fs, path)
	if err == nil && strings.HasSuffix(resolved, journalTemp) {
		err = fmt.Errorf("%w: names ending in %q belong to the files beside a journal, and are removed", ErrInvalid, journalTemp)
	}
	if err != nil {
		return nil, &RunError{Op: "open", Path: path, Err: err, Hint: untouched + "; give the path of a file"}
	}
	b := &stateBacking{cfg: cfg, path: resolved, found: stored{schema: noSchema}}
	if err := b.open(); err != nil {
		b.close() //nolint:errcheck // the cause is reported
		return nil, err
	}
	return b, nil
}

func (b *stateBacking) open() error {
	fi, err := b.cfg.fs.Lstat(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := makeDir(b.cfg.fs, filepath.Dir(b.path)); err != nil {
			return b.fail("open", err)
		}
	case err != nil:
		return b.fail("open", err)
	default:
		if err := checkRegular(fi); err != nil {
			return b.fail("open", err)
		}
	}
	l, err := b.cfg.lock(b.path + lockSuffix)
	if err != nil {
		if locked, ok := lockedError("open", "", b.path, err); ok {
			return locked
		}
		if fi != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
			return b.openReadOnly(err)
		}
		return b.fail("open", err)
	}
	b.lock = l
	log, fold, rec, err := journalfile.OpenChecked(b.cfg.fs, b.path, b.checkHeader, b.warn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return b.fail("open", err)
	}
	b.log, b.fold = log, fold
	if rec.Torn > 0 {
		b.warn(fmt.Sprintf("an interrupted write of %d bytes at byte %d was cut off and kept in %s", rec.Torn, rec.Offset, filepath.Base(rec.Aside)))
	}
	return b.read(log.Record)
}

// openReadOnly opens where nothing can be written, which is of use for a result.
func (b *stateBacking) openReadOnly(cause error) error {
	f, err := journal.Open(b.path)
	if err != nil {
		return b.fail("open", err)
	}
	defer f.Close()
	fold, _, err := journal.ReadFile(f)
	if err == nil {
		err = b.checkHeader(fold.Header)
	}
	if err != nil {
		return b.fail("open", err)
	}
	if fold.Status != journal.Complete {
		return &RunError{Op: "open", Path: b.path, Err: cause, Hint: "no state could be saved there, so nothing was started and nothing was changed; make the directory writable"}
	}
	b.fold, b.readOnly = fold, cause
	return b.read(func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(f, s) })
}

// checkHeader refuses the journal of a run in a store before anything in it is
// touched: its owner holds another lock.
func (b *stateBacking) checkHeader(h journal.Header) error {
	if h.Store == "" {
		return nil
	}
	return &RunError{Op: "open", Path: b.path, Err: fmt.Errorf("%w: it is the journal of run %q in a store", ErrInvalid, h.RunID), Hint: untouched + "; open the store with pawl.Open"}
}

// read loads the result or the newest state.
func (b *stateBacking) read(record func(journal.Span) (*journal.Record, error)) error {
	if why := otherName(b.path, b.fold.Header); why != "" {
		b.warn(why)
	}
	if b.fold.Status == journal.Complete {
		r, err := record(b.fold.Result)
		if err != nil {
			return b.fail("open", err)
		}
		text, _ := r.Value()
		b.found = stored{found: true, complete: true, text: text, schema: noSchema}
		return nil
	}
	text, schema, err := b.fold.State("", record)
	if err != nil {
		return b.fail("open", err)
	}
	if text != nil {
		b.last = stateText{text: text, clean: line.Clean(text), schema: schema, patched: int(b.fold.Saved[""].PatchBytes)}
		b.found = stored{found: true, text: text, schema: schema}
	}
	return nil
}

func (b *stateBacking) load() stored  { return b.found }
func (b *stateBacking) where() string { return b.path }

func (b *stateBacking) save(text []byte, exact bool) error {
	if b.last.text != nil && !b.failed && b.last.schema == b.cfg.schema() && string(b.last.text) == string(text) {
		return b.checkOurs("save") // durable already, if it is still there
	}
	if err := b.begin("save"); err != nil {
		return err
	}
	clean := !exact || line.Clean(text) // what the encoder wrote is clean
	body, _, next := b.last.record(vfs.Now(), "", text, clean, b.cfg.schema())
	if _, err := b.log.Append(body, true); err != nil {
		b.failed = true // it may be there all the same
		return b.fail("save", err)
	}
	b.failed = false
	b.last = next
	return nil
}

func (b *stateBacking) complete(text []byte, _ bool) error {
	if err := b.begin("complete"); err != nil {
		return err
	}
	body := line.NewBody(journal.KindComplete, "", vfs.Now()).Value(text).Bytes()
	if _, err := b.log.Append(body, true); err != nil {
		return b.fail("complete", err)
	}
	b.last = stateText{}
	return nil
}

func (b *stateBacking) clear() error {
	if b.log == nil && b.readOnly == nil {
		return nil
	}
	if err := b.begin("clear"); err != nil {
		return err
	}
	if _, err := b.log.Append(line.NewBody(journal.KindClear, "", vfs.Now()).Bytes(), true); err != nil {
		return b.fail("clear", err)
	}
	b.last = stateText{}
	return nil
}

// begin makes the journal if there is none, and records this opening. It is done at
// the first write: opening writes nothing.
func (b *stateBacking) begin(op string) error {
	if b.readOnly != nil {
		return b.fail(op, b.readOnly)
	}
	if err := b.checkOwner(op); err != nil {
		return err
	}
	if b.log == nil {
		body := line.NewBody(journal.KindRun, "", vfs.Now()).Int("format", journal.Format).
			Str("id", stateID(b.path)).Str("uid", dirstore.NewUID()).Int("inc", 1).Str("run_kind", stateKind).Bytes()
		log, err := journalfile.Create(b.cfg.fs, b.path, body, b.warn)
		if err != nil {
			return b.fail(op, err)
		}
		b.log, b.fold = log, journal.NewFold()
	}
	if b.attempt {
		return nil
	}
	host, pid := lock.Self()
	body := line.NewBody(journal.KindAttempt, "", vfs.Now()).Int("n", b.fold.Attempts+1).Str("host", host).Int("pid", int64(pid)).Bytes()
	if _, err := b.log.Append(body, false); err != nil {
		return b.fail(op, err)
	}
	b.attempt = true
	return nil
}

// checkOwner notices that somebody removed the lock file. Whoever then locked a new one
// finds the journal locked too, but not a journal that is not there yet.
func (b *stateBacking) checkOwner(op string) error {
	if b.lock.Intact() {
		return nil
	}
	return &RunError{Op: op, Path: b.path, Err: fmt.Errorf("%w: somebody removed the lock file", ErrLeaseLost), Hint: "nothing was written; another process may own the file now, open it again"}
}

// checkOurs makes sure that this process is the owner still, and the journal the one it
// left.
func (b *stateBacking) checkOurs(op string) error {
	if err := b.checkOwner(op); err != nil {
		return err
	}
	if err := b.log.Check(); err != nil {
		return b.fail(op, err)
	}
	return nil
}

// otherName says that the state journal at path was begun under another name, "" if it was
// not. That is no error: people rename files, and two that were exchanged are both whole.
func otherName(path string, h journal.Header) string {
	if h.Store != "" || h.RunKind != stateKind || h.RunID == stateID(path) {
		return ""
	}
	return fmt.Sprintf("this journal was begun under the name %q, and its file is named %q now: was it renamed, or exchanged with another?", h.RunID, stateID(path))
}

// stateKind is the kind of the runs of [OpenState].
const stateKind = "state"

// stateID is the run ID that stands in the first record: the file's name.
func stateID(path string) string {
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if !utf8.ValidString(id) {
		id = strings.ToValidUTF8(id, "\ufffd")
	}
	return id
}

func (b *stateBacking) close() error {
	var err error
	if b.log != nil {
		err = b.log.Close()
	}
	if b.lock != nil {
		err = errors.Join(err, b.lock.Release())
	}
	if err != nil {
		return b.fail("close", err)
	}
	return nil
}

func (b *stateBacking) warn(msg string) { b.cfg.warn(msg, b.path) }

func (b *stateBacking) fail(op string, err error) error {
	if op == "open" {
		return openError("", b.path, err)
	}
	return writeError(op, "", "", b.path, err)
}
