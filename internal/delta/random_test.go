package delta

import (
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value for tests: a token, an array or an object.
type value struct {
	kind  byte // '[', '{' or 0
	token string
	names []string // with their quotes
	kids  []*value
}

func (v *value) append(dst []byte) []byte {
	if v.kind == 0 {
		return append(dst, v.token...)
	}
	dst = append(dst, v.kind)
	for i, k := range v.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == '{' {
			dst = append(append(dst, v.names[i]...), ':')
		}
		dst = k.append(dst)
	}
	return append(dst, v.kind+2) // ] and } are two behind [ and {
}

func (v *value) text() []byte { return v.append(nil) }

// Tokens that go wrong as soon as anything is decoded or cut carelessly.
var tokens = []string{
	"null", "true", "false", "0", "-0", "1", "12", "1.0", "1e21", "1E+2", "9007199254740993",
	"0.1000000000000000055511151231257827", `""`, `"a"`, `"\\"`, `"\\\""`, `"]"`, `"},{"`, `"a\"b"`,
	`"\u0061"`, `"é"`, `"\u00e9"`, `"\ud83d\ude00"`, `"😀"`, `"\/"`, `"\u2028"`, `"<"`, `"\u003c"`, `",\"op\":"`,
}

// Names, several for one meaning, and what pointers are made of.
var names = []string{
	`""`, `"a"`, `"b"`, `"c"`, `"d"`, `"e"`, `"\u0061"`, `"~"`, `"/"`, `"\/"`, `"\u002f"`, `"\u002F"`, `"\u007e"`,
	`"~1"`, `"~0"`, `"~\u0031"`, `"\u007e1"`, `"~01"`, `"a/b"`, `"a\/b"`, `"\\"`, `"\\u002f"`, `"\\/"`, `"\""`, `"a\""`, `"0"`,
	`"1"`, `"01"`, `"-"`, `"é"`, `"\u00e9"`, `"\ud83d\ude00"`, `"before"`, `"op"`, `" "`, `"\n"`,
}

type generator struct{ *rand.Rand }

func (g generator) value(depth int) *value {
	n := g.Intn(10)
	if depth == 0 || n < 4 {
		return &value{token: tokens[g.Intn(len(tokens))]}
	}
	v := &value{kind: '['}
	if n > 6 {
		v.kind = '{'
	}
	size := g.Intn(6)
	if g.Intn(8) == 0 {
		size += g.Intn(20)
	}
	for range size {
		g.insert(v, len(v.kids), g.value(depth-1))
	}
	return v
}

// insert puts a kid at i, in an object under a name that it does not have.
func (g generator) insert(v *value, i int, kid *value) {
	if v.kind == '{' {
		name := names[g.Intn(len(names))]
		if g.Intn(3) == 0 {
			name = strconv.Quote("key" + strconv.Itoa(g.Intn(50)))
		}
		if v.has(name) {
			return
		}
		v.names = slices.Insert(v.names, i, name)
	}
	v.kids = slices.Insert(v.kids, i, kid)
}

func (v *value) has(name string) bool {
	means, _ := jsontext.AppendUnquote(nil, name)
	return slices.ContainsFunc(v.names, func(n string) bool {
		b, _ := jsontext.AppendUnquote(nil, n)
		return string(b) == string(means)
	})
}

func (v *value) remove(i int) {
	v.kids = slices.Delete(v.kids, i, i+1)
	if v.kind == '{' {
		v.names = slices.Delete(v.names, i, i+1)
	}
}

// edit changes v somewhere.
func (g generator) edit(v *value) {
	for v.kind != 0 && len(v.kids) > 0 && g.Intn(4) > 0 {
		v = v.kids[g.Intn(len(v.kids))]
	}
	if v.kind == 0 || g.Intn(20) == 0 {
		*v = *g.value(2)
		return
	}
	n := len(v.kids)
	switch op := g.Intn(8); {
	case op < 2 || n == 0:
		g.insert(v, n, g.value(2))
	case op == 2:
		g.insert(v, g.Intn(n+1), g.value(2))
	case op == 3:
		v.remove(g.Intn(n))
	case op == 4: // something changes places
		i, j := g.Intn(n), g.Intn(n)
		v.kids[i], v.kids[j] = v.kids[j], v.kids[i]
		if v.kind == '{' {
			v.names[i], v.names[j] = v.names[j], v.names[i]
		}
	case op == 5: // a window slides
		for range min(n, 1+g.Intn(3)) {
			v.remove(0)
			g.insert(v, len(v.kids), g.value(1))
		}
	case op == 6 && v.kind == '{': // another spelling or name
		if name := names[g.Intn(len(names))]; !v.has(name) {
			v.names[g.Intn(n)] = name
		}
	default:
		*v.kids[g.Intn(n)] = *g.value(2)
	}
}

