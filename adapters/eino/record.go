package eino

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/pawlgo/pawl"
)

// record is a value of eino as it is recorded: JSON, for people and tools, and beside it what
// JSON would change. Vendors put values of their own types into the Extra fields of messages,
// reasoning signatures among them; JSON gives back a map for a struct and a float64 for an int,
// and the vendor's next request is refused. Those values are gob, as they are in eino's
// checkpoints, so that vendors have registered their types already.
type record struct {
	Value json.RawMessage       `json:"value,omitempty"`
	Typed map[string]typedValue `json:"typed,omitempty"` // by their place in Value, which lacks them
	Gob   []byte                `json:"gob,omitempty"`   // the whole, if JSON cannot hold it: text that is not UTF-8, say
}

// freeze records v. What thaw gives back is equal to it, or the error is [pawl.ErrInvalid].
func freeze[T any](v *T) (record, error) {
	if v == nil {
		return record{}, fmt.Errorf("pawl: eino: %w: no %T to record", pawl.ErrInvalid, v)
	}
	var why error
	for i, way := range []func(*T) (record, error){plain[T], typed[T], whole[T]} {
		rec, err := way(v)
		if err == nil {
			var back *T
			if back, err = thaw[T](rec); err == nil && !equal(reflect.ValueOf(v), reflect.ValueOf(back), 0) {
				err = errors.New("it would come back changed")
			}
		}
		if err == nil {
			return rec, nil
		}
		if i < 2 || why == nil { // of the three the second says most
			why = err
		}
	}
	return record{}, fmt.Errorf("pawl: eino: %w: a %T cannot be recorded: %w; types in its Extra fields must be registered with schema.RegisterName", pawl.ErrInvalid, *v, why)
}

// thaw returns a new copy of what was recorded.
func thaw[T any](rec record) (*T, error) {
	v := new(T)
	if rec.Gob != nil {
		if err := gob.NewDecoder(bytes.NewReader(rec.Gob)).Decode(v); err != nil {
			return nil, mismatch(v, err)
		}
		return v, nil
	}
	// A member that is not known is of a newer eino: dropping a part of a message is no way to read it.
	if err := fromJSON(rec.Value, v); err != nil {
		return nil, mismatch(v, err)
	}
	if len(rec.Typed) == 0 {
		return v, nil
	}
	used := 0
	var failed error
	extras(reflect.ValueOf(v).Elem(), "", func(path string, m reflect.Value) {
		for _, at := range slices.Sorted(maps.Keys(rec.Typed)) {
			name, ok := nameIn(path, at)
			if !ok {
				continue
			}
			x, err := rec.Typed[at].value()
			if err != nil {
				failed = fmt.Errorf("%s: %w", at, err)
				return
			}
			if m.IsNil() {
				m.Set(reflect.MakeMap(m.Type()))
			}
			m.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(&x).Elem())
			used++
		}
	})
	if failed == nil && used != len(rec.Typed) {
		failed = fmt.Errorf("%d of %d typed values have no place", len(rec.Typed)-used, len(rec.Typed))
	}
	if failed != nil {
		return nil, mismatch(v, failed)
	}
	return v, nil
}

func mismatch(v any, err error) error {
	return fmt.Errorf("pawl: eino: %w: the record is no %T: %w", pawl.ErrMismatch, v, err)
}

// plain is JSON alone.
func plain[T any](v *T) (record, error) {
	text, err := toJSON(v)
	return record{Value: text}, err
}

// typed is JSON without the values in Extra fields that it would change, and these beside it.
func typed[T any](v *T) (record, error) {
	rec := record{Typed: map[string]typedValue{}}
	rest := clone(reflect.ValueOf(v)).Interface().(*T) // v is the caller's
	var failed error
	extras(reflect.ValueOf(rest).Elem(), "", func(path string, m reflect.Value) {
		for _, k := range m.MapKeys() {
			x := m.MapIndex(k).Interface()
			if _, ok := survives(x); ok {
				continue
			}
			at := path + "[" + strconv.Quote(k.String()) + "]"
			t, err := typedOf(x)
			if err != nil {
				failed = fmt.Errorf("%s of type %T: %w", at, x, err)
				continue
			}
			rec.Typed[at] = t
			m.SetMapIndex(k, reflect.Value{})
		}
	})
	if failed != nil {
		return rec, failed
	}
	var err error
	rec.Value, err = toJSON(rest)
	return rec, err
}

// whole is gob. It loses pointers to zero values, such as the index of a first tool call, so it
// comes last.
func whole[T any](v *T) (record, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return record{Gob: b.Bytes()}, err
}
