package journal

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/delta"
	"github.com/pawlgo/pawl/internal/line"
)

// Saved says where the newest state of a scope is: in a whole one and the patches
// behind it.
type Saved struct {
	Full       Span
	Patches    []Span
	PatchBytes int64 // length of the patches together
}

// Newest returns the record of the newest state.
func (s *Saved) Newest() Span {
	if n := len(s.Patches); n > 0 {
		return s.Patches[n-1]
	}
	return s.Full
}

// Save adds the record of a state, whole or (patch is not nil) a patch of the one before.
func (f *Fold) Save(key string, span Span, patch []byte) {
	s := f.Saved[key]
	if s == nil {
		s = &Saved{}
		f.Saved[key] = s
		f.link(key)
	}
	if patch != nil {
		s.Patches = append(s.Patches, span)
		s.PatchBytes += int64(len(patch))
		return
	}
	*s = Saved{Full: span, Patches: s.Patches[:0]}
}

// Note adds the record of a note. Of notes that were written at once by several
// goroutines the one that stands last in the journal counts, whoever comes first here.
func (f *Fold) Note(key string, span Span) {
	newest, known := f.Notes[key]
	if !known {
		f.link(key)
	}
	if span.Seq > newest.Seq {
		f.Notes[key] = span
	}
}

// State returns the exact text of a scope's newest state and its schema version (-1 if
// it has none), or nil if there is no state. Record reads a record of the folded
// journal; only the newest whole state and the patches behind it are read.
func (f *Fold) State(key string, record func(Span) (*Record, error)) (text []byte, schema int, err error) {
	if s := f.Saved[key]; s != nil {
		return s.Read(record)
	}
	return nil, -1, nil
}

// Read is what [Fold.State] does for one state.
func (s *Saved) Read(record func(Span) (*Record, error)) (text []byte, schema int, err error) {
	if s.Full.Len == 0 {
		return nil, -1, &CorruptError{Offset: s.Newest().Offset, Seq: s.Newest().Seq, Reason: "a patch without a state before it"}
	}
	r, err := record(s.Full)
	if err != nil {
		return nil, -1, err
	}
	text, ok := r.Value()
	if !ok {
		return nil, -1, &CorruptError{Offset: r.Offset, Seq: r.Seq, Reason: "a state without a value"}
	}
	if len(s.Patches) > 0 {
		doc := delta.NewDocument(text)
		for _, span := range s.Patches {
			if r, err = record(span); err != nil {
				return nil, -1, err
			}
			if err := doc.Apply(r.Member("patch")); err != nil {
				return nil, -1, &CorruptError{Offset: r.Offset, Seq: r.Seq, Reason: "its patch does not apply: " + err.Error()}
			}
		}
		text = doc.Append(nil)
	}
	// Of the newest state only: a wrong one in between would show here too.
	if sum := fmt.Sprintf("%08x", line.Checksum(text)); sum != r.Str("sum") {
		return nil, -1, &CorruptError{Offset: r.Offset, Seq: r.Seq, Reason: "the state's checksum does not match"}
	}
	schema = -1
	if r.Member("schema") != nil {
		schema = int(r.Int("schema"))
	}
	return text, schema, nil
}
