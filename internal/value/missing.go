package value

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Missing returns the members that the zero value of t writes and the object in
// text does not have, sorted. With an unknown member beside them they are what a
// renamed field looks like. It is nil unless t is a struct and text an object.
func Missing(text []byte, t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	zero, err := Encode(reflect.Zero(t).Interface())
	if err != nil {
		return nil
	}
	have := memberNames(text)
	if have == nil {
		return nil
	}
	var missing []string
	for name := range memberNames(zero) {
		if !have[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// memberNames returns the names of an object's members, nil for anything else.
func memberNames(text []byte) map[string]bool {
	dec := jsontext.NewDecoder(bytes.NewReader(text), base)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	names := map[string]bool{}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		names[tok.String()] = true
		if dec.SkipValue() != nil {
			return nil
		}
	}
	return names
}
