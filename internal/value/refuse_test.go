package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type (
	writeOnly     struct{}
	textWriteOnly struct{}
	unstable      struct{ n int }
	fickle        int
	hidden        struct{ D int }
	cycle         struct{ P *cycle }
)

func (writeOnly) MarshalJSON() ([]byte, error)     { return []byte(`1`), nil }
func (textWriteOnly) MarshalText() ([]byte, error) { return []byte(`x`), nil }
func (u unstable) MarshalJSON() ([]byte, error)    { return fmt.Append(nil, u.n+1), nil }
func (u *unstable) UnmarshalJSON(b []byte) error   { return json.Unmarshal(b, &u.n) }
func (f fickle) IsZero() bool                      { return f == 5 }

// What cannot be stored, or would come back as something else, is refused when
// it is saved, and the message says where it stands.
func TestEncodeRefuses(t *testing.T) {
	loop := &cycle{}
	loop.P = loop
	loopMap := map[string]any{}
	loopMap["m"] = loopMap
	for _, tt := range []struct {
		name string
		v    any
		want string // beginning of the message
	}{
		{"NaN", struct {
			Acc   float64 `json:"acc"`
			Agree float64 `json:"agree"`
		}{0.5, math.NaN()}, "$.agree: NaN"},
		{"NaN in any", map[string]any{"agree": math.NaN()}, "$.agree: NaN"},
		{"+Inf", map[string]float64{"gain": math.Inf(1)}, "$.gain: +Inf"},
		{"-Inf", []float32{0, float32(math.Inf(-1))}, "$[1]: -Inf"},
		{"invalid UTF-8", map[string]any{"a": []string{"x", "a\xffb\xc3"}}, "$.a[1]: invalid UTF-8"},
		{"invalid UTF-8 in a key", map[string]int{"\xff": 1}, "$: invalid UTF-8"},
		{"channel", struct{ C chan int }{}, "$.C: a Go chan int cannot be stored"},
		{"func", func() {}, "$: a Go func() cannot be stored"},
		{"func in any", map[string]any{"f": func() {}}, "$.f: a func() cannot be stored"},
		{"complex", []complex128{1}, "$[]: a Go complex128 cannot be stored"},
		{"error", errors.New("x"), "$: *errors.errorString is an error"},
		{"error field", struct{ E error }{}, "$.E: error is an error"},
		{"interface", struct{ S fmt.Stringer }{}, "$.S: an interface type (fmt.Stringer)"},
		{"interface with methods for JSON", []json.Marshaler{}, "$[]: an interface type (json.Marshaler)"},
		{"bool key", map[bool]int{}, "${key}: a Go bool cannot be a key"},
		{"array key", map[string]map[[2]int]int{}, "${}{key}: a Go [2]int cannot be a key"},
		{"untyped key", map[any]int{1: 1}, "${key}: a Go interface {} cannot be a key"},
		{"JSON written, never read", writeOnly{}, "$: value.writeOnly has a method to write JSON and none to read it"},
		{"text written, never read", textWriteOnly{}, "$: value.textWriteOnly has a method to write text and none to read it"},
		{"read back as something else", unstable{1}, "$: a value.unstable changes when it is written and read back"},
		{"left out and not zero", struct {
			F fickle `json:",omitzero"`
		}{5}, "$: a struct"},
		{"embedded pointer to an unexported type", struct{ *hidden }{}, "$.hidden: an embedded pointer to an unexported type"},
		{"no exported fields", struct{ a int }{1}, "$: Go struct has no exported fields"},
		{"json.Number", json.Number("abc"), "$: json.Number does not hold a number"},
		{"json.Number with space", []json.Number{" 1"}, "$[0]: json.Number does not hold a number"},
		{"json.Number NaN", json.Number("NaN"), "$: json.Number does not hold a number"},
		{"time before year 0", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), "$: year outside of range"},
		{"raw JSON, not JSON", json.RawMessage(`{"a":}`), "$.a: "},
		{"raw JSON, two values", json.RawMessage(`1 2`), "$: more data after the value (byte 2)"},
		{"raw JSON, empty", json.RawMessage{}, "$: there is no JSON value"},
		{"raw JSON, duplicate", json.RawMessage(`{"x":{"a":1,"a":2}}`), "$.x.a: duplicate member (byte 12)"},
		{"raw JSON, half a pair", json.RawMessage(`"half \ud83d pair"`), "$: half of a surrogate pair"},
		{"raw JSON, NaN", json.RawMessage(`[1,NaN]`), "$[1]: NaN, which JSON does not have (byte 3)"},
		{"raw JSON inside", map[string]json.RawMessage{"r": json.RawMessage(`{`)}, "$.r: "},
		{"cycle of pointers", loop, "$.P.P"},
		{"cycle of maps", loopMap, "$.m.m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Encode(tt.v)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("accepted as %.100s (%v)", text, err)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("message is %q, want it to begin with %q", err, tt.want)
			}
			if len(e.Error()) > 500 {
				t.Errorf("the message is %d bytes long", len(e.Error()))
			}
		})
	}
}

