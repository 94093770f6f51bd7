package value

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"
)

// CanonicalLimit is the largest canonical text that is kept beside a digest, in
// bytes.
const CanonicalLimit = 4 << 10

// Fingerprint identifies a value by its canonical text.
type Fingerprint struct {
	Digest string // 128 bits of SHA-256 in hexadecimal
	Text   []byte // canonical text, nil above CanonicalLimit
}

// FingerprintOf encodes v and takes its fingerprint. The canonical text has the
// members of every object in sorted order, so that moving a struct field does
// not change it; numbers keep their digits (unlike RFC 8785, which would make
// 2^53+1 and 2^53 the same number).
func FingerprintOf(v any) (Fingerprint, error) {
	text, err := Encode(v)
	if err != nil {
		return Fingerprint{}, err
	}
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
	}
	return f, nil
}
