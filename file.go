package pawl

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/vfs"
)

// OpenFile opens the checkpoint that a JSON file holds, and becomes its only
// owner until [Checkpoint.Close] or the death of the process. If there is no such
// file this is a fresh start; the file comes with the first save, its directory
// is made now. Missing directories are made for the owner only (0700), and so is
// a new file (0600); an existing file keeps its mode, owner and group. A link at
// the end of path is followed and stays a link.
//
// The file is that of the Python class agent_state_checkpoint.StateCheckpoint with
// a few members more, and each opens the other's. What json.load reads and JSON
// does not have (NaN, Infinity, half a surrogate pair) is refused here. Python
// programs do not see the lock, path + ".lock": should one write meanwhile, the
// next save here is [ErrReplaced] and overwrites nothing.
//
// Opening rewrites nothing. Only a file that is truly absent is a fresh start;
// every other failure is an error and leaves the bytes alone: damage of any kind
// [ErrCorrupt] with what and where, a newer format or schema [ErrNewerFormat], a
// state that does not fit T [ErrMismatch] with its JSON path, another live owner
// [ErrLocked] with host, process and since when, a path that is no regular file
// or is a mount point, a T that can never be stored, or contradictory options
// [ErrInvalid]. A directory in which no save could succeed fails here, before any
// work is done; if the file in it is complete it opens all the same, for its
// result.
func OpenFile[T any](path string, opts ...FileOption) (*Checkpoint[T], error) {
	cfg := newFileConfig(opts)
	if err := cfg.check(); err != nil {
		return nil, &RunError{Op: "open", Path: path, Err: err, Hint: "nothing was changed"}
	}
	if err := checkType[T](path); err != nil {
		return nil, err
	}
	b, err := openFile(path, cfg)
	if err != nil {
		return nil, err
	}
	opened := false
	defer func() {
		if !opened { // also when a migration panics: the next try must find it free
			b.close()
		}
	}()
	ck, err := newCheckpoint[T](b, cfg)
	if err != nil {
		return nil, err
	}
	if b.recovery != nil {
		cfg.warn("damaged; going on from an older version", b.path)
		cfg.fallBack(*b.recovery)
	}
	opened = true
	return ck, nil
}

func newFileConfig(opts []FileOption) *fileConfig {
	cfg := &fileConfig{
		log:         slog.New(slog.DiscardHandler),
		unversioned: noSchema,
		fs:          vfs.OS,
		lock:        acquireLock,
	}
	for _, o := range opts {
		o.applyFile(cfg)
	}
	return cfg
}

// fileBacking keeps a checkpoint in one JSON file, replaced as a whole at each
// save. Its methods are called one at a time.
type fileBacking struct {
	cfg  *fileConfig
	fs   vfs.FS
	path string // absolute, links resolved
	lock ownerLock

	cur       identity // what stands at path, as we read or left it
	rec       *statefile.Record
	damaged   bool // what stands at path could not be read, rec is an older version
	recovery  *Recovery
	top       int64 // highest generation that any file has or had
	versions  []version
	text      []byte // state that the file gives back, nil if the next must be written
	readOnly  error  // why nothing can be written here; the file is complete
	undecided error  // a save is in doubt, so no other may follow
}

func (b *fileBacking) where() string { return b.path }

func (b *fileBacking) load() stored {
	if b.rec == nil {
		return stored{schema: noSchema}
	}
	return stored{found: true, complete: b.rec.Complete, text: b.rec.Value, schema: b.rec.Schema}
}

func (b *fileBacking) save(text []byte, exact bool) error {
	if b.undecided == nil && b.text != nil && bytes.Equal(b.text, text) {
		return b.checkOurs("save") // durable already, if it is still there
	}
	r := &statefile.Record{Value: text, Exact: exact, Schema: b.cfg.schema()}
	if err := b.write("save", r); err != nil {
		return err
	}
	b.text = text
	return nil
}

func (b *fileBacking) complete(text []byte, exact bool) error {
	r := &statefile.Record{Complete: true, Value: text, Exact: exact, Schema: b.cfg.schema()}
	if err := b.write("complete", r); err != nil {
		return err
	}
	b.text = nil
	return nil
}

func (b *fileBacking) close() error {
	if b.lock == nil {
		return nil
	}
	if err := b.lock.Release(); err != nil {
		return &RunError{Op: "close", Path: b.path, Err: err, Hint: "what was saved is safe"}
	}
	return nil
}

// beside returns the name of a file that belongs to this one.
func (b *fileBacking) beside(suffix string) string { return b.path + suffix }

func (b *fileBacking) dir() string { return filepath.Dir(b.path) }

// warn passes a warning on.
func (b *fileBacking) warn(msg string) { b.cfg.warn(msg, b.path) }

// fail builds an error about the file. Errors that are whole already pass.
func (b *fileBacking) fail(op string, err error, hint string) error {
	if _, ok := errors.AsType[*RunError](err); ok {
		return err
	}
	return &RunError{Op: op, Path: b.path, Err: err, Hint: hint}
}

// isAbsent reports whether err is a true ENOENT, the only way to be absent.
func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
