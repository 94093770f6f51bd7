package dirstore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/journalfile"
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
