package value

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plan is what a type's structure says about storing its values.
type plan struct {
	raw            bool // raw JSON, see IsRaw
	untyped        bool // can hold untyped values or json.Number
	deep           bool // its depth is not bounded by the type
	lossless       bool // whatever encodes decodes to the same text, no need to try
	pointerMethods bool // has methods that encode only where an address can be taken
	err            error
	size           atomic.Int64 // of the last text
}

var plans sync.Map // reflect.Type → *plan

var (
	errorType     = reflect.TypeFor[error]()
	anyType       = reflect.TypeFor[any]()
	numberType    = reflect.TypeFor[stdjson.Number]()
	timeType      = reflect.TypeFor[time.Time]()
	rawType       = reflect.TypeFor[stdjson.RawMessage]()
	rawValueType  = reflect.TypeFor[jsontext.Value]()
	marshaler     = reflect.TypeFor[stdjson.Marshaler]()
	marshalerTo   = reflect.TypeFor[json.MarshalerTo]()
	unmarshaler   = reflect.TypeFor[stdjson.Unmarshaler]()
	unmarshalerF  = reflect.TypeFor[json.UnmarshalerFrom]()
	textMarshal   = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
	textUnmarshal = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
	zeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
)

// planOf looks at a type once and remembers. A nil type is the value nil.
func planOf(t reflect.Type) (*plan, error) {
	if t == nil {
		return &plan{lossless: true}, nil
	}
	if p, ok := plans.Load(t); ok {
		return p.(*plan), p.(*plan).err
	}
	p := &plan{lossless: true}
	p.raw = IsRaw(t)
	if !p.raw {
		p.err = p.walk(t, "$", map[reflect.Type]visit{})
	}
	plans.Store(t, p)
	return p, p.err
}

// Check refuses types that can never be stored: channels, functions, complex
// numbers, error values, interfaces other than any, types that can be written and
// not read, and structs that the JSON package refuses whatever they hold. It is
// cheap after the first call for a type.
func Check(t reflect.Type) error {
	_, err := planOf(t)
	return err
}

// IsRaw reports whether values of t are JSON text that must come back byte for
// byte: encoding/json's RawMessage and its counterpart jsontext.Value, and
// pointers to them.
func IsRaw(t reflect.Type) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == rawType || t == rawValueType
}

func implements(t, iface reflect.Type) bool {
	return t.Implements(iface) || reflect.PointerTo(t).Implements(iface)
}

// A visit of a type is under way, or over.
type visit int8

const (
	underWay visit = iota + 1
	over
)

func (p *plan) walk(t reflect.Type, at string, visits map[reflect.Type]visit) error {
	switch visits[t] {
	case underWay:
		p.deep = true // a recursive type
		return nil
	case over:
		return nil
	}
	visits[t] = underWay
	defer func() { visits[t] = over }()

	switch {
	case t == numberType:
		p.untyped = true
		return nil
	case t == timeType:
		return nil
	case IsRaw(t):
		p.untyped, p.deep, p.lossless = true, true, false
		return nil
	}
	if done, err := p.methods(t, at); done {
		return err
	}
	return p.kind(t, at, visits)
}

// methods looks at types that encode or decode themselves; done says that their
// structure does not matter.
func (p *plan) methods(t reflect.Type, at string) (done bool, err error) {
	writes := implements(t, marshaler) || implements(t, marshalerTo)
	reads := implements(t, unmarshaler) || implements(t, unmarshalerF)
	writesText, readsText := implements(t, textMarshal), implements(t, textUnmarshal)
	if !writes && !writesText {
		// One that only reads must be able to read what its structure writes.
		p.lossless = p.lossless && !reads && !readsText
		if t.Implements(errorType) {
			return true, refuse(at, fmt.Sprintf("%v is an error, which cannot be read back; store its text", t))
		}
		return false, nil
	}
	switch {
	case t.Kind() == reflect.Interface:
		return false, nil
	case writes && !reads:
		return true, refuse(at, fmt.Sprintf("%v has a method to write JSON and none to read it", t))
	case !writes && !reads && !readsText:
		return true, refuse(at, fmt.Sprintf("%v has a method to write text and none to read it", t))
	}
	p.untyped, p.deep, p.lossless = true, true, false
	direct := t.Implements(marshaler) || t.Implements(marshalerTo) || !writes && t.Implements(textMarshal)
	p.pointerMethods = p.pointerMethods || !direct
	return true, nil
}

