package value

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting of arrays and objects that a value may have.
// It keeps every file readable by readers with a small stack, such as Python's.
const MaxDepth = 500

var tooDeep = fmt.Sprintf("nested deeper than %d levels", MaxDepth)

// Valid reports whether text is one strict JSON value within [MaxDepth].
func Valid(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), base)
	if err := dec.SkipValue(); err != nil {
		return Explain(text, err)
	}
	if rest := bytes.TrimLeft(text[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &Error{Path: "$", Offset: int64(len(text) - len(rest)), Reason: "more data after the value"}
	}
	return CheckDepth(text)
}

// CheckDepth refuses valid JSON that is nested deeper than [MaxDepth].
func CheckDepth(text []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return &Error{Path: pathAt(text, i), Offset: int64(i), Reason: tooDeep}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// pathAt returns the path of the value that begins at a byte of valid JSON.
func pathAt(text []byte, at int) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), base)
	for dec.InputOffset() <= int64(at) {
		if _, err := dec.ReadToken(); err != nil {
			break
		}
	}
	return Path(dec.StackPointer())
}
