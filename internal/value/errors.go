package value

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Error says why a value was refused and where in it.
type Error struct {
	Path   string // JSON path, "$" is the value itself
	Offset int64  // of the byte in the text, -1 if there is no text
	Reason string // one clause, no payload contents
	Cause  error  // nil if there is none
}

// Error returns `$.path: reason (byte n)`.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Path + ": " + e.Reason
	}
	return fmt.Sprintf("%s: %s (byte %d)", e.Path, e.Reason, e.Offset)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// UnknownMember is the reason for refusing a member that the Go type does not have.
const UnknownMember = "unknown member"

func refuse(path, reason string) error { return &Error{Path: path, Offset: -1, Reason: reason} }

// encodeError is [Explain] for errors of encoding.
func encodeError(err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		reason := "cannot be stored"
		if e.GoType != nil {
			reason = fmt.Sprintf("a %v cannot be stored", e.GoType)
		}
		if e.Err != nil {
			reason = strings.TrimSpace(strings.TrimPrefix(e.Err.Error(), "unsupported value:"))
		}
		return &Error{Path: Path(e.JSONPointer), Offset: -1, Reason: reason, Cause: e.Err}
	}
	e := Explain(nil, err)
	e.Offset = -1 // in a text that nobody will see
	return e
}

// Explain translates an error of the JSON package about text into a path, a byte
// and a reason without payload contents.
func Explain(text []byte, err error) *Error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		reason := "does not fit"
		switch {
		case errors.Is(e.Err, json.ErrUnknownName):
			reason = UnknownMember
		case e.GoType != nil && e.JSONKind != 0:
			reason = fmt.Sprintf("%s does not fit a Go %v", kindName(e.JSONKind), e.GoType)
		case e.Err != nil:
			reason = e.Err.Error()
		}
		return &Error{Path: Path(e.JSONPointer), Offset: -1, Reason: reason, Cause: e.Err}
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		reason, off := syntaxReason(text, e)
		return &Error{Path: Path(e.JSONPointer), Offset: off, Reason: reason, Cause: e.Err}
	}
	if errors.Is(err, io.EOF) {
		return &Error{Path: "$", Offset: 0, Reason: "there is no JSON value", Cause: err}
	}
	return &Error{Path: "$", Offset: -1, Reason: err.Error(), Cause: err}
}

// notJSON are the tokens that Python's json module writes and JSON does not have.
var notJSON = []string{"NaN", "-Infinity", "Infinity"}

// syntaxReason says in a clause what is wrong at which byte.
func syntaxReason(text []byte, e *jsontext.SyntacticError) (string, int64) {
	off := e.ByteOffset
	for _, tok := range notJSON {
		// The package stops at the I of -Infinity, behind the minus sign.
		for _, at := range [...]int64{off, off - 1} {
			if at >= 0 && at <= int64(len(text)) && bytes.HasPrefix(text[at:], []byte(tok)) {
				return tok + ", which JSON does not have", at
			}
		}
	}
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return "duplicate member", off
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		return "cut off", off
	case strings.Contains(e.Err.Error(), "surrogate"):
		return "half of a surrogate pair, which is not valid Unicode", off
	case strings.Contains(e.Err.Error(), "max depth"):
		return tooDeep, off // the package's own limit is far above ours
	}
	return e.Err.Error(), off
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	default:
		return "an array"
	}
}

// maxPath bounds the paths in error messages, in bytes.
const maxPath = 200

// Path turns a JSON pointer (RFC 6901) into the form "$.items[3].name". The
// middle of a very long path is left out.
func Path(p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteByte('$')
	for tok := range p.Tokens() {
		switch {
		case tok != "" && strings.Trim(tok, "0123456789") == "":
			b.WriteString("[" + tok + "]")
		case tok != "" && strings.IndexFunc(tok, notIdent) < 0:
			b.WriteString("." + tok)
		default:
			fmt.Fprintf(&b, "[%q]", tok)
		}
	}
	s := b.String()
	if len(s) > maxPath {
		const half = maxPath / 2
		s = strings.ToValidUTF8(s[:half], "") + "…" + strings.ToValidUTF8(s[len(s)-half:], "")
	}
	return s
}

func notIdent(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