type (
	picky       struct{ n int } // whose zero value is not one to be stored
	onlyReads   struct{ _ int }
	notAStruct  int
	NotAStruct  int
	embedsOther struct{ NotAStruct }
)

func (p picky) MarshalJSON() ([]byte, error) {
	if p.n == 0 {
		return nil, errors.New("not made by its constructor")
	}
	return json.Marshal(p.n)
}
func (p *picky) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.n) }
func (*onlyReads) UnmarshalJSON([]byte) error { return nil }

// TestCheckRefusesTypes: what no value of a type can be stored for is said before there is a
// value, however deep it stands; what only the zero value lacks is not.
func TestCheckRefusesTypes(t *testing.T) {
	for _, tt := range []struct {
		typ  reflect.Type
		want string // beginning of the message, "" if the type is fine
	}{
		{reflect.TypeFor[struct {
			//lint:ignore SA5008 it is what the test is about
			L []int `json:",string"`
		}](), "$.L: invalid use of `string`"},
		{reflect.TypeFor[map[string][]struct {
			//lint:ignore SA5008 it is what the test is about
			P *[]int `json:"p,string"`
		}](), "${}[].P: invalid use of `string`"},
		{reflect.TypeFor[struct{ Mu sync.Mutex }](), "$.Mu: Go struct has no exported fields"},
		{reflect.TypeFor[[]*struct{ In []sync.Mutex }](), "$[].In[]: Go struct has no exported fields"},
		{reflect.StructOf([]reflect.StructField{ // vet would see it
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		}), "$: Go struct fields A and B conflict over JSON object name"},
		{reflect.TypeFor[struct {
			T time.Time `json:"t,format:RFC3339"`
		}](), "$: Go struct field T has unsupported `format` tag option"},
		{reflect.TypeFor[embedsOther](), "$: embedded Go struct field NotAStruct of non-struct type"},
		{reflect.TypeFor[map[string]struct{ notAStruct }](), "${}: "},
		{reflect.TypeFor[onlyReads](), "$: Go struct has no exported fields"},
		{reflect.TypeFor[struct {
			P picky
			//lint:ignore SA5008 it is what the test is about
			L []int `json:",string"`
		}](), "$.L: invalid use of `string`"},

		{reflect.TypeFor[struct {
			P picky
			//lint:ignore SA5008 it is what the test is about
			Q picky `json:",string"`
		}](), ""},
		{reflect.TypeFor[struct {
			N int64    `json:",string"`
			F *float64 `json:",string"`
		}](), ""},
		{reflect.TypeFor[struct{}](), ""},
		{reflect.TypeFor[recursive](), ""},
		{reflect.TypeFor[embedding](), ""},
		{reflect.TypeFor[tagged](), ""},
	} {
		for range 2 { // looked up the second time
			err := Check(tt.typ)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v: %v, want %q", tt.typ, err, tt.want)
			}
		}
	}
	if _, err := Encode(struct{ P picky }{picky{7}}); err != nil {
		t.Errorf("a value of a type whose zero value cannot be stored: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		text string
		p    any
		want string
	}{
		{`{"a":1,"a":2}`, new(map[string]int), "$.a: duplicate member (byte 7)"},
		{`{"a":1,"a":2}`, new(any), "$.a: duplicate member (byte 7)"},
		{`{"a":1,"\u0061":2}`, new(json.RawMessage), "$.a: duplicate member (byte 7)"},
		{`{"a":[1,NaN]}`, new(any), "$.a[1]: NaN, which JSON does not have (byte 8)"},
		{`{"a":Infinity}`, new(any), "$.a: Infinity, which JSON does not have (byte 5)"},
		{`{"a":-Infinity}`, new(any), "$.a: -Infinity, which JSON does not have (byte 5)"},
		{`"\ud83d"`, new(string), "$: half of a surrogate pair"},
		{"\"a\xff\"", new(string), "$: invalid UTF-8 (byte 2)"},
		{`{"cursor":"7"}`, new(struct {
			Cursor int `json:"cursor"`
		}), "$.cursor: a string does not fit a Go int"},
		{`{"x":{"y":[{"q":2},{"r":2}]}}`, new(struct {
			X struct{ Y []struct{ Q int } }
		}), "$.x: unknown member"},
		{`[{"q":2},{"r":2}]`, new([]struct {
			Q int `json:"q"`
		}), "$[1].r: unknown member"},
		{`99999`, new(int8), "$: a number does not fit a Go int8"},
		{`1.101769e+06`, new(int), "$: a number does not fit a Go int"},
		{`[1,2,3]`, new([2]int), "$: an array does not fit a Go [2]int"},
		{`[1]`, new([2]int), "$: an array does not fit a Go [2]int"},
		{`"sk-test-0000"`, new(time.Time), "$: a string does not fit a Go time.Time"},
		{`"sk-test-0000"`, new([]byte), "$: a string does not fit a Go []uint8"},
		{`"5"`, new(json.Number), "$: a string does not fit a Go json.Number"},
		{`{"a":"x"}`, new(map[string]json.Number), "$.a: a string does not fit a Go json.Number"},
		{`true`, new(map[string]int), "$: a boolean does not fit"},
		{`1 x`, new(any), "$: invalid character 'x' after top-level value (byte 2)"},
		{`{"a":"b`, new(any), "$.a: cut off (byte 7)"},
		{`{ `, new(json.RawMessage), "$: cut off (byte 2)"},
		{`1`, new(chan int), "$: a Go chan int cannot be stored"},
		{`1`, new(fmt.Stringer), "$: an interface type"},
	} {
		err := Decode([]byte(tt.text), tt.p, false)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s into %T: %v, want %q", tt.text, tt.p, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "sk-test") {
			t.Errorf("the message %q has contents of the value", err)
		}
		if !reflect.ValueOf(tt.p).Elem().IsZero() {
			t.Errorf("%s into %T: the target holds %v", tt.text, tt.p, reflect.ValueOf(tt.p).Elem())
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int, open, in, end string) string {
		return strings.Repeat(open, n) + in + strings.Repeat(end, n)
	}
	for _, tt := range []struct {
		name, text string
		ok         bool
	}{
		{"arrays at the limit", nest(MaxDepth, "[", "", "]"), true},
		{"arrays beyond", nest(MaxDepth+1, "[", "", "]"), false},
		{"objects at the limit", nest(MaxDepth, `{"a":`, "1", "}"), true},
		{"objects beyond", nest(MaxDepth+1, `{"a":`, "1", "}"), false},
		{"brackets in strings", `"` + strings.Repeat(`[\"{`, 2*MaxDepth) + `"`, true},
		{"beyond what the JSON package reads", nest(20000, "[", "", "]"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Encode(json.RawMessage(tt.text))
			if (err == nil) != tt.ok {
				t.Fatalf("raw: %v", err)
			}
			if err := Valid([]byte(tt.text)); (err == nil) != tt.ok {
				t.Fatalf("valid: %v", err)
			}
			if !tt.ok && !strings.Contains(err.Error(), "nested deeper than 500 levels") {
				t.Errorf("message: %v", err)
			}
		})
	}

	var chain *recursive
	for range MaxDepth {
		chain = &recursive{Next: chain}
	}
	if _, err := Encode(chain); err != nil {
		t.Errorf("%d structs: %v", MaxDepth, err)
	}
	_, err := Encode(&recursive{Next: chain})
	if err == nil || !strings.Contains(err.Error(), "nested deeper than 500 levels") || !strings.HasPrefix(err.Error(), "$.next.next") {
		t.Errorf("%d structs: %v", MaxDepth+1, err)
	}
	var tree any = 1
	for range MaxDepth + 1 {
		tree = []any{tree}
	}
	if _, err := Encode(tree); err == nil {
		t.Errorf("%d slices in any are accepted", MaxDepth+1)
	}
}

