package value

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeRedacted is [Encode] and [Redact]. A value that would not come back, since what fn
// puts in the place of a text does not fit the type there, a time say, is refused.
func EncodeRedacted(v any, fn func(string) string) ([]byte, error) {
	text, err := Encode(v)
	if err != nil || fn == nil {
		return text, err
	}
	safe := Redact(text, fn)
	if bytes.Equal(safe, text) {
		return text, nil
	}
	p := reflect.New(reflect.TypeOf(v))
	if err := Decode(safe, p.Interface(), true); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, refuse(e.Path, "what Redact puts in its place does not fit: "+e.Reason)
		}
		return nil, err
	}
	if again, err := Encode(p.Elem().Interface()); err != nil || !bytes.Equal(again, safe) && !IsRaw(reflect.TypeOf(v)) {
		return nil, refuse("$", "what Redact puts in the place of its texts does not come back")
	}
	return safe, nil
}

// Redact calls fn with every string value in a JSON text, and puts what it returns in
// its place; names of members stay. Everything else keeps its bytes, and text itself is
// returned if nothing changed.
func Redact(text []byte, fn func(string) string) []byte {
	if fn == nil || bytes.IndexByte(text, '"') < 0 {
		return text
	}
	var out []byte
	copied := 0 // up to where text stands in out
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			break // the end: the text is valid
		}
		if tok.Kind() != '"' {
			continue
		}
		if parent, n := dec.StackIndex(dec.StackDepth()); parent == '{' && n%2 == 1 {
			continue // a name
		}
		plain := tok.String()
		safe := fn(plain)
		if safe == plain {
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, toValid(safe))
		if err != nil {
			continue // it is valid by now
		}
		end := int(dec.InputOffset())
		begin := end - stringLen(text[:end])
		out = append(append(out, text[copied:begin]...), escapeNEL(escapeLines(quoted))...)
		copied = end
	}
	if out == nil {
		return text
	}
	return append(out, text[copied:]...)
}

func toValid(s string) string { return string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd"))) }

// escapeLines escapes what some readers split lines at.
func escapeLines(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\u2028"), []byte(`\u2028`))
	return bytes.ReplaceAll(text, []byte("\u2029"), []byte(`\u2029`))
}

// stringLen returns the length of the JSON string that ends a text.
func stringLen(text []byte) int {
	for i := len(text) - 2; ; i-- {
		if text[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes-1 >= 0 && text[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return len(text) - i
		}
	}
}
