package eino

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
)

// typedValue is a value of any type that JSON would change. Maps and lists are taken apart: eino does
// not register those for gob.
type typedValue struct {
	JSON json.RawMessage       `json:"json,omitempty"` // if that does not change it
	Gob  []byte                `json:"gob,omitempty"`
	Map  map[string]typedValue `json:"map,omitempty"`
	List []typedValue          `json:"list,omitempty"`
}

func typedOf(x any) (t typedValue, err error) {
	if text, ok := survives(x); ok {
		t.JSON = text
		return t, nil
	}
	switch x := x.(type) {
	case map[string]any:
		t.Map = make(map[string]typedValue, len(x))
		for k, v := range x {
			if t.Map[k], err = typedOf(v); err != nil {
				return t, err
			}
		}
	case []any:
		t.List = make([]typedValue, len(x))
		for i, v := range x {
			if t.List[i], err = typedOf(v); err != nil {
				return t, err
			}
		}
	default:
		t.Gob, err = toGob(x)
	}
	return t, err
}

func (t typedValue) value() (any, error) {
	switch {
	case t.Gob != nil:
		var a anything
		if err := gob.NewDecoder(bytes.NewReader(t.Gob)).Decode(&a); err != nil {
			return nil, err
		}
		return a.V, nil
	case t.Map != nil:
		m := make(map[string]any, len(t.Map))
		for k, v := range t.Map {
			x, err := v.value()
			if err != nil {
				return nil, err
			}
			m[k] = x
		}
		return m, nil
	case t.List != nil:
		l := make([]any, len(t.List))
		for i, v := range t.List {
			x, err := v.value()
			if err != nil {
				return nil, err
			}
			l[i] = x
		}
		return l, nil
	}
	var x any
	err := fromJSON(t.JSON, &x)
	return x, err
}

// anything makes gob write the name of the type, which must be registered.
type anything struct{ V any }

func toGob(x any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(&anything{x})
	return b.Bytes(), err
}

// survives returns the JSON of x, and whether x is the same behind it.
func survives(x any) (json.RawMessage, bool) {
	text, err := toJSON(x)
	if err != nil {
		return nil, false
	}
	var back any
	if err := fromJSON(text, &back); err != nil {
		return nil, false
	}
	return text, equal(reflect.ValueOf(&x).Elem(), reflect.ValueOf(&back).Elem(), 0)
}

func toJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func fromJSON(text json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("JSON of eino: %w", err)
	}
	return nil
}