func TestFingerprint(t *testing.T) {
	of := func(v any) Fingerprint {
		t.Helper()
		f, err := FingerprintOf(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := of(struct{ B, A int }{1, 2})
	if b := of(map[string]int{"A": 2, "B": 1}); a.Digest != b.Digest {
		t.Error("the order of members changes the fingerprint")
	}
	if b := of(json.RawMessage("{ \"B\": 1,\n\"A\": 2 }")); a.Digest != b.Digest || string(b.Text) != `{"A":2,"B":1}` {
		t.Errorf("white space changes the fingerprint: %s", b.Text)
	}
	if of(json.RawMessage(`"\u00e9\u0085"`)).Digest != of("é\u0085").Digest {
		t.Error("escapes change the fingerprint")
	}
	if of(int64(1)<<53).Digest == of(int64(1)<<53+1).Digest {
		t.Error("2^53 and 2^53+1 have one fingerprint")
	}
	if len(a.Digest) != 32 {
		t.Errorf("the digest has %d digits", len(a.Digest))
	}
	if f := of(strings.Repeat("a", CanonicalLimit-2)); len(f.Text) != CanonicalLimit {
		t.Error("no text at the limit")
	}
	if f := of(strings.Repeat("a", CanonicalLimit-1)); f.Text != nil {
		t.Error("text above the limit")
	}
	if _, err := FingerprintOf(math.NaN(), nil); err == nil {
		t.Error("NaN has a fingerprint")
	}
}
