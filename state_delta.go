package pawl

import (
	"fmt"
	"time"

	"github.com/pawlgo/pawl/internal/delta"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// stateText is a state as it was recorded last.
type stateText struct {
	text    []byte // nil if there is none
	clean   bool   // text is compact, so that patches can be made of it
	schema  int
	patched int // bytes of patches since the last whole state
}

// record returns the record of a state in the scope key, and the patch in it if it is
// one of the state before, which is made if that pays; and what is recorded last when the
// record is.
//
// A whole state is written when the patches since the last one have outgrown it: a
// reader applies at most as much as the state is long, and all whole states together
// cost at most as much as all patches.
func (t stateText) record(at time.Time, key string, text []byte, clean bool, schema int) (body, patch []byte, next stateText) {
	next = stateText{text: text, clean: clean, schema: schema}
	rec := line.NewBody(journal.KindState, key, at).Str("sum", fmt.Sprintf("%08x", line.Checksum(text)))
	if schema != noSchema {
		rec.Int("schema", int64(schema))
	}
	// A state that must keep bytes which are not compact is no subject for patches.
	if t.text != nil && t.clean && clean {
		patch, ok := delta.Diff(t.text, text)
		if ok && t.patched+len(patch) <= len(text) && applies(t.text, patch, text) {
			next.patched = t.patched + len(patch)
			return rec.Raw("patch", patch).Bytes(), patch, next
		}
	}
	if clean {
		return rec.CleanValue(text).Bytes(), nil, next
	}
	return rec.Value(text).Bytes(), nil, next
}

// applies reports whether patch leads from one state to the next, byte for byte. It
// always should; a state that cannot be read back would be found out too late.
func applies(from, patch, to []byte) bool {
	doc := delta.NewDocument(from)
	return doc.Apply(patch) == nil && doc.Equal(to)
}
