package dirstore

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// absent deals with a directory that had no marker when we looked.
func (d *Dir) absent(create bool) error {
	if err := d.checkEmpty(); err != nil {
		if d.readMarker() == nil {
			return nil // another process made the store since
		}
		return err
	}
	if !create {
		return &os.PathError{Op: "open", Path: d.Path, Err: fs.ErrNotExist}
	}
	return d.create()
}

// checkEmpty refuses to make a store among other files: a mistyped path, or a
// store whose marker was lost.
func (d *Dir) checkEmpty() error {
	names, err := d.FS.ReadDir(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		switch {
		case name == runsName && !d.noRuns():
			return &journal.CorruptError{Path: filepath.Join(d.Path, markerName), Reason: "the marker is missing beside " + runsName + "/"}
		case name == runsName, strings.HasPrefix(name, markerName), name == "lost+found":
			// what a crash while making a store left, or a fresh file system
		default:
			return fmt.Errorf("%s: %w: it has no %s and holds other files (%q); name an empty or new directory", d.Path, ErrNotAStore, markerName, name)
		}
	}
	return nil
}

// noRuns reports whether the directory of the runs is empty, as a crash while making a
// store may leave it.
func (d *Dir) noRuns() bool {
	names, err := d.FS.ReadDir(filepath.Join(d.Path, runsName))
	return err == nil && len(names) == 0
}

func (d *Dir) create() error {
	if err := mkdirAll(d.FS, d.Path, d.warn); err != nil {
		return err
	}
	if err := d.syncParents(); err != nil {
		return err
	}
	// Before the marker, and durable before it: a marker without runs/ is a store that
	// lost its runs.
	if err := d.FS.Mkdir(filepath.Join(d.Path, runsName), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := journalfile.SyncDir(d.FS, d.Path, d.warn); err != nil {
		return err
	}
	text, err := json.Marshal(marker{Format, NewUID()})
	if err != nil {
		return err
	}
	temp := filepath.Join(d.Path, markerName+"."+NewUID()[:tempDigits])
	f, err := d.FS.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = d.install(temp)
	}
	if rmErr := d.FS.Remove(temp); err == nil && rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = rmErr
	}
	if err != nil {
		return err
	}
	d.sweep()
	if err := journalfile.SyncDir(d.FS, d.Path, d.warn); err != nil {
		return err
	}
	return d.readMarker()
}

// install gives the marker its name. Link, not rename: of several processes that
// make the store at once, one must win and the others take its UID.
func (d *Dir) install(temp string) error {
	name := filepath.Join(d.Path, markerName)
	err := d.FS.Link(temp, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil // the winner swept our file away
	case vfs.NoLinks(err):
		return d.installLocked(temp, name)
	}
	return err
}

// installLocked gives the marker its name where there are no hard links. A rename would replace
// the marker of another process, whose store would then change its UID under it. So one at a
// time looks whether there is a marker and, if not, renames. The lock file goes when
// the store is there: who waits for it finds that out, see [lock.Acquire].
func (d *Dir) installLocked(temp, name string) error {
	l, err := d.waitForLock(name + lockExt)
	if err != nil {
		return err
	}
	defer func() {
		d.FS.Remove(name + lockExt) //nolint:errcheck // harmless
		l.Release()                 //nolint:errcheck // ends with the process at the latest
	}()
	if _, err := d.FS.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err // nil: there is a winner
	}
	if err := d.FS.Rename(temp, name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // the winner swept our file away; if there is none, reading the marker says so
}

// makingTakes is how long to wait for another process that makes the store, which takes a
// few flushes.
const makingTakes = 10 * time.Second

func (d *Dir) waitForLock(path string) (vfs.Lock, error) {
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		l, err := vfs.AcquireLock(d.FS, path)
		if _, held := errors.AsType[*lock.HeldError](err); !held || time.Since(begin) > makingTakes {
			return l, err
		}
	}
}

// sweep removes what attempts to make the store left when they died.
func (d *Dir) sweep() {
	names, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return // harmless files
	}
	for _, name := range names {
		if isTemp(name) {
			d.FS.Remove(filepath.Join(d.Path, name)) //nolint:errcheck // harmless
		}
	}
}

// tempDigits is how many hexadecimal digits end the name of a marker being written.
const tempDigits = 12

// isTemp reports whether create made a file of this name; a user's store.json.bak is
// none.
func isTemp(name string) bool {
	digits, ok := strings.CutPrefix(name, markerName+".")
	return ok && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// syncParents makes the names of the store's directory and of all above it durable: an
// attempt that died may have made some of them and not come to it. What stands
// above the parent is usually not ours, so only the parent's errors count.
func (d *Dir) syncParents() error {
	parent := filepath.Dir(d.Path)
	if err := journalfile.SyncDir(d.FS, parent, d.warn); err != nil {
		return err
	}
	for up := filepath.Dir(parent); up != parent; parent, up = up, filepath.Dir(up) {
		d.FS.SyncDir(up) //nolint:errcheck // see above
	}
	return nil
}

// NewUID returns 128 random bits in hexadecimal.
func NewUID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// mkdirAll makes path and its missing parents, readable by the user only, and
// makes each new name durable.
func mkdirAll(fsys vfs.FS, path string, warn func(string)) error {
	info, err := fsys.Stat(path)
	if err == nil {
		if !info.IsDir() {
			return &os.PathError{Op: "mkdir", Path: path, Err: errors.New("not a directory")}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := mkdirAll(fsys, parent, warn); err != nil {
			return err
		}
	}
	if err := fsys.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return journalfile.SyncDir(fsys, parent, warn)
}
