package adk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/pawlgo/pawl"
	"google.golang.org/adk/v2/session"
)

// encode returns v as JSON. What JSON would change without a word, a text that is not UTF-8, is
// refused with its place.
func encode(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: adk: %w", pawl.ErrInvalid, err)
	}
	if path, bad := badText(reflect.ValueOf(v), "$"); bad {
		return nil, fmt.Errorf("%w: adk: %s is not valid UTF-8", pawl.ErrInvalid, path)
	}
	return text, nil
}

// badText finds a string in v that is not UTF-8. Bytes are written in base64 and pass.
func badText(v reflect.Value, path string) (string, bool) {
	switch v.Kind() {
	case reflect.String:
		return path, !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return badText(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return "", false
		}
		for i := range v.Len() {
			if p, bad := badText(v.Index(i), path+"["+strconv.Itoa(i)+"]"); bad {
				return p, true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if p, bad := badText(it.Key(), path+"{key}"); bad {
				return p, true
			}
			if p, bad := badText(it.Value(), fmt.Sprint(path, ".", it.Key())); bad {
				return p, true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if p, bad := badText(v.Field(i), path+"."+f.Name); bad {
					return p, true
				}
			}
		}
	}
	return "", false
}

// decode reads JSON that encode wrote into *p. Where the type says nothing, numbers are float64 as
// everywhere in the framework, unless that would change them: an integer beyond 2^53 is a
// json.Number.
func decode(text []byte, p any) error {
	target := p
	if ev, ok := p.(*session.Event); ok {
		type plain session.Event // its own UnmarshalJSON would decode numbers before we see them
		target = (*plain)(ev)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(target); err != nil {
		return fmt.Errorf("%w: adk: %w", pawl.ErrMismatch, err)
	}
	plainNumbers(reflect.ValueOf(p).Elem())
	return nil
}

// plainNumbers makes float64 of the numbers in v that can be one.
func plainNumbers(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			plainNumbers(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			if x, changed := plainNumber(v.Interface()); changed {
				v.Set(reflect.ValueOf(x))
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				plainNumbers(v.Index(i))
			}
		}
	case reflect.Map:
		if v.Type().Elem().Kind() != reflect.Interface {
			for it := v.MapRange(); it.Next(); {
				if k := it.Value().Kind(); k == reflect.Pointer || k == reflect.Map || k == reflect.Slice {
					plainNumbers(it.Value())
				} else if k == reflect.Struct {
					c := reflect.New(it.Value().Type()).Elem()
					c.Set(it.Value())
					plainNumbers(c)
					v.SetMapIndex(it.Key(), c)
				}
			}
			return
		}
		for it := v.MapRange(); it.Next(); {
			if x, changed := plainNumber(it.Value().Interface()); changed {
				v.SetMapIndex(it.Key(), reflect.ValueOf(x))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				plainNumbers(v.Field(i))
			}
		}
	}
}

// plainNumber converts a decoded value, and what is inside it in place.
func plainNumber(x any) (any, bool) {
	switch x := x.(type) {
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			return x, false
		}
		if _, err := strconv.ParseInt(string(x), 10, 64); err == nil && (f >= 1<<53 || f <= -1<<53) {
			return x, false
		}
		if _, err := strconv.ParseUint(string(x), 10, 64); err == nil && f >= 1<<53 {
			return x, false
		}
		return f, true
	case map[string]any:
		for k, v := range x {
			if v, changed := plainNumber(v); changed {
				x[k] = v
			}
		}
	case []any:
		for i, v := range x {
			if v, changed := plainNumber(v); changed {
				x[i] = v
			}
		}
	}
	return x, false
}