// check demands what Diff promises of two valid texts, and returns the patch
// whether it is small or not.
func check(t testing.TB, old, new []byte) []byte {
	t.Helper()
	patch, ok := diff(old, new)
	if !ok {
		t.Fatalf("no patch\nold   %s\nnew   %s", old, new)
	}
	if !jsontext.Value(patch).IsValid() {
		t.Fatalf("invalid patch\nold   %s\nnew   %s\npatch %s", old, new, patch)
	}
	got, err := Apply(old, patch)
	if err != nil || string(got) != string(new) {
		t.Fatalf("err %v\nold   %s\nnew   %s\npatch %s\ngot   %s", err, old, new, patch, got)
	}
	small, ok := Diff(old, new)
	if string(old) == string(new) {
		if !ok || string(small) != "[]" {
			t.Fatalf("equal texts %s: patch %s", old, small)
		}
	} else if ok != (len(patch) < len(new)) || ok && string(small) != string(patch) {
		t.Fatalf("Diff gives %v for a patch of %d bytes to a text of %d", ok, len(patch), len(new))
	}
	return patch
}

func TestRandomEdits(t *testing.T) {
	cases := many(100_000)
	g := generator{rand.New(rand.NewSource(20240607))}
	for range cases {
		v := g.value(4)
		old := v.text()
		for range 1 + g.Intn(3) {
			g.edit(v)
		}
		check(t, old, v.text())
		if g.Intn(20) == 0 {
			check(t, old, g.value(4).text())
		}
	}
}

// TestRandomHistory applies histories of patches to one document, and asks for
// its text only now and then.
func TestRandomHistory(t *testing.T) {
	g := generator{rand.New(rand.NewSource(7))}
	for range 300 {
		v := g.value(4)
		old := v.text()
		d := NewDocument(slices.Clone(old))
		for range 50 {
			g.edit(v)
			new := v.text()
			patch := check(t, old, new)
			if err := d.Apply(patch); err != nil {
				t.Fatal(err)
			}
			clear(patch) // the document must not need it any more
			if !d.Equal(new) || d.Equal(append(slices.Clone(new), ' ')) || d.Equal(new[:len(new)-1]) {
				t.Fatalf("document is %s\nnot         %s", d.Append(nil), new)
			}
			if g.Intn(10) == 0 && string(d.Append([]byte("x"))) != "x"+string(new) {
				t.Fatal("Append and Equal differ")
			}
			old = new
		}
	}
}

// TestRandomOrder moves many items of containers too long for agree.
func TestRandomOrder(t *testing.T) {
	cases := many(2000)
	g, long := generator{rand.New(rand.NewSource(5))}, strings.Repeat("x", 400)
	for range cases {
		v := &value{kind: "[{"[g.Intn(2)]}
		for i := range 70 + g.Intn(300) {
			if v.kind == '{' {
				v.names = append(v.names, strconv.Quote(strconv.Itoa(i*7919%1000)))
			}
			// Long, or it is all replaced.
			text := long[:g.Intn(len(long))] + strconv.Itoa(g.Intn(1+g.Intn(200)))
			v.kids = append(v.kids, &value{token: strconv.Quote(text)})
		}
		old := v.text()
		for range g.Intn(len(v.kids)) {
			from := g.Intn(len(v.kids))
			kid, name := v.kids[from], ""
			if v.kind == '{' {
				name = v.names[from]
			}
			v.remove(from)
			to := g.Intn(len(v.kids) + 1)
			if v.kind == '{' {
				v.names = slices.Insert(v.names, to, name)
			}
			v.kids = slices.Insert(v.kids, to, kid)
			if g.Intn(8) == 0 {
				g.edit(v.kids[g.Intn(len(v.kids))])
				v.remove(g.Intn(len(v.kids)))
				g.insert(v, g.Intn(len(v.kids)+1), g.value(1))
			}
		}
		check(t, old, v.text())
	}
}

// TestRandomDamage gives texts and patches that were valid before a few bytes
// changed. Nothing is asked but that nothing panics.
func TestRandomDamage(t *testing.T) {
	cases := many(100_000)
	g := generator{rand.New(rand.NewSource(11))}
	damage := func(b []byte) []byte {
		b = slices.Clone(b)
		for range g.Intn(3) {
			switch i := g.Intn(len(b) + 1); {
			case i == len(b):
			case g.Intn(10) == 0:
				b = b[:i]
			case g.Intn(2) == 0:
				b = slices.Delete(b, i, i+1)
			default:
				b[i] = "[]{},:\"\\0a"[g.Intn(10)]
			}
		}
		return b
	}
	for range cases {
		v := g.value(3)
		old := v.text()
		g.edit(v)
		new := v.text()
		patch, _ := diff(old, new)
		diff(damage(old), damage(new))
		Apply(damage(old), patch)
		Apply(old, damage(patch))
	}
}
