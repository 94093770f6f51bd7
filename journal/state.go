package journal

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/delta"
	"github.com/pawlgo/pawl/internal/line"
)

// State returns the exact text of the newest state and its schema version (-1 if it
// has none), or nil if there is no state. Record reads a record of the folded
// journal; only the newest whole state and the patches behind it are read.
func (f *Fold) State(record func(Span) (*Record, error)) (text []byte, schema int, err error) {
	if f.Full.Len == 0 {
		if len(f.Patches) > 0 {
			return nil, -1, &CorruptError{Offset: f.Patches[0].Offset, Seq: f.Patches[0].Seq, Reason: "a patch without a state before it"}
		}
		return nil, -1, nil
	}
	r, err := record(f.Full)
	if err != nil {
		return nil, -1, err
	}
	text, ok := r.Value()
	if !ok {
		return nil, -1, &CorruptError{Offset: r.Offset, Seq: r.Seq, Reason: "a state without a value"}
	}
	if len(f.Patches) > 0 {
		doc := delta.NewDocument(text)
		for _, span := range f.Patches {
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
