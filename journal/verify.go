package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// Verify reads the first size bytes of a journal as a start does, and then what a start
// leaves for later: every record must be JSON and have the value that its kind has, the
// newest state of each scope must come together with its checksum, and if the journal is
// an export (see [Export]) it must be whole. Each is called for every record, in order;
// its first error ends the reading and is returned as it is. Verify keeps no more in memory
// than the fold, the longest record and one state.
//
// Errors match [ErrCorrupt] or [ErrNewerFormat], or are those of src and each; the fold then
// holds the records before.
func Verify(src io.ReaderAt, size int64, each func(*Record) error) (*Fold, Tail, error) {
	fold := NewFold()
	var last *Record // if it ends an export
	sc := NewScanner(src, size)
	for sc.Scan() {
		r := sc.Record()
		if why := wrong(r); why != "" {
			return fold, Tail{}, &CorruptError{Offset: r.Offset, Seq: r.Seq, Reason: why}
		}
		fold.Apply(r)
		if last = nil; r.Kind == KindExport {
			last = r.Clone()
		}
		if each == nil {
			continue
		}
		if err := each(r); err != nil {
			return fold, Tail{}, err
		}
	}
	if err := sc.Err(); err != nil {
		return fold, Tail{}, err
	}
	for _, saved := range fold.Saved {
		if _, _, err := saved.Read(func(s Span) (*Record, error) { return RecordAt(src, s) }); err != nil {
			return fold, Tail{}, err
		}
	}
	if last != nil {
		if err := checkExport(src, last, fold.Records-1); err != nil {
			return fold, Tail{}, err
		}
	}
	return fold, sc.Tail(), nil
}

// wrong says what is wrong with a record whose checksum is right: such a one was
// written so. The result of a complete run is in a record of its own, so it is
// covered too.
func wrong(r *Record) string {
	if !utf8.Valid(r.Text) {
		return "the checksum is right, and the record is not UTF-8"
	}
	if !json.Valid(r.Text) {
		return "the checksum is right, and the record is not JSON"
	}
	switch r.Kind {
	case KindState:
		if r.Member("patch") != nil {
			return ""
		}
	case KindStep, KindComplete, KindNote, KindAwait, KindAnswer:
	default:
		return ""
	}
	text, ok := r.Value()
	switch {
	case !ok:
		return fmt.Sprintf("a %s without a value", r.Kind) + named(r)
	case r.Member("vs") != nil && !json.Valid(text): // else it is a part of the line
		return fmt.Sprintf("the value of this %s is not JSON", r.Kind) + named(r)
	}
	return ""
}

// named says which step or name a record is about, if it is about one.
func named(r *Record) string {
	if r.Key == "" {
		return ""
	}
	return fmt.Sprintf(": %q", r.Key)
}

// checkExport compares the end of an export with what stands before it.
func checkExport(src io.ReaderAt, end *Record, before int64) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(src, 0, end.Offset)); err != nil {
		return err
	}
	why := ""
	switch {
	case end.Int("records") != before:
		why = fmt.Sprintf("it ends an export of %d records, and %d stand before it", end.Int("records"), before)
	case end.Str("sha256") != hex.EncodeToString(sum.Sum(nil)):
		why = "it ends an export of other bytes than those before it"
	default:
		return nil
	}
	return &CorruptError{Offset: end.Offset, Seq: end.Seq, Reason: why}
}
