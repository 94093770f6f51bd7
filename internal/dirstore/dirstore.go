// Package dirstore lays a store out in a directory:
//
//	store.json        marker: format and the store's UID
//	runs/<name>.jsonl journal of a run
//	runs/<name>.lock  lock of a run, never removed while the run exists
//
// where <name> is the run ID as package runid writes it.
package dirstore

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
// returns nil the store's marker and name are durable.
func Open(fsys vfs.FS, path string, create bool, warn func(string)) (*Dir, error) {
	d := &Dir{FS: fsys, Path: path, warn: warn}
	err := d.readMarker()
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.checkEmpty(); err == nil && !create {
			err = &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		if err == nil {
			err = d.create()
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Dir) readMarker() error {
	name := filepath.Join(d.Path, markerName)
	text, err := readFile(d.FS, name)
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
		case name == runsName:
			return &journal.CorruptError{Path: filepath.Join(d.Path, markerName), Reason: "the marker is missing beside " + runsName + "/"}
		case strings.HasPrefix(name, markerName), name == "lost+found":
			// what a crash while making a store left, or a fresh file system
		default:
			return fmt.Errorf("%s: %w: it has no %s and holds other files (%q); name an empty or new directory", d.Path, ErrNotAStore, markerName, name)
		}
	}
	return nil
}

func (d *Dir) create() error {
	if err := mkdirAll(d.FS, d.Path, d.warn); err != nil {
		return err
	}
	text, err := json.Marshal(marker{Format, NewUID()})
	if err != nil {
		return err
	}
	temp := filepath.Join(d.Path, markerName+"."+NewUID()[:12])
	f, err := d.FS.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		// Link, not rename: of several processes that make the store at once,
		// one must win and the others take its UID.
		name := filepath.Join(d.Path, markerName)
		err = d.FS.Link(temp, name)
		switch {
		case errors.Is(err, fs.ErrExist):
			err = nil
		case err != nil: // no hard links here
			err = d.FS.Rename(temp, name)
		}
	}
	if rmErr := d.FS.Remove(temp); err == nil && rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = rmErr
	}
	if err != nil {
		return err
	}
	if err := journalfile.SyncDir(d.FS, d.Path, d.warn); err != nil {
		return err
	}
	return d.readMarker()
}

// EnsureRuns makes the directory of the runs if it is absent, durably.
func (d *Dir) EnsureRuns() error { return mkdirAll(d.FS, filepath.Join(d.Path, runsName), d.warn) }

// Journal and Lock return the paths of a run's files.
func (d *Dir) Journal(id string) string { return d.file(id, journalExt) }

// Lock returns the path of the lock file of a run.
func (d *Dir) Lock(id string) string { return d.file(id, lockExt) }

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
// journals (locks, temporary files, torn bytes kept aside) are not listed.
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

func readFile(fsys vfs.FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
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
