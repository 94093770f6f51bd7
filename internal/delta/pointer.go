package delta

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// A JSON Pointer (RFC 6901) stands in a patch as the content of a JSON string,
// so it is escaped twice: ~ and / as ~0 and ~1, and then as strings are. Names
// go from a text into a pointer and back without being decoded, which is what
// keeps their spelling.

// appendSegment appends a slash and the member name whose JSON string has the
// content name. It reports whether the spelling survives: a tilde or slash
// written as an escape comes back as itself.
func appendSegment(dst, name []byte) (_ []byte, exact bool) {
	dst = append(dst, '/')
	if bytes.IndexByte(name, '\\') < 0 && bytes.IndexByte(name, '~') < 0 && bytes.IndexByte(name, '/') < 0 {
		return append(dst, name...), true
	}
	exact = true
	for i := 0; i < len(name); {
		c, n := special(name[i:])
		switch c {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, name[i:i+n]...)
		}
		if (c == '~' || c == '/') && n > 1 {
			exact = false
		}
		i += n
	}
	return dst, exact
}

// special returns the character that begins s, the content of a JSON string, if
// it is one that pointers are made of (one of ~/01), otherwise 0; and how many
// bytes it, or the byte or escape in its place, is long.
func special(s []byte) (c byte, n int) {
	if s[0] != '\\' || len(s) == 1 {
		c, n = s[0], 1
	} else if s[1] != 'u' || len(s) < 6 {
		c, n = s[1], 2
	} else {
		n = 6
		if string(s[2:4]) == "00" {
			c = unhex(s[4])<<4 | unhex(s[5])
		}
	}
	if c != '~' && c != '/' && c != '0' && c != '1' {
		c = 0
	}
	return c, n
}

// unhex is the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c >= 'A' {
		return c&7 + 9
	}
	return c & 15
}

// segment is one reference token of a pointer.
type segment struct {
	spelled []byte // content of a JSON string
	name    []byte // what it means
}

var (
	errPointer = errors.New("the path does not begin with a slash")
	errTilde   = errors.New("the path has a ~ that is neither ~0 nor ~1")
)

// parsePointer appends the segments of the pointer whose JSON string has the
// content p (RFC 6901, sections 3 and 4). They share p's memory where they can.
func parsePointer(dst []segment, p []byte) ([]segment, error) {
	if len(p) == 0 {
		return dst, nil
	}
	if bytes.IndexByte(p, '\\') >= 0 {
		p = plainPointer(p)
	}
	if p[0] != '/' {
		return dst, errPointer
	}
	for p, more := p[1:], true; more; {
		var s []byte
		s, p, more = bytes.Cut(p, []byte{'/'})
		spelled, err := untilde(s)
		if err != nil {
			return dst, err
		}
		dst = append(dst, segment{spelled, unquote(spelled)})
	}
	return dst, nil
}

// plainPointer writes the slashes, the tildes and the digits behind tildes of a
// pointer as themselves where they are escapes, so that it can be cut.
func plainPointer(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); {
		c, n := special(p[i:])
		tilde := len(out) > 0 && out[len(out)-1] == '~'
		if c == '/' || c == '~' || c != 0 && tilde {
			out = append(out, c)
		} else {
			out = append(out, p[i:i+n]...)
		}
		i += n
	}
	return out
}

// untilde turns ~1 into / and ~0 into ~, in one pass as section 4 demands.
func untilde(s []byte) ([]byte, error) {
	i := bytes.IndexByte(s, '~')
	if i < 0 {
		return s, nil
	}
	out := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		c := s[i]
		if c == '~' {
			if i++; i == len(s) || s[i] != '0' && s[i] != '1' {
				return nil, errTilde
			}
			c = "~/"[s[i]-'0']
		}
		out = append(out, c)
	}
	return out, nil
}

// unquote returns what the content of a JSON string means. Invalid content means
// whatever jsontext makes of it; it is never an error here, because names only
// need to be compared.
func unquote(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	q := append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	out, _ := jsontext.AppendUnquote(nil, q)
	return out
}
