package line

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Body builds the part of a line behind its head. Members are written in the
// order of the calls; the value, if any, comes last.
type Body struct{ b []byte }

// TimeFormat is how times are written: UTC to the microsecond.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// NewBody begins a body with its kind, and its key if that is not empty.
func NewBody(kind, key string, at time.Time) *Body {
	return &Body{begin(kind, key, at)} // so small that it is inlined and costs no allocation
}

func begin(kind, key string, at time.Time) []byte {
	b := make([]byte, 0, 192+len(key)) // enough for all but a value
	b = append(b, `"kind":`...)
	b = AppendString(b, kind)
	if key != "" {
		b = append(b, `,"key":`...)
		b = AppendString(b, key)
	}
	b = append(b, `,"at":"`...)
	b = at.UTC().AppendFormat(b, TimeFormat)
	return append(b, '"')
}

// Str adds a string member.
func (b *Body) Str(name, s string) *Body {
	b.name(name)
	b.b = AppendString(b.b, s)
	return b
}

// Int adds a number member.
func (b *Body) Int(name string, n int64) *Body {
	b.name(name)
	b.b = strconv.AppendInt(b.b, n, 10)
	return b
}

// Raw adds a member whose value is clean JSON text, see [Clean].
func (b *Body) Raw(name string, text []byte) *Body {
	b.name(name)
	b.b = append(b.b, text...)
	return b
}

// Value adds the record's value as the last member: text that is clean as it is
// under "value", other text as a string under "vs", so that its bytes survive.
func (b *Body) Value(text []byte) *Body {
	if Clean(text) {
		return b.Raw("value", text)
	}
	b.name("vs")
	b.b = AppendString(b.b, string(text))
	return b
}

// CleanValue is Value for text known to be clean.
func (b *Body) CleanValue(text []byte) *Body { return b.Raw("value", text) }

// Bytes closes the object and returns the body.
func (b *Body) Bytes() []byte { return append(b.b, '}') }

func (b *Body) name(name string) {
	b.b = append(b.b, ',', '"')
	b.b = append(b.b, name...)
	b.b = append(b.b, '"', ':')
}

// AppendString appends s as a JSON string that holds no raw control character,
// U+0085, U+2028 or U+2029. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if isPlain(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8
		q, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd"))
	}
	for _, sep := range separators {
		if bytes.Contains(q, sep.raw) {
			q = bytes.ReplaceAll(q, sep.raw, sep.escaped)
		}
	}
	return append(dst, q...)
}

// isPlain reports whether s stands in JSON as it is, as most keys do.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// separators are what some readers take for line ends.
var separators = []struct{ raw, escaped []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)},
	{[]byte("\u2028"), []byte(`\u2028`)},
	{[]byte("\u2029"), []byte(`\u2029`)},
}

// Clean reports whether JSON text can stand in a line as it is: no white space
// between tokens and none of the characters that some readers split lines at.
func Clean(text []byte) bool {
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString:
			i++
		case c <= ' ' && (!inString || c < ' '):
			return false
		case c == 0xc2 && i+1 < len(text) && text[i+1] == 0x85:
			return false
		case c == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && (text[i+2] == 0xa8 || text[i+2] == 0xa9):
			return false
		}
	}
	return true
}
