// Package docs finds the documents of a folder and reads them as a title and
// plain sentences. Text, Markdown and HTML are understood.
//
// It works on an [fs.FS]; give it the FS of an [os.Root] to read a folder of
// the disk, and no path in it can lead outside. Symbolic links are listed as
// skipped and never followed.
package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxFileBytes is the size above which a file is skipped: one runaway log must
// not take the memory that eight parallel analyses need.
const MaxFileBytes = 8 << 20

// ErrChanged is returned by [Read] for a document whose content is no longer
// the one that was listed.
var ErrChanged = errors.New("document changed since the folder was listed")

// Ref names one version of one document. It is small and says all that an
// analysis depends on, so its fingerprint tells whether a record still holds.
type Ref struct {
	Path   string `json:"path"`   // slash-separated, relative to the folder
	SHA256 string `json:"sha256"` // of the file's bytes, in hex
}

// ID names this version of the document in logs and witness files.
func (r Ref) ID() string { return r.Path + "@" + r.SHA256[:12] }

// Skip is a file of a kind that is read here, and why it was not.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Listing is what a folder holds.
type Listing struct {
	Docs    []Ref  // in the order of their paths
	Skipped []Skip // files that should have been documents
	Other   int    // files of other kinds
}

// kinds maps a file name's extension to its reader.
var kinds = map[string]func([]byte) (page, error){
	".txt": readText, ".text": readText,
	".md": readMarkdown, ".markdown": readMarkdown,
	".html": readHTML, ".htm": readHTML, ".xhtml": readHTML,
}

// List walks the folder and returns its documents in the order of their paths.
// Names that begin with a dot are left out. A file that cannot be read is
// listed as skipped; only a folder that cannot be walked is an error.
func List(fsys fs.FS) (Listing, error) {
	var l Listing
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == "." {
				return err
			}
			l.skip(p, "unreadable: "+reason(err))
			return nil // WalkDir has already given up on a directory it could not read
		}
		if p != "." && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			l.add(fsys, p, d)
		}
		return nil
	})
	return l, err
}

func (l *Listing) add(fsys fs.FS, p string, d fs.DirEntry) {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		l.skip(p, "symbolic link, not followed")
	case kinds[ext(p)] == nil || !d.Type().IsRegular():
		l.Other++
	case !utf8.ValidString(p):
		l.skip(strings.ToValidUTF8(p, "�"), "its name is not valid UTF-8")
	default:
		data, err := load(fsys, p)
		if err != nil {
			l.skip(p, reason(err))
			return
		}
		l.Docs = append(l.Docs, Ref{Path: p, SHA256: digest(data)})
	}
}

func (l *Listing) skip(p, why string) { l.Skipped = append(l.Skipped, Skip{p, why}) }

// Read reads the document that ref names. If the file's content has changed
// since it was listed the error is [ErrChanged]: the analysis of other content
// must not be recorded under this version.
func Read(fsys fs.FS, ref Ref) (Text, error) {
	data, err := load(fsys, ref.Path)
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", ref.Path, err)
	}
	if digest(data) != ref.SHA256 {
		return Text{}, fmt.Errorf("read %s: %w; start again to analyse the new content", ref.Path, ErrChanged)
	}
	pg, err := kinds[ext(ref.Path)](data)
	if err != nil {
		return Text{}, fmt.Errorf("read %s: %w", ref.Path, err)
	}
	return pg.text(ref.Path), nil
}

// load reads a whole file, but never more than MaxFileBytes, whatever size the
// directory claims: the file may be growing.
func load(fsys fs.FS, p string) ([]byte, error) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("larger than %d MiB", MaxFileBytes>>20)
	}
	if hasNUL(data) {
		return nil, errors.New("holds NUL bytes, so it is no text")
	}
	return data, nil
}

// reason strips the path from a file error: the list it goes into has it.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func ext(p string) string { return strings.ToLower(path.Ext(p)) }

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
