package pawl

import (
	"io/fs"
	"log/slog"
	"slices"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
)

// FileOption configures [OpenFile] and [OpenState].
type FileOption interface{ applyFile(*fileConfig) }

// StateOption configures [LoadState] and [SaveState], and [OpenFile] and [OpenState]
// too.
type StateOption interface {
	FileOption
	applyState(*fileConfig)
}

type stateOption func(*fileConfig)

func (o stateOption) applyFile(c *fileConfig)  { o(c) }
func (o stateOption) applyState(c *fileConfig) { o(c) }

type fileConfig struct {
	log          *slog.Logger
	allowUnknown bool
	keep         int  // versions to keep, the current one included
	keepAsked    bool // KeepVersions was given
	fallBack     func(Recovery)
	migrations   map[int]func(state []byte) ([]byte, error)
	unversioned  int // schema of states without one, or statefile.NoSchema
	mistake      string
	redact       func(string) string

	warnings []string

	// Seams for tests.
	fs   vfs.FS
	lock func(path string) (ownerLock, error)
}

// encode returns the text of a value as it may be written.
func (c *fileConfig) encode(v any) ([]byte, error) {
	text, err := value.EncodeRedacted(v, c.redact)
	if err != nil {
		return nil, tell(c.redact, err)
	}
	return text, nil
}

// ownerLock is what makes a process the only owner of a path.
type ownerLock interface {
	Intact() bool
	ShareLike(file fs.FileInfo)
	Release() error
}

func acquireLock(path string) (ownerLock, error) {
	l, err := lock.Acquire(path)
	if err != nil {
		return nil, err // a nil *lock.Lock must not become a non-nil interface
	}
	return l, nil
}

type fileOption func(*fileConfig)

func (o fileOption) applyFile(c *fileConfig) { o(c) }

// KeepVersions keeps the last n saved states, the current one included, each as a
// whole file of its own: beside run.json stand run.json.v000000000008 and
// run.json.v000000000009, named after their generation, which grows by one with
// each save. A version goes only after a newer state is durable, and by its
// generation, never by its time; a failed save removes nothing.
//
// To go back, copy a version over the file while no program has it open. With
// [FallBack] that happens by itself when the file is damaged. [Checkpoint.Clear]
// keeps what it clears as a version.
func KeepVersions(n int) FileOption {
	return fileOption(func(c *fileConfig) {
		c.keep, c.keepAsked = n, true
		if n < 1 {
			c.wrong("KeepVersions needs a number of at least 1")
		}
	})
}

// FallBack lets opening go on from the newest good version that [KeepVersions]
// kept, when the file itself is damaged. The work since then runs again, so this
// is never silent: fn is called before OpenFile returns. The damaged file stays
// where it is until the next save, which first sets it aside as
// run.json.damaged; it is never deleted.
//
// A file that is absent, of a newer format or of another type is not damaged.
func FallBack(fn func(Recovery)) FileOption {
	return fileOption(func(c *fileConfig) {
		c.fallBack = fn
		if fn == nil {
			c.wrong("FallBack needs a function to report to")
		}
	})
}

// Recovery says what [FallBack] did.
type Recovery struct {
	Path       string // the damaged file
	Err        error  // what is wrong with it, matches [ErrCorrupt]
	From       string // the version that is used instead
	Generation int64  // its generation: what was saved later runs again
	Aside      string // where the next save sets the damaged file aside; with ~1, ~2, … if that is taken
}

// wrong remembers the first mistake in the options.
func (c *fileConfig) wrong(what string) {
	if c.mistake == "" {
		c.mistake = what
	}
}

// warn passes a warning on, each text once.
func (c *fileConfig) warn(msg, path string) {
	if slices.Contains(c.warnings, msg) {
		return
	}
	c.warnings = append(c.warnings, msg)
	c.log.Warn(msg, "path", path)
}
