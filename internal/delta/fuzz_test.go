package delta

import (
	"bytes"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// compact returns text as this package wants it, or false if it is not JSON.
func compact(text []byte) ([]byte, bool) {
	b, err := jsontext.AppendFormat(nil, text, jsontext.PreserveRawStrings(true))
	return b, err == nil
}

// FuzzDiffApply demands exactness of any two texts, and no panic of any two
// strings of bytes.
func FuzzDiffApply(f *testing.F) {
	for _, s := range [][2]string{
		{`{"n":1,"f":[{"a":"x"}],"z":null}`, `{"n":2,"f":[{"a":"y"},{"a":"x"}],"m":{},"z":null}`},
		{`{"a":1,"b":[1,2,3],"c":{"d":"\u0061"}}`, `{"b":[2,3,4],"a/~b":-0,"c":{"d":"a"}}`},
		{`[0,0,1,0,0,0]`, `[0,1,0,0,1,0,0]`},
		{`[[[1.0,1e21],"\\\""],"]}"]`, `[[[1.00,1e21],"\\"],"]}"]`},
		{`{"\/":1,"~":{"":2}}`, `{"\u002f":1,"\/x":3,"~":{"":3}}`},
		{`[1`, `{"a":[1}`},
		{`{"":0,"b":[0,2,3],"c":{"d":" "}}`, `{"b":[0,3}}`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if patch, ok := Diff(a, b); ok {
			Apply(a, patch)
		}
		old, ok1 := compact(a)
		new, ok2 := compact(b)
		if ok1 && ok2 {
			check(t, old, new)
			check(t, new, old)
		}
	})
}

// FuzzApply demands of any document and patch that there is no panic, and of a
// document that is JSON that it stays so, compact, and that a patch that is
// accepted leads to a text that Diff can lead to as well.
func FuzzApply(f *testing.F) {
	for _, s := range [][2]string{
		{`{"a":[1,2],"b":{"c":null}}`, `[{"op":"add","path":"/a/-","value":{"x":1}},{"op":"remove","path":"/b/c"}]`},
		{`{"a/b":1,"~1":2}`, `[{"op":"replace","path":"/a~1b","value":[ 1 ]},{"op":"remove","path":"/~01"}]`},
		{`[1,2,3]`, `[{"op":"remove","path":"/1"},{"op":"add","path":"/0","value":"x"},{"op":"replace","path":"","value":0}]`},
		{`{"a":1}`, `[{"op":"add","path":"/\u0062","value":2,"before":"a"},{"op":"test","path":"/a","value":1}]`},
		{`{"a":[{}`, `[{"op":"add","path":"/a/0/b","value":2}]`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		kept := slices.Clone(doc)
		Apply(doc, patch)
		if !bytes.Equal(doc, kept) {
			t.Fatal("Apply changed the document")
		}
		old, ok := compact(doc)
		if !ok {
			return
		}
		new, err := Apply(old, patch)
		if err != nil {
			return
		}
		if c, ok := compact(new); !ok || !bytes.Equal(c, new) {
			t.Fatalf("%s\npatch %s\ngives %s", old, patch, new)
		}
		check(t, old, new)
	})
}
