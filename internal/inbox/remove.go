package inbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Remove takes an entry out of its inbox, and removes an inbox that is empty. Only the run's owner
// calls it, when the entry is durable in the journal or means nothing. After a crash before it
// the entry is still there: the owner recognises it in the journal by its Mail.
//
// An entry that is not there is none to remove. When Remove returns nil that is durable.
func Remove(fsys vfs.FS, dir string, e Entry, warn func(string)) error {
	err := isDir(fsys, dir)
	if err == nil {
		err = fsys.Remove(filepath.Join(dir, e.Name()))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		// Although it was gone: he who removed it may have died before this.
		err = journalfile.SyncDir(fsys, dir, warn)
	}
	if errors.Is(err, fs.ErrNotExist) {
		// It took the entry with it, and both may come back until this.
		return journalfile.SyncDir(fsys, parent(dir), warn)
	}
	if err != nil {
		return err
	}
	sweep(fsys, dir)
	removeEmpty(fsys, dir)
	return nil
}

// RemoveAll removes an inbox and all mail in it, whoever it is for: with its run. The caller
// makes that durable by syncing the directory above.
func RemoveAll(fsys vfs.FS, dir string) error {
	for range tries {
		fi, err := fsys.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if fi.IsDir() { // of a link nothing but the link is removed
			names, err := fsys.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, name := range names {
				if err := fsys.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
		if err = fsys.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if left, listErr := fsys.ReadDir(dir); listErr == nil && len(left) == 0 {
			return err // it is not mail that came meanwhile
		}
	}
	return nil // mail for a run that is gone goes on arriving; it means nothing
}

// removeEmpty removes an inbox if it is empty. That it is not, or is not there, or cannot be
// removed, does no harm; and if it comes back after a power cut, neither.
func removeEmpty(fsys vfs.FS, dir string) {
	if isDir(fsys, dir) != nil {
		return // a link to an empty directory is not ours to remove
	}
	if names, err := fsys.ReadDir(dir); err == nil && len(names) == 0 {
		fsys.Remove(dir) //nolint:errcheck // see above; a sender whose directory it was makes it again
	}
}

// A temporary file says when it was made, since not every file system does.
const (
	tempPrefix = "new-"
	tempTime   = "20060102T150405Z"
	// tempAge is when its sender is taken for dead. One that is not, and comes to it later, finds
	// the file gone and writes it again.
	tempAge = 10 * time.Minute
)

func tempName(now time.Time) string {
	return tempPrefix + now.UTC().Format(tempTime) + "-" + draw()
}

// sweep removes what senders left that died.
func sweep(fsys vfs.FS, dir string) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return // harmless files
	}
	for _, name := range names {
		at, digits, _ := strings.Cut(strings.TrimPrefix(name, tempPrefix), "-")
		if made, err := time.Parse(tempTime, at); err == nil && len(digits) == 16 && isHex(digits) && vfs.Now().Sub(made) > tempAge {
			fsys.Remove(filepath.Join(dir, name)) //nolint:errcheck // harmless
		}
	}
}
