package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
)

// Check returns why text does not have a shape, with its JSON path: nil if it has, or if the
// shape is none that this package knows. Messages hold names of members and kinds of values, no
// values.
func Check(shape, text []byte) error {
	var s schema
	if len(shape) == 0 || json.Unmarshal(shape, &s) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("$: no JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("$: more than one JSON value")
	}
	return s.check("$", v)
}

func (s *schema) check(at string, v any) error {
	if s.Type == "" || v == nil && s.Nullable {
		return nil
	}
	if have := kindOf(v); have != s.Type && !(have == "integer" && s.Type == "number") {
		return fmt.Errorf("%s: %s, and it must be %s", at, article(have), article(s.Type))
	}
	switch v := v.(type) {
	case json.Number:
		if n, ok := new(big.Rat).SetString(string(v)); s.Minimum != nil && ok && n.Cmp(big.NewRat(int64(*s.Minimum), 1)) < 0 {
			return fmt.Errorf("%s: less than %d", at, *s.Minimum)
		}
	case []any:
		if s.Length != nil && len(v) > *s.Length {
			return fmt.Errorf("%s: %d elements, at most %d are taken", at, len(v), *s.Length)
		}
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if err := s.Items.check(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
		}
	case map[string]any:
		return s.object(at, v)
	}
	return nil
}

func (s *schema) object(at string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s: the member %q is missing", at, name)
		}
	}
	var others *schema
	closed := string(s.Others) == "false"
	if len(s.Others) > 0 && !closed && json.Unmarshal(s.Others, &others) != nil {
		others = nil
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner := s.Properties[name]
		switch {
		case inner == nil && closed:
			return fmt.Errorf("%s: there is no member %q", at, name)
		case inner == nil && others == nil:
			continue
		case inner == nil:
			inner = others
		}
		if err := inner.check(at+"."+name, v[name]); err != nil {
			return err
		}
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if n, ok := new(big.Rat).SetString(string(v)); ok && n.IsInt() && !bytes.ContainsAny([]byte(v), ".eE") {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "integer", "array", "object":
		return "an " + kind
	}
	return "a " + kind
}
