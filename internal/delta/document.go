package delta

import (
	"bytes"
	"slices"
)

// Document is a text to which any number of patches are applied, as when a long
// history is read. A patch costs what it touches, not what the text is long:
// the text is scanned where operations first lead into it, an append to an array
// does not scan the array, and the result is written once, when asked for.
//
// The zero value is not a document. A Document is not safe for concurrent use.
type Document struct {
	root     node
	segments []segment // of the operation's path, kept for its memory
	err      error
}

// NewDocument returns the document with the given text, which must be compact
// JSON and must not change as long as the document is used.
func NewDocument(text []byte) *Document {
	return &Document{root: node{text: text}}
}

// Apply applies a patch, of which nothing is kept. After an error the document
// is somewhere between two states: every further Apply returns that error, and
// the text means nothing.
func (d *Document) Apply(patch []byte) error {
	if d.err == nil {
		d.err = d.apply(patch)
	}
	return d.err
}

// Equal reports whether the document's text is the given one, without writing
// it.
func (d *Document) Equal(text []byte) bool {
	return d.root.pieces(func(b []byte) bool {
		ok := bytes.HasPrefix(text, b)
		if ok {
			text = text[len(b):]
		}
		return ok
	}) && len(text) == 0
}

// Append appends the document's text to dst.
func (d *Document) Append(dst []byte) []byte {
	n := 0
	d.root.pieces(func(b []byte) bool { n += len(b); return true })
	dst = slices.Grow(dst, n)
	d.root.pieces(func(b []byte) bool { dst = append(dst, b...); return true })
	return dst
}
