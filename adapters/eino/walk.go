package eino

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var extraType = reflect.TypeFor[map[string]any]()

// extras calls fn with every map[string]any in v and its path, as in `.ToolCalls[0].Extra`, but
// for those inside of another one.
func extras(v reflect.Value, path string, fn func(path string, m reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			extras(v.Elem(), path, fn)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				extras(v.Field(i), path+"."+f.Name, fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			extras(v.Index(i), path+"["+strconv.Itoa(i)+"]", fn)
		}
	case reflect.Map:
		if v.Type() == extraType {
			fn(path, v)
		}
	}
}

// nameIn returns the name of the value at a place, if that is in the map at path.
func nameIn(path, at string) (string, bool) {
	rest, ok := strings.CutPrefix(at, path+"[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return "", false
	}
	name, err := strconv.Unquote(strings.TrimSuffix(rest, "]"))
	return name, err == nil
}

// clone copies v so far that every map[string]any in it can be changed.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(clone(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() && v.Type() == extraType {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				c.SetMapIndex(it.Key(), it.Value())
			}
		}
	}
	return c
}

// maxDepth ends the comparison of values that contain themselves: they cannot be recorded anyway.
const maxDepth = 200

// equal is [reflect.DeepEqual], but that nothing and an empty slice or map are the same, as every
// encoding has it, NaN is NaN, times are compared as times, and what eino itself calls
// "not serialized" is not looked at.
func equal(a, b reflect.Value, depth int) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() || depth > maxDepth {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem(), depth+1)
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() && a.CanInterface() && b.CanInterface() {
			return a.Interface().(time.Time).Equal(b.Interface().(time.Time))
		}
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.Name == "StreamingMeta" && f.Tag.Get("json") == "-" {
				continue
			}
			if !equal(a.Field(i), b.Field(i), depth+1) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i), depth+1) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for it := a.MapRange(); it.Next(); {
			other := b.MapIndex(it.Key())
			if !other.IsValid() || !equal(it.Value(), other, depth+1) {
				return false
			}
		}
		return true
	case reflect.Float32, reflect.Float64:
		return a.Float() == b.Float() || math.IsNaN(a.Float()) && math.IsNaN(b.Float())
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return a.IsZero() && b.IsZero()
	default:
		return a.Equal(b)
	}
}
