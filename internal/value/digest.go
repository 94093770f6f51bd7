package value

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// CanonicalLimit is the largest canonical text that is kept beside a digest, in
// bytes.
const CanonicalLimit = 4 << 10

// Fingerprint identifies a value by its canonical text.
type Fingerprint struct {
	Digest string // 128 bits of SHA-256 in hexadecimal
	Text   []byte // canonical text, nil above CanonicalLimit
	// Outline says something of a text above CanonicalLimit: of an object an object
	// with a digest of each member, of an array its length. Nil if there are too
	// many members, and of other values.
	Outline []byte
}

// Key returns the digest, "" of no fingerprint.
func (f *Fingerprint) Key() string {
	if f == nil {
		return ""
	}
	return f.Digest
}

// FingerprintOf encodes v and takes its fingerprint. The canonical text has the
// members of every object in sorted order, so that moving a struct field does
// not change it; numbers keep their digits (unlike RFC 8785, which would make
// 2^53+1 and 2^53 the same number). Redact, if not nil, is applied first, see [Redact].
func FingerprintOf(v any, redact func(string) string) (Fingerprint, error) {
	text, err := Encode(v)
	if err != nil {
		return Fingerprint{}, err
	}
	text = Redact(text, redact)
	c := jsontext.Value(text)
	if err := c.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false), jsontext.EscapeForJS(true)); err != nil {
		return Fingerprint{}, Explain(text, err)
	}
	c = escapeNEL(c)
	sum := sha256.Sum256(c)
	f := Fingerprint{Digest: hex.EncodeToString(sum[:16])}
	if len(c) <= CanonicalLimit {
		f.Text = c
	} else {
		f.Outline = outline(c)
	}
	return f, nil
}

// maxOutline bounds the members of an outline.
const maxOutline = 100

// outline makes the outline of a canonical text.
func outline(text []byte) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '{' && tok.Kind() != '[' {
		return nil
	}
	object := tok.Kind() == '{'
	out := []byte{'{'}
	n := 0
	for ; dec.PeekKind() != '}' && dec.PeekKind() != ']'; n++ {
		if object {
			name, err := dec.ReadValue()
			if err != nil || n >= maxOutline || len(out) > CanonicalLimit {
				return nil
			}
			if n > 0 {
				out = append(out, ',')
			}
			out = append(append(out, name...), ':')
		}
		v, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		if object {
			sum := sha256.Sum256(v)
			out = append(append(append(out, '"'), hex.EncodeToString(sum[:8])...), '"')
		}
	}
	if !object {
		return strconv.AppendInt(nil, int64(n), 10)
	}
	return append(out, '}')
}
