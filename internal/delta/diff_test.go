package delta

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	tests := []struct{ name, old, new, patch string }{
		{"equal", `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, `[]`},
		{"replace a scalar", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `[{"op":"replace","path":"/b","value":3}]`},
		{"replace the root", `1`, `[]`, `[{"op":"replace","path":"","value":[]}]`},
		{"other kind", `{"a":{"b":1}}`, `{"a":[1]}`, `[{"op":"replace","path":"/a","value":[1]}]`},
		{
			"a number's spelling", `[1.0,-0,1e21]`, `[1.00,0,1E21]`,
			`[{"op":"replace","path":"","value":[1.00,0,1E21]}]`,
		},
		{
			"a number that begins as another", `{"abcdefghijklmnopqrstuvwxyz":"..........","n":[1,12]}`,
			`{"abcdefghijklmnopqrstuvwxyz":"..........","n":[12,12]}`, `[{"op":"replace","path":"/n/0","value":12}]`,
		},
		{
			"large integers", `{"n":9007199254740993}`, `{"n":9007199254740992}`,
			`[{"op":"replace","path":"/n","value":9007199254740992}]`,
		},
		{
			"append", `{"f":["...................................",2],"n":2}`,
			`{"f":["...................................",2,3,4],"n":2}`,
			`[{"op":"add","path":"/f/-","value":3},{"op":"add","path":"/f/-","value":4}]`,
		},
		{
			"append to an empty array", `{"f":[],"text":"long enough to pay"}`, `{"f":[{}],"text":"long enough to pay"}`,
			`[{"op":"add","path":"/f/-","value":{}}]`,
		},
		{
			"append and count", `{"n":2,"f":["...................................................","b"]}`,
			`{"n":3,"f":["...................................................","b","c"]}`,
			`[{"op":"replace","path":"/n","value":3},{"op":"add","path":"/f/-","value":"c"}]`,
		},
		{"insert", `{"f":["aaaaa","bbbbb"]}`, `{"f":["aaaaa","x","bbbbb"]}`, `[{"op":"add","path":"/f/1","value":"x"}]`},
		{
			"insert in front", `["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]`, `["x","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]`,
			`[{"op":"add","path":"/0","value":"x"}]`,
		},
		{
			"remove", `{"f":["a","b","c","this one is long enough"]}`, `{"f":["a","c","this one is long enough"]}`,
			`[{"op":"remove","path":"/f/1"}]`,
		},
		{
			"remove the last", `[1,2,3,"this one is long enough",4]`, `[1,2,3,"this one is long enough"]`,
			`[{"op":"remove","path":"/4"}]`,
		},
		{"clear", `{"f":[1,2,3,4,5,6]}`, `{"f":[]}`, `[{"op":"replace","path":"/f","value":[]}]`},
		{
			"edit an element", `[{"id":"aaaaaaaaaaaaaaa","ok":false},{"id":"bbbbbbbbbbbbbbb","ok":false}]`,
			`[{"id":"aaaaaaaaaaaaaaa","ok":true},{"id":"bbbbbbbbbbbbbbb","ok":false}]`,
			`[{"op":"replace","path":"/0/ok","value":true}]`,
		},
		{
			"edit an element and append", `[{"id":"aaaaaaaaaaaaaaa","ok":false},{"id":"bbbbbbbbbbbbbbb","ok":false}]`,
			`[{"id":"aaaaaaaaaaaaaaa","ok":true},{"id":"bbbbbbbbbbbbbbb","ok":false},3]`,
			`[{"op":"replace","path":"/0/ok","value":true},{"op":"add","path":"/-","value":3}]`,
		},
		{
			"a window slides", `["aaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccccc"]`,
			`["bbbbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccccc","d"]`,
			`[{"op":"remove","path":"/0"},{"op":"add","path":"/-","value":"d"}]`,
		},
		{
			"the last comes first", `["aaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbb","cc"]`,
			`["cc","aaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbb"]`,
			`[{"op":"add","path":"/0","value":"cc"},{"op":"remove","path":"/3"}]`,
		},
		{"new member at the end", `{"a":1}`, `{"a":1,"b":2}`, `[{"op":"add","path":"/b","value":2}]`},
		{
			"new member in the middle", `{"a":"............","c":3}`, `{"a":"............","b":2,"c":3}`,
			`[{"op":"add","path":"/b","value":2,"before":"c"}]`,
		},
		{
			"several in one place", `{"a":"......................................................","z":3}`,
			`{"a":"......................................................","c":1,"b":2,"z":3}`,
			`[{"op":"add","path":"/c","value":1,"before":"z"},{"op":"add","path":"/b","value":2,"before":"z"}]`,
		},
		{
			"remove a member", `{"a":1,"b":2,"c":"this one is long enough"}`, `{"a":1,"c":"this one is long enough"}`,
			`[{"op":"remove","path":"/b"}]`,
		},
		{"remove all members", `{"a":{"b":2,"c":3}}`, `{"a":{}}`, `[{"op":"replace","path":"/a","value":{}}]`},
		{
			"a renamed member", `{"a":1,"c":"..................................................................."}`,
			`{"b":1,"c":"..................................................................."}`,
			`[{"op":"remove","path":"/a"},{"op":"add","path":"/b","value":1,"before":"c"}]`,
		},
		{
			"members change places", `{"a":1,"b":"..................................................................."}`,
			`{"b":"...................................................................","a":1}`,
			`[{"op":"remove","path":"/a"},{"op":"add","path":"/a","value":1}]`,
		},
		{
			"another spelling of a name", `{"b":"....................................................................","a":1}`,
			`{"b":"....................................................................","\u0061":1}`,
			`[{"op":"remove","path":"/a"},{"op":"add","path":"/\u0061","value":1}]`,
		},
		{
			"names that pointers escape", `{"a/b~c":{"":1,"d":".........................................................."}}`,
			`{"a/b~c":{"":2,"d":".........................................................."}}`,
			`[{"op":"replace","path":"/a~1b~0c/","value":2}]`,
		},
		{
			"a slash as an escape is found", `{"a\/b":1,"c":".........................................................."}`,
			`{"a\/b":2,"c":".........................................................."}`,
			`[{"op":"replace","path":"/a~1b","value":2}]`,
		},
		{
			"a slash as an escape is not added", `{"x":{"a":1},"c":".........................................................."}`,
			`{"x":{"a":1,"a\/b":2},"c":".........................................................."}`,
			`[{"op":"replace","path":"/x","value":{"a":1,"a\/b":2}}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(t, []byte(tt.old), []byte(tt.new)); string(got) != tt.patch {
				t.Errorf("patch %s\nwant  %s", got, tt.patch)
			}
		})
	}
}

