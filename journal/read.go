package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/regular"
)

// Open opens the journal at path for reading. What is no plain file is refused, with an
// error that matches fs.ErrInvalid: a FIFO would be waited for, and a link leads elsewhere.
func Open(path string) (*os.File, error) { return regular.Open(path) }

// Read folds the journal at path. Tail says what stands behind its last record.
// It writes nothing and takes no lock: beside a live owner it sees the records
// written so far, and the one being written counts as torn.
//
// Errors match [ErrCorrupt] or [ErrNewerFormat], or are those of reading the file.
func Read(path string) (*Fold, Tail, error) {
	f, err := Open(path)
	if err != nil {
		return NewFold(), Tail{}, err
	}
	defer f.Close()
	return ReadFile(f)
}

// File is an open file, as *os.File is one.
type File interface {
	io.ReaderAt
	Name() string
	Stat() (fs.FileInfo, error)
}

// ReadFile is Read of an open file: what is read from it afterwards belongs to the fold
// even if the file is replaced meanwhile.
func ReadFile(f File) (*Fold, Tail, error) {
	fold := NewFold()
	tail, err := EachFile(f, func(r *Record) error {
		fold.Apply(r)
		return nil
	})
	return fold, tail, err
}

// Each calls fn for every record of the journal at path, in order, and stops at
// the first error of fn. The record is valid during the call.
func Each(path string, fn func(*Record) error) (Tail, error) {
	f, err := Open(path)
	if err != nil {
		return Tail{}, err
	}
	defer f.Close()
	return EachFile(f, fn)
}

// EachFile is Each of an open file.
func EachFile(f File, fn func(*Record) error) (Tail, error) {
	path := f.Name()
	info, err := f.Stat()
	if err != nil {
		return Tail{}, err
	}
	if err := regular.Check(info); err != nil {
		return Tail{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	sc := NewScanner(f, info.Size())
	for sc.Scan() {
		if err := fn(sc.Record()); err != nil {
			return Tail{}, err
		}
	}
	return sc.Tail(), WithPath(sc.Err(), path)
}

// RecordAt reads the one record at span, checks it and returns a copy.
func RecordAt(src io.ReaderAt, span Span) (*Record, error) {
	text := make([]byte, max(0, span.Len))
	n, err := src.ReadAt(text, span.Offset)
	if err != nil && err != io.EOF {
		return nil, err
	}
	text = text[:n] // shorter if the file was cut
	h, ok, _ := line.ParseHead(text)
	if !ok || h.Seq != span.Seq || !line.Verify(text, h) {
		return nil, &CorruptError{Offset: span.Offset, Seq: span.Seq, Reason: "the record read when the run was opened is not there any more"}
	}
	r := parseRecord(h, text, span.Offset)
	return &r, nil
}

// WithPath names the file in an error of a Scanner.
func WithPath(err error, path string) error {
	if c, ok := errors.AsType[*CorruptError](err); ok && c.Path == "" {
		named := *c
		named.Path = path
		return &named
	}
	if n, ok := errors.AsType[*NewerFormatError](err); ok && n.Path == "" {
		named := *n
		named.Path = path
		return &named
	}
	return err
}
