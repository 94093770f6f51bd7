package inbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Read returns the mail in an inbox for the run with a UID, in the order of the names of its
// files, which is none of time. An inbox that is not there is empty. What senders that died left,
// and mail for other runs, is passed over.
//
// An entry that is damaged ([journal.ErrCorrupt]), newer ([journal.ErrNewerFormat]) or cannot be
// read is an error that names it; the other entries are returned all the same. Nothing is
// changed. Kinds that this program does not know are returned: leave them for one that does.
//
// It needs no lock, and sees an entry whole or not at all.
func Read(fsys vfs.FS, dir, uid string) ([]Entry, error) { return readFor(fsys, dir, uid, false) }

// ReadAll returns the mail in an inbox, whoever it is for: for a reader that must look here before
// it looks into the journal and knows whose run it is.
func ReadAll(fsys vfs.FS, dir string) ([]Entry, error) { return readFor(fsys, dir, "", true) }

func readFor(fsys vfs.FS, dir, uid string, all bool) ([]Entry, error) {
	names, err := list(fsys, dir)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	var errs []error
	for _, name := range names {
		if !all && !isEntry(name, uid) || all && (!strings.HasSuffix(name, entryExt) || strings.HasPrefix(name, ".")) {
			continue
		}
		e, err := read(fsys, filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist): // taken since we listed it
		case err != nil:
			errs = append(errs, err)
		case all || e.UID == uid:
			entries = append(entries, e)
		}
	}
	return entries, errors.Join(errs...)
}

// isEntry reports whether a file may be mail for a run. Hidden files are those of other programs,
// such as the second half of each file that macOS keeps on some file systems.
func isEntry(name, uid string) bool {
	stem, ok := strings.CutSuffix(name, entryExt)
	if !ok || strings.HasPrefix(name, ".") {
		return false
	}
	_, rest, _ := strings.Cut(stem, "-")
	to, _, _ := strings.Cut(rest, "-")
	if len(to) == tagDigits && isHex(to) {
		return to == tag(uid)
	}
	return true // whatever it is, somebody meant it for an entry
}

// list returns the names in an inbox, none if it is not there.
func list(fsys vfs.FS, dir string) ([]string, error) {
	err := vfsErr(func() error { return isDir(fsys, dir) })
	var names []string
	if err == nil {
		names, err = vfs.OnceMore(func() ([]string, error) { return fsys.ReadDir(dir) })
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// isDir refuses what is no directory: a link would lead out of the store.
func isDir(fsys vfs.FS, dir string) error {
	fi, err := fsys.Lstat(dir)
	if err == nil && !fi.IsDir() {
		err = &journal.CorruptError{Path: dir, Reason: "an inbox that is not a directory"}
	}
	return err
}

// vfsErr is [vfs.OnceMore] for calls without a result.
func vfsErr(fn func() error) error {
	_, err := vfs.OnceMore(func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

// read reads one entry.
func read(fsys vfs.FS, path string) (Entry, error) {
	text, err := vfs.OnceMore(func() ([]byte, error) { return readAll(fsys, path) })
	if err != nil {
		if errors.Is(err, fs.ErrInvalid) { // a link, a FIFO, a directory
			err = &journal.CorruptError{Path: path, Reason: err.Error()}
		}
		return Entry{}, err
	}
	e, err := decode(path, text)
	if err == nil && e.Name() != filepath.Base(path) {
		// Its name is what it is about, and what it keeps others from being about.
		err = &journal.CorruptError{Path: path, Reason: fmt.Sprintf("the entry belongs under the name %s", e.Name())}
	}
	return e, err
}

func readAll(fsys vfs.FS, path string) ([]byte, error) {
	f, err := vfs.OpenRegular(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Size() > MaxSize {
		return nil, &journal.CorruptError{Path: path, Reason: fmt.Sprintf("%d bytes; the limit of mail is %d", fi.Size(), MaxSize)}
	}
	text := make([]byte, fi.Size()+1) // one more, to see the end
	n, err := f.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return text[:n], nil
}
