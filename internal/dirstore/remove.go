package dirstore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Runs returns the directory of the journals.
func (d *Dir) Runs() string { return filepath.Join(d.Path, runsName) }

// kept matches what follows a journal's name in the names of the files that belong to it.
// It is strict: the rest of a name may be a part of another run's ID.
var kept = regexp.MustCompile(`^\.(torn-[0-9]+(\.[0-9]+)?|damaged-[0-9]+|cleared-[0-9]+|new|torn\.new|damaged\.new|import)$`)

// Kept lists the files that belong to a run's journal: torn bytes, damaged and cleared
// journals, temporary files.
func (d *Dir) Kept(id string) ([]string, error) {
	names, err := d.FS.ReadDir(d.Runs())
	if err != nil {
		return nil, err
	}
	base := filepath.Base(d.Journal(id))
	var paths []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, base); ok && kept.MatchString(rest) {
			paths = append(paths, filepath.Join(d.Runs(), name))
		}
	}
	return paths, nil
}

// keptWhole matches those that are journals, and nothing that a write left that was cut short.
var keptWhole = regexp.MustCompile(`\.(damaged|cleared)-[0-9]+$`)

// RefuseNewer returns an error that matches [journal.ErrNewerFormat] if a run's journal, or with
// all set also one that is kept aside of it, was written by a newer program: what this one does
// not know is not its to take away. Whatever else is wrong with them is no error. The caller
// holds the run's lock.
func (d *Dir) RefuseNewer(id string, all bool) error {
	paths := []string{d.Journal(id)}
	if all {
		kept, err := d.Kept(id)
		if err != nil {
			return err
		}
		for _, path := range kept {
			if keptWhole.MatchString(path) {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		_, err := vfs.OnceMore(func() (struct{}, error) { return struct{}{}, d.begins(path) })
		if errors.Is(err, journal.ErrNewerFormat) {
			return err
		}
	}
	return nil
}

// begins reads a journal's first record, which says the format.
func (d *Dir) begins(path string) error {
	f, err := vfs.OpenRegular(d.FS, path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sc := journal.NewScanner(f, info.Size())
	sc.Scan()
	return journal.WithPath(sc.Err(), path)
}

// Remove removes a run's journal and what belongs to it, its mail too, durably. The journal goes
// first: without it the run is absent, and nothing looks at the rest. The caller holds
// the run's lock.
func (d *Dir) Remove(id string, warn func(string)) error {
	if err := d.FS.Remove(d.Journal(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Before anything else goes, so that the journal does not come back without it.
	if err := journalfile.SyncDir(d.FS, d.Runs(), warn); err != nil {
		return err
	}
	paths, err := d.Kept(id)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := d.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := inbox.RemoveAll(d.FS, d.Inbox(id)); err != nil {
		return err
	}
	return journalfile.SyncDir(d.FS, d.Runs(), warn)
}
