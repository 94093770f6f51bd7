// Package shape says what JSON a Go type takes, as a Schema Object of OpenAPI 3.0.3 (section
// 4.7.24, the small part of it that Go types need), and checks texts against it: in another
// process than the one that has the type.
package shape

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// maxDepth bounds how deep a type is described: types may contain themselves.
const maxDepth = 12

// schema is a Schema Object. The empty one takes anything.
type schema struct {
	Type       string             `json:"type,omitempty"`
	Nullable   bool               `json:"nullable,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Others     json.RawMessage    `json:"additionalProperties,omitempty"` // a schema, or false
	Items      *schema            `json:"items,omitempty"`
	Length     *int               `json:"maxItems,omitempty"`
	Minimum    *int               `json:"minimum,omitempty"`
}

// Of returns the schema of a type, compact and equal for equal types.
func Of(t reflect.Type) []byte {
	text, err := json.Marshal(of(t, 0))
	if err != nil {
		return []byte("{}") // nothing in a schema can fail
	}
	return text
}

var (
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType   = reflect.TypeFor[json.Marshaler]()
	numberType = reflect.TypeFor[json.Number]()
	durationT  = reflect.TypeFor[time.Duration]()
)

func of(t reflect.Type, depth int) *schema {
	if depth > maxDepth {
		return &schema{}
	}
	if t.Kind() == reflect.Pointer {
		s := of(t.Elem(), depth+1)
		s.Nullable = true
		return s
	}
	switch {
	case t == numberType:
		return &schema{Type: "number"}
	case t == durationT:
		return &schema{Type: "integer"}
	case t.Implements(jsonType) || reflect.PointerTo(t).Implements(jsonType) || writesItself(t):
		if t == reflect.TypeFor[time.Time]() {
			return &schema{Type: "string"}
		}
		return &schema{}
	case t.Implements(textType) || reflect.PointerTo(t).Implements(textType):
		return &schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		zero := 0
		return &schema{Type: "integer", Minimum: &zero}
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &schema{Type: "string", Nullable: true} // base64
		}
		return &schema{Type: "array", Nullable: true, Items: of(t.Elem(), depth+1)}
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &schema{}
		}
		n := t.Len()
		return &schema{Type: "array", Items: of(t.Elem(), depth+1), Length: &n}
	case reflect.Map:
		values, err := json.Marshal(of(t.Elem(), depth+1))
		if err != nil {
			return &schema{} // nothing in a schema can fail
		}
		return &schema{Type: "object", Nullable: true, Others: values}
	case reflect.Struct:
		return ofStruct(t, depth)
	}
	return &schema{}
}

// writesItself reports whether a type has a method of encoding/json/v2.
func writesItself(t reflect.Type) bool {
	_, direct := t.MethodByName("MarshalJSONTo")
	_, pointed := reflect.PointerTo(t).MethodByName("MarshalJSONTo")
	return direct || pointed
}

// ofStruct describes a struct. Its members are required but for those that may be left out of
// its encoding: an answer that forgets one would be taken for a zero.
func ofStruct(t reflect.Type, depth int) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, Others: json.RawMessage("false")}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-", !f.IsExported():
			continue
		case f.Anonymous && name == "":
			if inner := f.Type; inner.Kind() == reflect.Struct || inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct {
				continue // its fields are visited too
			}
		case len(f.Index) > 1 && hidden(t, f):
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := of(f.Type, depth+1)
		if strings.Contains(","+options+",", ",string,") {
			p = &schema{} // a number in a string
		}
		s.Properties[name] = p
		if !strings.Contains(","+options+",", ",omitempty,") && !strings.Contains(","+options+",", ",omitzero,") && !p.Nullable && len(f.Index) == 1 {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// hidden reports whether a promoted field belongs to an embedded one that has a name of its own.
func hidden(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		outer := t.FieldByIndex(f.Index[:i])
		if name, _, _ := strings.Cut(outer.Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}
