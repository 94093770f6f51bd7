// Package dirstore lays a store out in a directory:
//
//	store.json        marker: format and the store's UID
//	runs/<name>.jsonl journal of a run
//	runs/<name>.lock  lock of a run, never removed while the run exists
//	runs/<name>.inbox directory of the mail for a run, there while there is some
//
// where <name> is the run ID as package runid writes it.
package dirstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Format is the newest layout that this package knows and the one it writes.
const Format = 1

const (
	markerName = "store.json"
	runsName   = "runs"
	journalExt = ".jsonl"
	lockExt    = ".lock"
)

// ErrNotAStore says that a directory holds something else.
var ErrNotAStore = errors.New("not a pawl store")

type marker struct {
	Format int64  `json:"pawl_store"`
	UID    string `json:"uid"`
}

// Dir is an open store directory. It holds no descriptors.
type Dir struct {
	FS   vfs.FS
	Path string // as given
	UID  string
	warn func(string)
}

// Open opens the store at path. If there is nothing, or an empty directory, it
// makes a store when create is set and returns fs.ErrNotExist otherwise. When it
// returns nil, and create is set, the store's marker and name are durable.
func Open(fsys vfs.FS, path string, create bool, warn func(string)) (*Dir, error) {
	var once sync.Once // one file system, one warning
	d := &Dir{FS: fsys, Path: path, warn: func(text string) { once.Do(func() { warn(text) }) }}
	err := d.readMarker()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = d.absent(create)
	case err == nil && create:
		// Who made it may have died, or be at work, between giving the marker its
		// name and making that durable.
		d.sweep()
		err = journalfile.SyncDir(fsys, path, d.warn)
	}
	if err == nil {
		err = d.CheckRuns()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Dir) readMarker() error {
	name := filepath.Join(d.Path, markerName)
	text, err := vfs.OnceMore(func() ([]byte, error) { return readFile(d.FS, name) })
	if err != nil {
		return err
	}
	var m marker
	if err := json.Unmarshal(text, &m); err != nil || m.Format < 1 || m.UID == "" {
		return &journal.CorruptError{Path: name, Reason: fmt.Sprintf("%d bytes that are not a store's marker", len(text))}
	}
	if m.Format > Format {
		return fmt.Errorf("%s: store format %d, this program knows up to %d: %w", name, m.Format, Format, journal.ErrNewerFormat)
	}
	d.UID = m.UID
	return nil
}

// CheckRuns says whether the directory of the runs is there. It was made before the
// marker, so if it is not, it was moved or its disk is not mounted: an absent journal
// would then look like a run that never was.
func (d *Dir) CheckRuns() error {
	name := filepath.Join(d.Path, runsName)
	info, err := vfs.OnceMore(func() (fs.FileInfo, error) { return d.FS.Stat(name) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &journal.CorruptError{Path: name, Reason: "the directory is missing beside the store's " + markerName + ": moved away, or not mounted?"}
	case err == nil && !info.IsDir():
		return &journal.CorruptError{Path: name, Reason: "it is not a directory"}
	}
	return err
}

// Journal and Lock return the paths of a run's files.
func (d *Dir) Journal(id string) string { return d.file(id, journalExt) }

// Lock returns the path of the lock file of a run.
func (d *Dir) Lock(id string) string { return d.file(id, lockExt) }

// Inbox returns the path of the inbox of a run, see package inbox.
func (d *Dir) Inbox(id string) string { return d.file(id, inbox.Ext) }

// Acquire takes the lock of a run without waiting, or returns a *lock.HeldError.
func (d *Dir) Acquire(id string) (vfs.Lock, error) { return vfs.AcquireLock(d.FS, d.Lock(id)) }

func (d *Dir) file(id, ext string) string {
	return filepath.Join(d.Path, runsName, runid.FileName(id)+ext)
}

// Entry is a journal in the store's directory.
type Entry struct {
	ID   string // "" if the name holds only a part of it
	Path string
	Lock string
}

// Entries lists the journals, in the order of their names. Files that are no
// journals (locks, inboxes, temporary files, torn bytes kept aside) are not listed.
func (d *Dir) Entries() ([]Entry, error) {
	dir := filepath.Join(d.Path, runsName)
	names, err := d.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var entries []Entry
	for _, name := range names {
		base, isJournal := strings.CutSuffix(name, journalExt)
		if !isJournal {
			continue
		}
		id, _, ok := runid.FromFileName(base)
		if !ok {
			continue
		}
		path := filepath.Join(dir, base)
		entries = append(entries, Entry{ID: id, Path: path + journalExt, Lock: path + lockExt})
	}
	return entries, nil
}

func readFile(fsys vfs.FS, name string) ([]byte, error) {
	f, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, 4096) // a marker is far smaller
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return buf[:n], nil
}