func (p *plan) kind(t reflect.Type, at string, visits map[reflect.Type]visit) error {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return refuse(at, fmt.Sprintf("a Go %v cannot be stored", t))
	case reflect.Interface:
		if t != anyType {
			return refuse(at, fmt.Sprintf("an interface type (%v) cannot be read back; store a concrete type", t))
		}
		p.untyped, p.deep, p.lossless = true, true, false
	case reflect.Pointer:
		return p.walk(t.Elem(), at, visits)
	case reflect.Slice, reflect.Array:
		return p.walk(t.Elem(), at+"[]", visits)
	case reflect.Map:
		if err := p.key(t.Key(), at); err != nil {
			return err
		}
		return p.walk(t.Elem(), at+"{}", visits)
	case reflect.Struct:
		for field := range t.Fields() {
			if err := p.field(field, at, visits); err != nil {
				return err
			}
		}
		return structErr(t, at)
	}
	return nil
}

// structErr asks the JSON package what it has against a struct type, whatever the value:
// fields of one name, options that do not fit, nothing that is exported.
func structErr(t reflect.Type, at string) error {
	zero := reflect.New(t).Interface()
	var err error
	if implements(t, unmarshaler) || implements(t, unmarshalerF) || implements(t, textUnmarshal) {
		_, err = json.Marshal(zero, encoding)
		if e, ok := errors.AsType[*json.SemanticError](err); ok && e.GoType != t {
			err = nil // about a value inside: the zero value need not be one that can be stored
		}
	} else {
		err = json.Unmarshal([]byte("{}"), zero, decoding) // no method is called for that
	}
	if err != nil {
		return typeErr(err, at)
	}
	for f := range t.Fields() {
		if !f.IsExported() || !hasOption(f, "string") {
			continue
		}
		// By itself: a value of another field may be one that cannot be stored.
		v := reflect.New(reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}}))
		for p := v.Elem().Field(0); p.Kind() == reflect.Pointer; p = p.Elem() {
			p.Set(reflect.New(p.Type().Elem()))
		}
		_, err := json.Marshal(v.Interface(), encoding)
		if e, ok := errors.AsType[*json.SemanticError](err); ok && e.GoType != nil && !writesItself(e.GoType) {
			return typeErr(err, at+"."+f.Name)
		}
	}
	return nil
}

// typeErr is an error of the JSON package about the type that stands at a place.
func typeErr(err error, at string) error {
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok || e.Err == nil {
		return refuse(at, "cannot be stored")
	}
	return &Error{Path: at, Offset: -1, Reason: e.Err.Error(), Cause: e.Err}
}

func writesItself(t reflect.Type) bool {
	return implements(t, marshaler) || implements(t, marshalerTo) || implements(t, textMarshal)
}

func hasOption(f reflect.StructField, option string) bool {
	_, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	for opt := range strings.SplitSeq(opts, ",") {
		if opt == option {
			return true
		}
	}
	return false
}

// key allows what encoding/json allows as the key of a map.
func (p *plan) key(t reflect.Type, at string) error {
	switch {
	case t == numberType:
	case implements(t, textMarshal) && implements(t, textUnmarshal):
		p.lossless = false
		return nil
	case t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		p.lossless = p.lossless && !implements(t, textMarshal) && !implements(t, textUnmarshal)
		return nil
	}
	return refuse(at+"{key}", fmt.Sprintf("a Go %v cannot be a key", t))
}

func (p *plan) field(f reflect.StructField, at string, visits map[reflect.Type]visit) error {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() && !f.Anonymous {
		return nil
	}
	at += "." + f.Name
	if f.Anonymous && !f.IsExported() && f.Type.Kind() == reflect.Pointer {
		return refuse(at, fmt.Sprintf("an embedded pointer to an unexported type (%v) cannot be read back", f.Type))
	}
	_, opts, _ := strings.Cut(tag, ",")
	for opt := range strings.SplitSeq(opts, ",") {
		switch opt {
		case "", "omitempty":
		case "omitzero":
			// A method of the type decides what is left out.
			if f.Type != timeType && implements(f.Type, zeroer) {
				p.lossless = false
			}
		default:
			p.lossless = false
		}
	}
	return p.walk(f.Type, at, visits)
}