// TestDiffLarge has texts whose differences are found only by looking for more
// than the common beginning and end.
func TestDiffLarge(t *testing.T) {
	array := func(n int, item func(i int) string) string {
		var b []string
		for i := range n {
			if s := item(i); s != "" {
				b = append(b, s)
			}
		}
		return "[" + strings.Join(b, ",") + "]"
	}
	item := func(i int) string { return fmt.Sprintf(`{"id":%d,"text":"%s"}`, i, strings.Repeat("x", 100)) }
	member := func(i int) string { return fmt.Sprintf(`"%06d":%s`, i, item(i)) }
	object := func(n int, item func(i int) string) string {
		a := array(n, item)
		return "{" + a[1:len(a)-1] + "}"
	}
	base, baseObject := array(2000, item), object(2000, member)
	tests := []struct {
		name     string
		old, new string
		most     int
	}{
		{"every tenth is edited", base, array(2000, func(i int) string {
			if i%10 == 3 {
				return strings.Replace(item(i), "xx", "yy", 1)
			}
			return item(i)
		}), 200 * 160},
		{"every tenth is removed", base, array(2000, func(i int) string {
			if i%10 == 3 {
				return ""
			}
			return item(i)
		}), 200 * 35},
		{"a window slides far", base, array(2300, func(i int) string {
			if i < 300 {
				return ""
			}
			return item(i)
		}), 300 * (35 + 160)},
		{"two inserted, three replaced, one moved, far apart", base, array(2001, func(i int) string {
			switch {
			case i == 17 || i == 1500:
				return "7," + item(i)
			case i >= 700 && i < 703:
				return "8"
			case i == 100:
				return ""
			case i == 2000:
				return item(100)
			}
			return item(i)
		}), 500},
		{"all are replaced", base, array(2000, func(i int) string { return item(i + 5000) }), len(base) + 1000},
		{
			"all of many small values change", array(maxAlign+5, func(i int) string { return fmt.Sprint(i) }),
			array(maxAlign+5, func(i int) string { return fmt.Sprint(i + 500_000) }), 500_000,
		},
		{
			"few of many small values change", array(maxAlign+5, func(i int) string { return fmt.Sprint(i) }),
			array(maxAlign+9, func(i int) string { return fmt.Sprint(i + i/30_000*1_000_000*(i%30_000/29_995)) }), 2000,
		},
		{"members inserted, removed, edited, far apart", baseObject, object(2000, func(i int) string {
			switch i {
			case 17, 1500:
				return fmt.Sprintf(`"%06d-":1,`, i-1) + member(i)
			case 900, 902:
				return ""
			case 1000:
				return fmt.Sprintf(`"%06d":3`, i)
			}
			return member(i)
		}), 500},
		{"all members are renamed", baseObject, object(2000, func(i int) string { return member(i + 5000) }), len(baseObject) + 3000},
		{
			"all members of many change", object(9000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }),
			object(9000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i+1) }), 200_000,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old, new := `{"n":1,"all":`+tt.old+`,"z":1}`, `{"n":2,"all":`+tt.new+`,"z":2}`
			if got := check(t, []byte(old), []byte(new)); len(got) > tt.most+100 {
				t.Errorf("patch of %d bytes, want at most %d", len(got), tt.most+100)
			}
		})
	}
}

