package shape_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/shape"
)

type approval struct {
	Approved bool            `json:"approved"`
	Reason   string          `json:"reason,omitempty"`
	Edited   json.RawMessage `json:"edited,omitempty"`
}

type tree struct {
	Name string
	Kids []tree
}

type embedded struct {
	approval
	Base  `json:"base"`
	Count uint
	At    time.Time
	Limit *int
}

type Base struct{ X int }

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		v    any
		text string
		why  string // "" if it fits
	}{
		{true, `true`, ""},
		{true, `"true"`, "$: a string, and it must be a boolean"},
		{true, `null`, "$: null, and it must be a boolean"},
		{1, `12345678901234567890`, ""},
		{1, `1.5`, "$: a number, and it must be an integer"},
		{uint(1), `-1`, "$: less than 0"},
		{1.5, `1`, ""},
		{"", `1`, "$: an integer, and it must be a string"},
		{time.Second, `1000`, ""},
		{[]string{}, `["a", 1]`, "$[1]: an integer, and it must be a string"},
		{[]string{}, `null`, ""},
		{[2]int{}, `[1,2,3]`, "$: 3 elements, at most 2 are taken"},
		{map[string]int{}, `{"a":1,"b":"x"}`, "$.b: a string, and it must be an integer"},
		{[]byte{}, `"AAA="`, ""},
		{approval{}, `{"approved":true}`, ""},
		{approval{}, `{"approved":true,"reason":"fine","edited":{"any":[1]}}`, ""},
		{approval{}, `{}`, `$: the member "approved" is missing`},
		{approval{}, `{"Approved":true}`, `$: the member "approved" is missing`},
		{approval{}, `{"approved":true,"by":"x"}`, `$: there is no member "by"`},
		{tree{}, `{"Name":"a","Kids":[{"Name":"b","Kids":null},{"Name":1}]}`, "$.Kids[1].Name: an integer, and it must be a string"},
		{&tree{}, `null`, ""},
		{embedded{}, `{"base":{"X":1},"Count":1,"At":"2026-12-01T00:00:00Z"}`, ""},
		{embedded{}, `{"base":{"X":1},"Count":1,"At":"2026-12-01T00:00:00Z","Limit":"1"}`, "$.Limit: a string, and it must be an integer"},
		{embedded{}, `{"base":{"Y":1},"Count":1,"At":""}`, `$.base: the member "X" is missing`},
		{embedded{}, `{"base":{"X":1},"Count":1,"At":"","X":1}`, `$: there is no member "X"`},
		{json.RawMessage{}, `[1,"x"]`, ""},
		{json.Number(""), `1e3`, ""},
		{new(any), `{"x":1}`, ""},
		{true, `true false`, "$: more than one JSON value"},
	} {
		err := shape.Check(shape.Of(reflect.TypeOf(tt.v)), []byte(tt.text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.why {
			t.Errorf("%T %s: %q, want %q (%s)", tt.v, tt.text, got, tt.why, shape.Of(reflect.TypeOf(tt.v)))
		}
	}
}

// Whatever Go writes of a value has the value's shape.
func TestOwnEncodingFits(t *testing.T) {
	limit := 3
	for _, v := range []any{
		true, 1, "x", []int(nil),
		map[string][]bool{"a": {true}},
		approval{},
		tree{"a", []tree{{Name: "b"}}},
		embedded{Limit: &limit},
		[3]float64{},
		struct{ A any }{1},
		time.Time{},
		[]byte{1},
		struct {
			N int `json:",string"`
		}{7},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := shape.Check(shape.Of(reflect.TypeOf(v)), text); err != nil {
			t.Errorf("%T: %s: %v\n%s", v, text, err, shape.Of(reflect.TypeOf(v)))
		}
	}
}

// A shape of somebody else's making, or of a later version, refuses nothing by mistake.
func TestUnknownShapes(t *testing.T) {
	for _, s := range []string{"", "{}", "nonsense", `{"oneOf":[{"type":"string"}]}`} {
		if err := shape.Check([]byte(s), []byte(`1`)); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}
