package pawl

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Store is where runs live. It is safe for concurrent use, and any number of
// processes may have one directory open; each run has one owner at a time.
type Store struct {
	dir    *dirstore.Dir
	log    *slog.Logger
	redact func(string) string // nil if there is none
	now    func() time.Time
	bell   *inbox.Bell

	mu     sync.Mutex
	closed bool
}

// Open opens the store in a directory and makes one if there is nothing or an
// empty directory (readable by the user only). When it returns nil the store is
// durable.
//
// A directory that holds something else is [ErrInvalid], an unreadable marker
// [ErrCorrupt], a newer layout [ErrNewerFormat]; nothing is changed then. With
// [MustExist] an absent store is [ErrNotFound].
func Open(dir string, opts ...StoreOption) (*Store, error) {
	c := storeConfig{log: slog.New(slog.DiscardHandler), create: true, fs: vfs.OS, now: vfs.Now}
	for _, o := range opts {
		o.applyStore(&c)
	}
	d, err := dirstore.Open(c.fs, dir, c.create, warner(c.log))
	if err != nil {
		return nil, storeError(dir, err)
	}
	return &Store{dir: d, log: c.log, redact: c.redact, now: c.now, bell: inbox.NewBell(c.fs, d.Runs())}, nil
}

// storeFS puts a store into another file system than the operating system's; pawltest
// has one in memory.
type storeFS struct{ fs vfs.FS }

func (o storeFS) applyStore(c *storeConfig) { c.fs = o.fs }

// storeClock gives the records of a store their times.
type storeClock func() time.Time

func (o storeClock) applyStore(c *storeConfig) { c.now = o }

func init() {
	hook.StoreFS = func(fsys vfs.FS) any { return storeFS{fsys} }
	hook.StoreClock = func(now func() time.Time) any { return storeClock(now) }
}

func storeError(dir string, err error) error {
	e := &RunError{Op: "open store", Path: dir, Err: err}
	switch {
	case errors.Is(err, dirstore.ErrNotAStore):
		e.Path, e.Err = "", joined{ErrInvalid, err}
	case errors.Is(err, fs.ErrNotExist):
		e.Err = joined{ErrNotFound, err}
		e.Hint = "there is no store here; check the path"
	case errors.Is(err, ErrCorrupt):
		e.Path = ""
		e.Hint = "nothing was changed; the journals in runs/ are independent of the marker, restore the marker from a copy"
	}
	return e
}

// Close closes the store. Runs that are open stay open and are closed by their
// own Close; new ones are refused with [ErrClosed].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *Store) checkOpen(op, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &RunError{Op: op, RunID: id, Err: ErrClosed}
	}
	return nil
}

// warner passes warnings of the lower layers to the logger.
func warner(log *slog.Logger) func(string) {
	return func(msg string) { log.Warn(msg) }
}

// joined is an error that reads like its cause and also matches a sentinel.
type joined struct{ sentinel, cause error }

func (j joined) Error() string   { return j.cause.Error() }
func (j joined) Unwrap() []error { return []error{j.sentinel, j.cause} }
