// Package repair makes damaged journals readable again. It never
// destroys anything: the damaged original is kept beside the repaired file, and the
// report names what was given up.
package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/regular"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// ErrNoID says that the first record is lost and the file's name, being that of a long
// ID, holds only a part of it: name the run in [Options].
var ErrNoID = journalfile.ErrNoID

// ErrOwned says that a live process has the journal open; nothing was changed.
var ErrOwned = errors.New("owned by another process")

// Report says what a repair found and what it gave up.
type Report struct {
	Path       string         `json:"path"`
	Needed     bool           `json:"needed"`                // the journal was damaged
	Damage     string         `json:"damage,omitempty"`      // what was wrong with it
	Kept       int64          `json:"kept"`                  // records kept
	Lost       []journal.Lost `json:"lost,omitempty"`        // stretches of bytes given up
	Missing    [][2]int64     `json:"missing,omitempty"`     // numbers of records given up, as ranges
	States     int            `json:"states,omitempty"`      // states given up because one before them is missing
	Inferred   []string       `json:"inferred,omitempty"`    // records that must be among the missing ones: written anew
	HeaderLost bool           `json:"header_lost,omitempty"` // the run's identity is new: idempotency keys change
	Aside      string         `json:"aside,omitempty"`       // where the original is kept
	After      *journal.Fold  `json:"-"`                     // what the repaired journal says, or would say
	DryRun     bool           `json:"dry_run,omitempty"`     // nothing was changed
}

// Options say how to repair.
type Options struct {
	DryRun bool   // only look, take no lock and write nothing
	ID     string // run ID, used if the first record is lost; "" takes it from the file's name
}

// Journal repairs the journal at path, of a run in a store or of a state by path. Steps
// whose result is given up run again on the next start.
//
// When it returns nil the repaired journal is durable and at its path. A journal that
// is not damaged is left as it is (Needed is false). Errors match [ErrOwned],
// [journal.ErrNewerFormat], fs.ErrNotExist, fs.ErrInvalid (not a regular file; in a store also a
// link), or [journal.ErrCorrupt] if not one record can be
// read; nothing was changed then.
func Journal(path string, opts Options) (*Report, error) {
	resolved, err := resolve(path)
	if err != nil {
		return nil, err
	}
	who, lockPath := identify(resolved)
	if opts.ID != "" {
		who.ID = opts.ID
	}
	release, err := own(lockPath, opts.DryRun)
	if err != nil {
		return nil, err
	}
	defer release()
	var warnings []string
	rep, err := journalfile.Repair(vfs.OS, resolved, who, opts.DryRun, func(w string) { warnings = append(warnings, w) })
	if rep == nil {
		if held, ok := errors.AsType[*lock.HeldError](err); ok { // its owner's lock file was removed
			err = fmt.Errorf("%w: %w", ErrOwned, held)
		}
		return nil, err
	}
	out := &Report{
		Path: path, Needed: rep.Needed, Kept: rep.Kept, Lost: rep.Lost, Missing: rep.Missing,
		States: rep.States, Inferred: rep.Inferred, HeaderLost: rep.HeaderLost, Aside: rep.Aside, After: rep.After, DryRun: opts.DryRun,
	}
	if rep.Why != nil {
		out.Damage = rep.Why.Error()
	}
	return out, err
}

// resolve returns where the journal really is, which decides which lock is its owner's. Links
// that lead to it are followed, but for one in the place of a run's journal: that leads out of
// the store.
func resolve(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", err
	}
	resolved := filepath.Join(dir, filepath.Base(path))
	if who, _ := identify(resolved); who.Store == "" {
		if resolved, err = filepath.EvalSymlinks(resolved); err != nil {
			return "", err
		}
	}
	fi, err := os.Lstat(resolved)
	if err == nil {
		if err = regular.Check(fi); err != nil {
			err = &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	return resolved, err
}

// own takes the lock, or only looks whether somebody has it.
func own(path string, look bool) (release func(), err error) {
	if look {
		o, held, err := lock.Probe(path)
		if err == nil && held {
			err = fmt.Errorf("%w: %w", ErrOwned, &lock.HeldError{Path: path, Owner: o})
		}
		return func() {}, err
	}
	l, err := lock.Acquire(path)
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		err = fmt.Errorf("%w: %w", ErrOwned, held)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		l.Release() //nolint:errcheck // ends with the process at the latest
	}, nil
}

// identify tells from where a journal stands what its first record would say, and
// which file is its lock.
func identify(path string) (journalfile.Identity, string) {
	base := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	who := journalfile.Identity{ID: base, UID: dirstore.NewUID()}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "runs" {
		if d, err := dirstore.Open(vfs.OS, filepath.Dir(dir), false, func(string) {}); err == nil {
			who.Store = d.UID
			who.ID, _, _ = runid.FromFileName(base) // "" of a name that holds a part only
			return who, strings.TrimSuffix(path, ".jsonl") + ".lock"
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, dirstore.ErrNotAStore) {
			return who, strings.TrimSuffix(path, ".jsonl") + ".lock"
		}
	}
	return who, path + ".lock"
}
