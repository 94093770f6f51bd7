package delta

import (
	"fmt"
	"strings"
)

// maxPath is how much of a path an error holds.
const maxPath = 200

// Error says what of a patch cannot be applied and why. It holds no value of the
// patch or of the document.
type Error struct {
	Index int    // of the operation, or -1 if it is the whole patch
	Op    string // its name, empty unless it is one of RFC 6902
	Path  string // its path, cut short if it is very long
	Err   error  // why
}

// Error returns the message.
func (e *Error) Error() string {
	switch {
	case e.Index < 0:
		return fmt.Sprintf("delta: patch: %v", e.Err)
	case e.Op == "":
		return fmt.Sprintf("delta: operation %d: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("delta: operation %d (%s %q): %v", e.Index, e.Op, e.Path, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// bounded returns the pointer whose JSON string has the content path, cut to
// what an error may hold.
func bounded(path []byte) string {
	p := string(unquote(path))
	if len(p) > maxPath {
		p = strings.ToValidUTF8(p[:maxPath], "") + "…"
	}
	return p
}
