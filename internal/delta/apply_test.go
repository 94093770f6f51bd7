package delta

import (
	"errors"
	"strings"
	"testing"
)

// TestAppendixA has the examples of RFC 6902, appendix A, in compact form. The
// results are in this package's order of members.
func TestAppendixA(t *testing.T) {
	tests := []struct{ name, doc, patch, want string }{
		{
			"A.1 add an object member", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux"}]`,
			`{"foo":"bar","baz":"qux"}`,
		},
		{
			"A.2 add an array element", `{"foo":["bar","baz"]}`, `[{"op":"add","path":"/foo/1","value":"qux"}]`,
			`{"foo":["bar","qux","baz"]}`,
		},
		{"A.3 remove an object member", `{"baz":"qux","foo":"bar"}`, `[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`},
		{
			"A.4 remove an array element", `{"foo":["bar","qux","baz"]}`, `[{"op":"remove","path":"/foo/1"}]`,
			`{"foo":["bar","baz"]}`,
		},
		{
			"A.5 replace a value", `{"baz":"qux","foo":"bar"}`, `[{"op":"replace","path":"/baz","value":"boo"}]`,
			`{"baz":"boo","foo":"bar"}`,
		},
		{
			"A.10 add a nested object", `{"foo":"bar"}`, `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`,
			`{"foo":"bar","child":{"grandchild":{}}}`,
		},
		{
			"A.11 unrecognized members", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`,
			`{"foo":"bar","baz":"qux"}`,
		},
		{"A.12 a target that does not exist", `{"foo":"bar"}`, `[{"op":"add","path":"/baz/bat","value":"qux"}]`, ``},
		{"A.13 an invalid patch", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","op":"remove"}]`, ``},
		{
			"A.14 escapes, with replace for test", `{"/":9,"~1":10}`, `[{"op":"replace","path":"/~01","value":11}]`,
			`{"/":9,"~1":11}`,
		},
		{
			"A.16 add an array", `{"foo":["bar"]}`, `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`,
			`{"foo":["bar",["abc","def"]]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Apply([]byte(tt.doc), []byte(tt.patch))
			if string(got) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%s, error %v", got, err)
			}
		})
	}
}

func TestApply(t *testing.T) {
	tests := []struct{ name, doc, patch, want string }{
		{"nothing", `{"a":1}`, `[]`, `{"a":1}`},
		{
			"in turn", `{"a":1}`, `[{"op":"add","path":"/b","value":[]},{"op":"add","path":"/b/-","value":2},{"op":"remove","path":"/a"}]`,
			`{"b":[2]}`,
		},
		{"the root", `{"a":1}`, `[{"op":"add","path":"","value":[1]},{"op":"replace","path":"/0","value":2}]`, `[2]`},
		{"a scalar root", `1`, `[{"op":"replace","path":"","value":2}]`, `2`},
		{"add where it exists", `{"a":1,"b":2}`, `[{"op":"add","path":"/a","value":3,"before":"none"}]`, `{"a":3,"b":2}`},
		{
			"before", `{"a":1,"c":2}`, `[{"op":"add","path":"/b","value":3,"before":"c"},{"op":"add","path":"/0","value":0,"before":"a"}]`,
			`{"0":0,"a":1,"b":3,"c":2}`,
		},
		{
			"before a name spelled otherwise", `{"a":1,"\u0063":2}`, `[{"op":"add","path":"/b","value":3,"before":"\u0063"}]`,
			`{"a":1,"b":3,"\u0063":2}`,
		},
		{"before, in an array", `[1]`, `[{"op":"add","path":"/0","value":0,"before":7}]`, `[0,1]`},
		{"at the end by index", `[1,2]`, `[{"op":"add","path":"/2","value":3}]`, `[1,2,3]`},
		{"append, then elsewhere", `{"a":[1,2]}`, `[{"op":"add","path":"/a/-","value":3},{"op":"remove","path":"/a/0"},
			{"op":"add","path":"/a/-","value":4},{"op":"replace","path":"/a/1","value":5}]`, `{"a":[2,5,4]}`},
		{"empty a container and fill it", `{"a":[1],"b":{"c":2}}`, `[{"op":"remove","path":"/a/0"},{"op":"remove","path":"/b/c"},
			{"op":"add","path":"/a/0","value":{}},{"op":"add","path":"/b/d","value":[]}]`, `{"a":[{}],"b":{"d":[]}}`},
		{
			"into what was added", `{}`, `[{"op":"add","path":"/a","value":{"b":{"c":[]}}},{"op":"add","path":"/a/b/c/-","value":1}]`,
			`{"a":{"b":{"c":[1]}}}`,
		},
		{
			"replace what was entered", `{"a":{"b":1}}`, `[{"op":"replace","path":"/a/b","value":2},{"op":"replace","path":"/a","value":3}]`,
			`{"a":3}`,
		},
		{
			"whitespace", `{"a":1}`, " [ {\n\"op\" : \"add\", \"path\":\"/b\" , \"value\" : { \"x\" : [ 1 , \" \" ] } } ] \n",
			`{"a":1,"b":{"x":[1," "]}}`,
		},
		{"escapes in the patch's own names and words", `{"a":1}`, `[{"\u006fp":"\u0061dd","p\u0061th":"\/b","value":2}]`, `{"a":1,"b":2}`},
		{
			"tokens stay", `[0]`, `[{"op":"add","path":"/-","value":[9007199254740993,1.0,1e21,-0,"\u0061\/\u2028<"]}]`,
			`[0,[9007199254740993,1.0,1e21,-0,"\u0061\/\u2028<"]]`,
		},
		{"names stay", `{}`, `[{"op":"add","path":"/\u0061~1\u00e9~0é","value":1}]`, `{"\u0061/\u00e9~é":1}`},
		{
			"escaped pointer characters", `{"a/b":{"~1":[1,2]}}`, `[{"op":"remove","path":"\u002fa\u007e\u0031b/\u007e01/\u0030"}]`,
			`{"a/b":{"~1":[2]}}`,
		},
		{
			"names with quotes and backslashes", `{"\"":1,"\\":2,"a\"":3,"a":4}`,
			`[{"op":"replace","path":"/\"","value":5},{"op":"replace","path":"/\\","value":6},{"op":"replace","path":"/a\"","value":7}]`,
			`{"\"":5,"\\":6,"a\"":7,"a":4}`,
		},
		{"the empty name", `{"":{"":1}}`, `[{"op":"replace","path":"//","value":2}]`, `{"":{"":2}}`},
		{"digits as a name", `{"01":1}`, `[{"op":"replace","path":"/01","value":2},{"op":"add","path":"/-","value":3}]`, `{"01":2,"-":3}`},
		{
			"sorted names", `{"a":1,"b":2,"c":3}`, `[{"op":"replace","path":"/b","value":4},{"op":"add","path":"/aa","value":5,"before":"b"},
			{"op":"remove","path":"/aa"},{"op":"add","path":"/0","value":6},{"op":"replace","path":"/a","value":7}]`,
			`{"a":7,"b":4,"c":3,"0":6}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Apply([]byte(tt.doc), []byte(tt.patch)); err != nil || string(got) != tt.want {
				t.Errorf("%s, error %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestApplyErrors(t *testing.T) {
	const doc = `{"a":[1,2],"s":"SECRET","o":{"b":1},"n":{}}`
	tests := []struct {
		patch string
		want  string
	}{
		{``, "delta: patch: not valid JSON"},
		{`[`, "delta: patch: not valid JSON"},
		{`[]SECRET`, "delta: patch: not valid JSON"},
		{"[{\"op\":\"add\",\"path\":\"/a\xff\",\"value\":1}]", "delta: patch: not valid JSON"},
		{`[{"op":"add","path":"/b","value":{"x":1,"x":2}}]`, "delta: patch: not valid JSON"},
		{`[{"op":"add","path":"/b","value":"\ud800"}]`, "delta: patch: not valid JSON"},
		{`"SECRET"`, "delta: patch: not an array"},
		{`{"op":"remove","path":"/a"}`, "delta: patch: not an array"},
		{`["SECRET"]`, "delta: operation 0: not an object"},
		{`[{"op":"remove","path":"/a/0"},[]]`, "delta: operation 1: not an object"},
		{`[{"path":"/a"}]`, `delta: operation 0: no string "op"`},
		{`[{"op":["SECRET"],"path":"/a"}]`, `delta: operation 0: no string "op"`},
		{`[{"op":"SECRET","path":"/a"}]`, "delta: operation 0: unknown operation"},
		{`[{"op":"move","path":"/b","from":"/a"}]`, `delta: operation 0 (move ""): operation not supported: only add, remove and replace are`},
		{`[{"op":"copy","path":"/b","from":"/a"}]`, `delta: operation 0 (copy ""): operation not supported: only add, remove and replace are`},
		{`[{"op":"test","path":"/s","value":"SECRET"}]`, `delta: operation 0 (test ""): operation not supported: only add, remove and replace are`},
		{`[{"op":"remove"}]`, `delta: operation 0 (remove ""): no string "path"`},
		{`[{"op":"remove","path":["SECRET"]}]`, `delta: operation 0 (remove ""): no string "path"`},
		{`[{"op":"add","path":"/b"}]`, `delta: operation 0 (add "/b"): no "value"`},
		{`[{"op":"remove","path":""}]`, `delta: operation 0 (remove ""): the whole document cannot be removed`},
		{`[{"op":"remove","path":"a"}]`, `delta: operation 0 (remove "a"): the path does not begin with a slash`},
		{`[{"op":"remove","path":"/~"}]`, `delta: operation 0 (remove "/~"): the path has a ~ that is neither ~0 nor ~1`},
		{`[{"op":"remove","path":"/a~2"}]`, `delta: operation 0 (remove "/a~2"): the path has a ~ that is neither ~0 nor ~1`},
		{`[{"op":"remove","path":"/b"}]`, `delta: operation 0 (remove "/b"): no such member`},
		{`[{"op":"replace","path":"/b","value":"SECRET"}]`, `delta: operation 0 (replace "/b"): no such member`},
		{`[{"op":"remove","path":"/n/b"}]`, `delta: operation 0 (remove "/n/b"): no such member`},
		{`[{"op":"add","path":"/b/c","value":"SECRET"}]`, `delta: operation 0 (add "/b/c"): no such member`},
		{`[{"op":"add","path":"/s/c","value":1}]`, `delta: operation 0 (add "/s/c"): the path goes through a value that is neither an object nor an array`},
		{`[{"op":"add","path":"/s/c/d","value":1}]`, `delta: operation 0 (add "/s/c/d"): the path goes through a value that is neither an object nor an array`},
		{`[{"op":"add","path":"/b","value":"SECRET","before":"none"}]`, `delta: operation 0 (add "/b"): "before" does not name a member beside it`},
		{`[{"op":"add","path":"/b","value":"SECRET","before":null}]`, `delta: operation 0 (add "/b"): "before" does not name a member beside it`},
		{`[{"op":"remove","path":"/a/2"}]`, `delta: operation 0 (remove "/a/2"): the index is out of range`},
		{`[{"op":"add","path":"/a/3","value":1}]`, `delta: operation 0 (add "/a/3"): the index is out of range`},
		{`[{"op":"add","path":"/a/99999999999999999999999999","value":1}]`, `delta: operation 0 (add "/a/99999999999999999999999999"): the index is out of range`},
		{`[{"op":"remove","path":"/a/18446744073709551617"}]`, `delta: operation 0 (remove "/a/18446744073709551617"): the index is out of range`},
		{`[{"op":"add","path":"/a/01","value":1}]`, `delta: operation 0 (add "/a/01"): not an array index`},
		{`[{"op":"add","path":"/a/+1","value":1}]`, `delta: operation 0 (add "/a/+1"): not an array index`},
		{`[{"op":"add","path":"/a/","value":1}]`, `delta: operation 0 (add "/a/"): not an array index`},
		{`[{"op":"remove","path":"/a/-"}]`, `delta: operation 0 (remove "/a/-"): not an array index`},
		{`[{"op":"replace","path":"/a/-/b","value":1}]`, `delta: operation 0 (replace "/a/-/b"): not an array index`},
		{`[{"op":"remove","path":"/` + strings.Repeat("é", 200) + `"}]`, `delta: operation 0 (remove "/` + strings.Repeat("é", 99) + `…"): no such member`},
		{`[{"op":"remove","path":"/\n\u2028"}]`, `delta: operation 0 (remove "/\n\u2028"): no such member`},
	}
	for _, tt := range tests {
		got, err := Apply([]byte(doc), []byte(tt.patch))
		if got != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s\ngives %s, error %v\nwant  %s", tt.patch, got, err, tt.want)
		}
		if e := (*Error)(nil); !errors.As(err, &e) || errors.Unwrap(err) == nil {
			t.Errorf("%s: error of type %T", tt.patch, err)
		}
	}
}

// TestApplyMalformed applies patches to documents that break the rules.
func TestApplyMalformed(t *testing.T) {
	for _, doc := range []string{
		``, `[`, `[1`, `[1,`, `[}`, `[1}`, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1]`, `{"a" :1}`,
		`{"a":1}}`, `{"a":[}`, `{"a":[1}`, `{a:1}`, `[[]`, `["]`, `{"a":{"b}}`,
	} {
		for _, patch := range []string{
			`[{"op":"replace","path":"/a/0","value":1}]`, `[{"op":"replace","path":"/0/a","value":1}]`, `[{"op":"remove","path":"/a"}]`,
			`[{"op":"add","path":"/a/-","value":1}]`, `[{"op":"add","path":"/-","value":1}]`, `[{"op":"add","path":"/0/b","value":1}]`,
		} {
			Apply([]byte(doc), []byte(patch)) // must not panic
		}
	}
	if _, err := Apply([]byte(`[1`), []byte(`[{"op":"remove","path":"/0"}]`)); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
}

func TestDocumentAfterError(t *testing.T) {
	d := NewDocument([]byte(`{"a":1}`))
	err := d.Apply([]byte(`[{"op":"add","path":"/b","value":2},{"op":"remove","path":"/c"}]`))
	if err == nil || d.Apply([]byte(`[]`)) != err {
		t.Error("an error must stay")
	}
}
