package value

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

type (
	inner     struct{ A int }
	embedding struct {
		inner
		Outer
		B int
	}
	Outer struct {
		D int `json:"d,omitempty"`
	}
	recursive struct {
		Next *recursive `json:"next,omitempty"`
		V    int        `json:"v"`
	}
	tagged struct {
		Renamed   string        `json:"renamed"`
		Empty     []string      `json:"empty,omitempty"`
		Zero      time.Time     `json:"zero,omitzero"`
		Ignored   chan int      `json:"-"`
		Quoted    int64         `json:"quoted,string"`
		Took      time.Duration `json:"took"`
		unwritten int
	}
	hexText   []byte                  // a []byte that encodes itself
	pointered struct{ secret string } // methods with pointer receivers
	colour    int                     // text methods, as a value and as a key
)

func (h hexText) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strings.Repeat("f", len(h)) + `"`), nil
}

func (h *hexText) UnmarshalJSON(b []byte) error {
	*h = make(hexText, len(b)-2)
	return nil
}

func (p *pointered) MarshalJSON() ([]byte, error) { return json.Marshal(p.secret) }
func (p *pointered) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.secret) }
func (c colour) MarshalText() ([]byte, error)     { return []byte("colour-" + string(rune('0'+c))), nil }

func (c *colour) UnmarshalText(b []byte) error {
	*c = colour(b[len(b)-1] - '0')
	return nil
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

var negativeZero = math.Copysign(0, -1)

// goTypes is the table of Go types of docs/values.md and more: what each is written as, and
// what comes back. Where back is nil, the value itself comes back.
var goTypes = []struct {
	name string
	v    any
	text string
	back any
}{
	{"bool", true, `true`, nil},
	{"int", -3, `-3`, nil},
	{"int64 min", int64(math.MinInt64), `-9223372036854775808`, nil},
	{"uint64 max", uint64(math.MaxUint64), `18446744073709551615`, nil},
	{"float64", 0.30000000000000004, `0.30000000000000004`, nil},
	{"float64 smallest", 5e-324, `5e-324`, nil},
	{"float64 large", 1e21, `1e+21`, nil},
	{"float64 -0", negativeZero, `-0`, nil},
	{"float32", float32(0.1), `0.1`, nil},
	{"string", "é <&>\t\x00", `"é <&>\t\u0000"`, nil},
	{"string with line separators", "\u0085\u2028\u2029\v\f\x1c", `"\u0085\u2028\u2029\u000b\f\u001c"`, nil},
	{"[]byte", []byte{0, 1, 255}, `"AAH/"`, nil},
	{"[]byte nil", []byte(nil), `null`, nil},
	{"[]byte empty", []byte{}, `""`, nil},
	{"[3]byte", [3]byte{1, 2, 3}, `[1,2,3]`, nil},
	{"slice nil", []int(nil), `null`, nil},
	{"slice empty", []int{}, `[]`, nil},
	{"slice of []byte", [][]byte{nil, {}, {7}}, `[null,"","Bw=="]`, nil},
	{"array", [2]string{"a", "b"}, `["a","b"]`, nil},
	{"map nil", map[string]int(nil), `null`, nil},
	{"map", map[string]int{"z": 1, "a": 2}, `{"a":2,"z":1}`, nil},
	{"map of int keys", map[int]string{10: "a", 2: "b"}, `{"10":"a","2":"b"}`, nil},
	{"map of text keys", map[colour]bool{3: true}, `{"colour-3":true}`, nil},
	{"set", map[string]struct{}{"b": {}, "a": {}}, `{"a":{},"b":{}}`, nil},
	{"pointer nil", (*int)(nil), `null`, nil},
	{"pointers", []*int{nil, new(int)}, `[null,0]`, nil},
	{"struct", inner{7}, `{"A":7}`, nil},
	{"struct with embedded ones", embedding{inner{1}, Outer{2}, 3}, `{"A":1,"d":2,"B":3}`, nil},
	{"struct, recursive", recursive{Next: &recursive{V: 2}}, `{"next":{"v":2},"v":0}`, nil},
	{"struct with tags", tagged{Renamed: "x", Quoted: 1 << 60, unwritten: 1}, `{"renamed":"x","quoted":"1152921504606846976","took":0}`, tagged{Renamed: "x", Quoted: 1 << 60}},
	{"time", at("2026-03-07T09:00:00.123456789-05:00"), `"2026-03-07T09:00:00.123456789-05:00"`, at("2026-03-07T09:00:00.123456789-05:00")},
	{"time zero", time.Time{}, `"0001-01-01T00:00:00Z"`, nil},
	{"duration", 90 * time.Second, `90000000000`, nil},
	{"json.Number", json.Number("12345678901234567890.5"), `12345678901234567890.5`, nil},
	{"json.Number empty", json.Number(""), `0`, json.Number("0")},
	{"raw JSON", json.RawMessage("{ \"a\":\t1,\n\"é\": \"\\u00e9\"}"), "{ \"a\":\t1,\n\"é\": \"\\u00e9\"}", nil},
	{"raw JSON nil", json.RawMessage(nil), `null`, json.RawMessage("null")},
	{"raw JSON inside", struct{ R json.RawMessage }{json.RawMessage(`{"b":1,"a":9007199254740993}`)}, `{"R":{"b":1,"a":9007199254740993}}`, nil},
	{"any nil", nil, `null`, nil},
	{
		"any",
		map[string]any{"id": int64(1)<<53 + 1, "f": 1.5, "n": nil, "l": []any{"x"}},
		`{"f":1.5,"id":9007199254740993,"l":["x"],"n":null}`,
		map[string]any{"id": json.Number("9007199254740993"), "f": json.Number("1.5"), "n": nil, "l": []any{"x"}},
	},
	{
		"any with huge numbers",
		[]any{json.Number("1e400"), uint64(math.MaxUint64), negativeZero},
		`[1e400,18446744073709551615,-0]`,
		[]any{json.Number("1e400"), json.Number("18446744073709551615"), json.Number("-0")},
	},
	{"methods", netip.MustParseAddr("10.0.0.1"), `"10.0.0.1"`, nil},
	{"methods of a []byte", hexText{0, 0}, `"ff"`, nil},
	{"methods of a pointer", pointered{"s"}, `"s"`, nil},
	{"methods of a pointer, inside", struct{ P []pointered }{[]pointered{{"s"}}}, `{"P":["s"]}`, nil},
	{"big.Int", struct{ N big.Int }{*big.NewInt(5)}, `{"N":5}`, nil},
	{"struct empty", struct{}{}, `{}`, nil},
}

func TestGoTypes(t *testing.T) {
	for _, tt := range goTypes {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Encode(tt.v)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != tt.text {
				t.Errorf("written as %s, want %s", text, tt.text)
			}
			if tt.v == nil {
				return
			}
			p := reflect.New(reflect.TypeOf(tt.v))
			if err := Decode(text, p.Interface(), false); err != nil {
				t.Fatal(err)
			}
			want := tt.back
			if want == nil {
				want = tt.v
			}
			if tm, ok := want.(time.Time); ok {
				same(t, p.Elem().Interface().(time.Time).Format(time.RFC3339Nano), tm.Format(time.RFC3339Nano))
			} else {
				same(t, p.Elem().Interface(), want)
			}
			again, err := Encode(p.Elem().Interface())
			if err != nil || !bytes.Equal(again, text) {
				t.Errorf("written again as %s (%v), want %s", again, err, text)
			}
		})
	}
}

