package pawl

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/delta"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// stateBody returns the record of a state, as a patch of the state before if that
// pays, and how many bytes of patches then stand behind the last whole state.
//
// A whole state is written when the patches since the last one have outgrown it: a
// reader applies at most as much as the state is long, and all whole states together
// cost at most as much as all patches.
func (b *stateBacking) stateBody(text []byte, clean bool) (body []byte, patched int) {
	rec := line.NewBody(journal.KindState, "", vfs.Now()).Str("sum", fmt.Sprintf("%08x", line.Checksum(text)))
	if n := b.cfg.schema(); n != noSchema {
		rec.Int("schema", int64(n))
	}
	// A state that must keep bytes which are not compact is no subject for patches.
	if b.text != nil && b.clean && clean {
		patch, ok := delta.Diff(b.text, text)
		if ok && b.patched+len(patch) <= len(text) && applies(b.text, patch, text) {
			return rec.Raw("patch", patch).Bytes(), b.patched + len(patch)
		}
	}
	if clean {
		return rec.CleanValue(text).Bytes(), 0
	}
	return rec.Value(text).Bytes(), 0
}

// applies reports whether patch leads from one state to the next, byte for byte. It
// always should; a state that cannot be read back would be found out too late.
func applies(from, patch, to []byte) bool {
	doc := delta.NewDocument(from)
	return doc.Apply(patch) == nil && doc.Equal(to)
}
