package meter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxCount is the largest count that every JSON reader, and the float64 that [Add] takes,
// holds exactly.
const maxCount = 1 << 53

// counts holds what a usage object counts, by the path of the member in it, as
// "prompt_tokens_details.cached_tokens". What is missing or null is not in it.
type counts map[string]int64

func (c counts) has(names ...string) bool {
	for _, name := range names {
		if _, ok := c[name]; ok {
			return true
		}
	}
	return false
}

// counted are the members of usage objects that are read, all others are passed over.
var counted = map[string]bool{
	"prompt_tokens": true, "completion_tokens": true,
	"prompt_tokens_details.cached_tokens":        true,
	"prompt_tokens_details.cache_write_tokens":   true,
	"completion_tokens_details.reasoning_tokens": true,
	"input_tokens":                             true,
	"output_tokens":                            true,
	"total_tokens":                             true,
	"input_tokens_details.cached_tokens":       true,
	"input_tokens_details.cache_write_tokens":  true,
	"output_tokens_details.reasoning_tokens":   true,
	"output_tokens_details.thinking_tokens":    true,
	"cache_read_input_tokens":                  true,
	"cache_creation_input_tokens":              true,
	"cache_creation.ephemeral_5m_input_tokens": true,
	"cache_creation.ephemeral_1h_input_tokens": true,
}

// details are the members of usage objects that hold counts themselves.
var details = map[string]bool{
	"prompt_tokens_details": true, "completion_tokens_details": true,
	"input_tokens_details": true, "output_tokens_details": true, "cache_creation": true,
}

// readCounts reads a usage object, and finds Anthropic's iterations in it.
func readCounts(path string, text jsontext.Value) (c counts, iterations jsontext.Value, err error) {
	c = counts{}
	err = members(path, text, func(name string, v jsontext.Value) error {
		switch {
		case name == "iterations":
			iterations = v
		case counted[name]:
			return c.read(path, name, v)
		case details[name]:
			return members(path+"."+name, v, func(inner string, v jsontext.Value) error {
				if full := name + "." + inner; counted[full] {
					return c.read(path, full, v)
				}
				return nil
			})
		}
		return nil
	})
	return c, iterations, err
}

// read reads one count: a whole number, written as one.
func (c counts) read(path, name string, v jsontext.Value) error {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 || n > maxCount {
		return refuse(fmt.Sprintf("%s.%s is no whole number from 0 to 2^53", path, name), "")
	}
	c[name] = n
	return nil
}

// readText reads a member that is a string.
func readText(path string, v jsontext.Value, to *string) error {
	if v.Kind() != '"' {
		return refuse(path+" is no string", "")
	}
	text, _ := jsontext.AppendUnquote(nil, v) // it is valid but perhaps for its UTF-8, which is mended
	*to = string(text)
	return nil
}

// members calls fn with each member of an object whose value is not null. The values are
// parts of text, and valid.
func members(path string, text jsontext.Value, fn func(name string, v jsontext.Value) error) error {
	return walk(path, text, '{', fn)
}

// elements calls fn with each element of an array, null ones too.
func elements(path string, text jsontext.Value, fn func(v jsontext.Value) error) error {
	return walk(path, text, '[', func(_ string, v jsontext.Value) error { return fn(v) })
}

func walk(path string, text jsontext.Value, want jsontext.Kind, fn func(name string, v jsontext.Value) error) error {
	// Texts of models may hold half a character, cut by a chunk: they are not what is read.
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != want {
		if _, err := dec.ReadValue(); err != nil {
			return badJSON(path, err)
		}
		return refuse(fmt.Sprintf("%s is no %s", path, map[jsontext.Kind]string{'{': "object", '[': "array"}[want]), "")
	}
	if _, err := dec.ReadToken(); err != nil {
		return badJSON(path, err)
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var name string
		if want == '{' {
			token, err := dec.ReadToken()
			if err != nil {
				return badJSON(path, err)
			}
			name = token.String()
		}
		v, err := dec.ReadValue()
		if err != nil {
			return badJSON(path, err)
		}
		// The decoder's own slice is good until its next call only.
		end := dec.InputOffset()
		v = text[end-int64(len(v)) : end : end]
		if want == '{' && v.Kind() == 'n' {
			continue
		}
		if err := fn(name, v); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return badJSON(path, err)
	}
	if rest := text[dec.InputOffset():]; len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		return refuse("something follows the JSON object", "give it one response at a time")
	}
	return nil
}

// badJSON says where JSON is wrong, without the texts around it.
func badJSON(path string, err error) error {
	what, at := "is not valid JSON", int64(0)
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = wrong.ByteOffset
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		what = "has a member twice"
	}
	return refuse(fmt.Sprintf("%s %s, at byte %d", path, what, at), "")
}