// What encoding/json writes for the values it can write is what Encode writes,
// except that HTML characters are not escaped.
func TestEncodeAsEncodingJSON(t *testing.T) {
	for _, v := range []any{
		embedding{inner{1}, Outer{0}, 3},
		map[string]any{"b": []any{1, 2.5, "x", nil, true}, "a": map[string]int{}},
		struct {
			A []int          `json:",omitempty"`
			B map[string]int `json:"b"`
			C *int
			D time.Duration
		}{},
		[]time.Time{at("2026-03-07T09:00:00.5Z")},
	} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Encode(v); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%#v is written as %s (%v), want %s", v, got, err, want)
		}
	}
}

// The same value gives the same bytes, whatever order a map walks in.
func TestEncodeDeterministic(t *testing.T) {
	m := map[string]map[int]bool{}
	for i := range 100 {
		m[strings.Repeat("k", i%7)+string(rune('A'+i%26))] = map[int]bool{i: true, -i: false}
	}
	first, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _ := Encode(m); !bytes.Equal(first, again) {
			t.Fatal("two encodings differ")
		}
	}
}

func TestDecodeLeavesTargetUntouched(t *testing.T) {
	type state struct {
		Done   map[string]bool `json:"done"`
		Cursor int             `json:"cursor"`
		Items  []string        `json:"items"`
	}
	before := func() state { return state{map[string]bool{"old": true}, 5, []string{"old"}} }
	for _, text := range []string{
		`{"done":{"z":true},"cursor":"7","items":["k"]}`, // wrong type behind good ones
		`{"done":{"z":true},"items":["k"],"more":1}`,     // unknown member
		`{"done":{"z":true},"items":["k"]`,               // cut off
		`{"done":{"z":true},"done":{}}`,                  // duplicate
		``,
	} {
		got := before()
		if err := Decode([]byte(text), &got, false); err == nil {
			t.Errorf("%s: no error", text)
		}
		same(t, got, before())
	}
	// And a good text replaces the value: nothing of the old one is merged in.
	got := before()
	if err := Decode([]byte(`{"done":{"z":true}}`), &got, false); err != nil {
		t.Fatal(err)
	}
	same(t, got, state{Done: map[string]bool{"z": true}})

	if err := Decode([]byte(`1`), nil, false); err == nil {
		t.Error("decoding into nil works")
	}
	if err := Decode([]byte(`1`), 5, false); err == nil {
		t.Error("decoding into a value works")
	}
}

func TestDecodeUnknownMembers(t *testing.T) {
	type state struct{ A int }
	var s state
	text := []byte(`{"A":1,"b":{"c":2}}`)
	if err := Decode(text, &s, false); err == nil || !strings.Contains(err.Error(), "$.b: unknown member") {
		t.Errorf("unknown member: %v", err)
	}
	if err := Decode(text, &s, true); err != nil || s.A != 1 {
		t.Errorf("allowed unknown member: %v, %+v", err, s)
	}
	// Names are compared exactly.
	if err := Decode([]byte(`{"a":1}`), &s, false); err == nil {
		t.Error("a member of another case was accepted")
	}
}

func TestMissing(t *testing.T) {
	type state struct {
		Pos   int      `json:"pos"`
		Notes []string `json:"notes"`
		Opt   string   `json:"opt,omitempty"`
	}
	same(t, Missing([]byte(`{"cursor":3,"notes":["x"]}`), reflect.TypeFor[state]()), []string{"pos"})
	same(t, Missing([]byte(`{"cursor":3}`), reflect.TypeFor[map[string]int]()), []string(nil))
	same(t, Missing([]byte(`[1]`), reflect.TypeFor[state]()), []string(nil))
}