func TestDiffRefuses(t *testing.T) {
	for _, tt := range [][2]string{
		{`1`, `2`},
		{`{"a":1}`, `{"a":2}`},
		{`[1,2,3]`, `{"a":1}`},
		{``, `1`},
		{`1`, ``},
		{`[`, `[1`},
		{`{"a":1`, `{"a":2}`},
		{`{"a"`, `{"a":2}`},
		{`[1,`, `[1]`},
		{`[1]2`, `[1]3`},
		{`{"a":[1}`, `{"a":[2`},
		{`{`, `{}`},
		{`[1,"a`, `[2,"a`},
		{`{"a":`, `{"a":` + `1}`},
		{`{"a":"`, `{"a":[`},
		{`{"a":[1],"b"`, `{"a":[1],"b":1}`},
		{`[1,2`, `[1,3]`},
		{`[1,2]`, `[1,3`},
		{`{"a":1,"b":2`, `{"b":2}`},
		{`"`, `"a"`},
		{`["\"]`, `["a"]`},
	} {
		if patch, ok := Diff([]byte(tt[0]), []byte(tt[1])); ok {
			t.Errorf("Diff(%s, %s) gives %s", tt[0], tt[1], patch)
		}
	}
}

// TestDiffDeep has differences below the depth that Diff looks into, and texts
// that would overflow a stack.
func TestDiffDeep(t *testing.T) {
	for _, depth := range []int{10, maxDepth - 1, maxDepth, maxDepth + 1, 1000, 9000} {
		for _, nest := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
			n := depth / strings.Count(nest[0]+"[", "[")
			text := func(s string) []byte {
				return []byte(strings.Repeat(nest[0], n) + s + strings.Repeat(nest[1], n))
			}
			check(t, text("1"), text("2"))
			check(t, text(`["`+strings.Repeat("x", 100)+`",1]`), text(`["`+strings.Repeat("x", 100)+`",2]`))
		}
	}
	d := strings.Repeat("[", 1_000_000)
	Diff([]byte(d+"1"), []byte(d+"2"))
}
