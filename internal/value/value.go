// Package value turns Go values into the JSON text that pawl stores, and back.
//
// The text is what encoding/json writes (nil slices as null, omitempty, durations
// as nanoseconds, case of names), read and written strictly: no duplicate names,
// valid UTF-8, case-sensitive names, no unknown members, deterministic member
// order, bounded depth, exact numbers. What Encode accepts, Decode gives back so
// that it encodes to the same text; everything else is refused by Encode with
// the place, as in "$.agree: NaN".
package value

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var (
	base = json.JoinOptions(
		jsonv1.DefaultOptionsV1(),
		jsonv1.ReportErrorsWithLegacySemantics(false),
		jsonv1.MergeWithLegacySemantics(false),
		jsonv1.UnmarshalArrayFromAnyLength(false),
		jsontext.AllowDuplicateNames(false),
		jsontext.AllowInvalidUTF8(false),
		json.MatchCaseInsensitiveNames(false),
	)
	encoding = json.JoinOptions(base, json.Deterministic(true), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(true))
	decoding = json.JoinOptions(base, json.RejectUnknownMembers(true))

	// Only types that can hold an untyped number pay for these functions: they
	// switch off fast paths of the JSON package.
	exactEncoding = json.JoinOptions(encoding, json.WithMarshalers(json.MarshalToFunc(marshalNumber)))
	exactDecoding = json.JoinOptions(decoding, json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(unmarshalNumber), json.UnmarshalFromFunc(unmarshalAny))))
	lenient = json.RejectUnknownMembers(false)
)

// marshalNumber writes a json.Number of encoding/json as the number it spells.
func marshalNumber(enc *jsontext.Encoder, n stdjson.Number) error {
	text := string(n)
	if text == "" {
		text = "0" // as encoding/json does
	}
	v := jsontext.Value(text)
	if v.Kind() != '0' || !v.IsValid() || strings.TrimSpace(text) != text {
		return errors.New("json.Number does not hold a number")
	}
	return enc.WriteValue(v)
}

// unmarshalNumber reads numbers and null only: a json.Number that came from a
// JSON string would be refused when it is saved again.
func unmarshalNumber(dec *jsontext.Decoder, n *stdjson.Number) error {
	switch dec.PeekKind() {
	case 'n':
		return dec.SkipValue()
	case '"':
		return errors.New("a string does not fit a Go json.Number")
	case '0':
		v, err := dec.ReadValue()
		*n = stdjson.Number(v)
		return err
	}
	return errors.ErrUnsupported
}

// unmarshalAny keeps the digits of numbers in untyped values: float64 would
// change every integer above 2^53.
func unmarshalAny(dec *jsontext.Decoder, p *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	v, err := dec.ReadValue()
	*p = stdjson.Number(v)
	return err
}

// Encode returns the JSON text of v. The text is compact and holds no raw
// U+0085, U+2028 or U+2029, unless v is raw JSON (see [IsRaw]), which passes
// byte for byte.
func Encode(v any) ([]byte, error) {
	p, err := planOf(reflect.TypeOf(v))
	if err != nil {
		return nil, err
	}
	if p.raw {
		return encodeRaw(v)
	}
	opts := encoding
	if p.untyped {
		opts = exactEncoding
	}
	from := v
	if p.pointerMethods {
		from = pointerTo(v)
	}
	text, err := p.marshal(from, opts)
	if err != nil {
		return nil, encodeError(err)
	}
	text = escapeNEL(text)
	if err := checkSize(len(text)); err != nil {
		return nil, err
	}
	if p.deep {
		if err := CheckDepth(text); err != nil {
			return nil, err
		}
	}
	if !p.lossless {
		if err := checkRoundTrip(v, text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// limit is the longest text that is accepted, in bytes: what spec/journal-v1.md asks every
// reader to read. Tests lower it.
var limit = 1 << 30

func checkSize(n int) error {
	if n > limit {
		return refuse("$", fmt.Sprintf("%d bytes of JSON; the limit is %d", n, limit))
	}
	return nil
}

// pointerTo copies v to where its address can be taken, so that methods with
// pointer receivers are called as they are on decoding.
func pointerTo(v any) any {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p.Interface()
}

// encodeRaw checks raw JSON and returns its bytes as they are.
func encodeRaw(v any) ([]byte, error) {
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return []byte("null"), nil
		}
		rv = rv.Elem()
	}
	if rv.IsNil() {
		return []byte("null"), nil
	}
	if err := checkSize(rv.Len()); err != nil {
		return nil, err
	}
	text := bytes.Clone(rv.Bytes())
	if err := Valid(text); err != nil {
		return nil, err
	}
	return text, nil
}

// escapeNEL escapes U+0085, which some readers take for a line end and the JSON
// package leaves alone. Its bytes can stand only inside strings.
func escapeNEL(text []byte) []byte {
	nel := []byte("\u0085")
	if !bytes.Contains(text, nel) {
		return text
	}
	return bytes.ReplaceAll(text, nel, []byte(`\u0085`))
}

// checkRoundTrip decodes text and encodes that again: types with methods of
// their own may write what they cannot read.
func checkRoundTrip(v any, text []byte) error {
	p := reflect.New(reflect.TypeOf(v))
	if err := decode(text, p.Interface(), false); err != nil {
		var e *Error
		if errors.As(err, &e) {
			return &Error{Path: e.Path, Offset: -1, Reason: "cannot be read back: " + e.Reason, Cause: e.Cause}
		}
		return err
	}
	again, err := json.Marshal(p.Interface(), exactEncoding)
	if err != nil {
		return encodeError(err)
	}
	if !bytes.Equal(escapeNEL(again), text) {
		return refuse("$", fmt.Sprintf("a %T changes when it is written and read back", v))
	}
	return nil
}

// Decode reads text into p, which must be a non-nil pointer. Unknown members are
// refused unless allowUnknown. On an error *p is unchanged.
func Decode(text []byte, p any, allowUnknown bool) error {
	rv := reflect.ValueOf(p)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return refuse("$", fmt.Sprintf("cannot decode into a %T, need a non-nil pointer", p))
	}
	if rv.Elem().IsZero() {
		// There is nothing that a failure could spoil.
		err := decode(text, p, allowUnknown)
		if err != nil {
			rv.Elem().SetZero()
		}
		return err
	}
	fresh := reflect.New(rv.Type().Elem())
	if err := decode(text, fresh.Interface(), allowUnknown); err != nil {
		return err
	}
	rv.Elem().Set(fresh.Elem())
	return nil
}

func decode(text []byte, p any, allowUnknown bool) error {
	t := reflect.TypeOf(p).Elem()
	pl, err := planOf(t)
	if err != nil {
		return err
	}
	if pl.raw && t.Kind() == reflect.Slice {
		if err := Valid(text); err != nil {
			return err
		}
		reflect.ValueOf(p).Elem().SetBytes(bytes.Clone(text))
		return nil
	}
	opts := decoding
	if pl.untyped {
		opts = exactDecoding
	}
	if allowUnknown {
		opts = json.JoinOptions(opts, lenient)
	}
	if err := json.Unmarshal(text, p, opts); err != nil {
		return Explain(text, err)
	}
	return nil
}
