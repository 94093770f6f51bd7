package value

import (
	"reflect"
	"testing"
)

// TestDecodeFailure: what could not be read leaves the target as it was, zero or not.
func TestDecodeFailure(t *testing.T) {
	type inner struct{ A, B []int }
	type outer struct {
		Name string
		In   inner
		Any  any
	}
	text := []byte(`{"Name":"new","In":{"A":[1],"B":[2,"x"]},"Any":3}`)
	for _, was := range []outer{{}, {Name: "old", In: inner{A: []int{7}}}} {
		got := was
		if err := Decode(text, &got, false); err == nil {
			t.Fatal("no error")
		}
		if !reflect.DeepEqual(got, was) {
			t.Errorf("%+v became %+v", was, got)
		}
	}
}
