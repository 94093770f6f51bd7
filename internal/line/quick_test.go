package line

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestQuickHead: what quickHead takes for a head, ParseHead would without it, with the
// same numbers; and it takes every head that is long enough.
func TestQuickHead(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	slow := func(b []byte) (Head, bool) {
		h, ok, _ := slowHead(b)
		return h, ok
	}
	taken := 0
	for range 50_000 {
		seq := r.Int64N(1<<(1+r.IntN(48))) + 1
		text, _ := Append(nil, r.Uint32(), seq, r.Int64N(seq), NewBody("step", "k", at).Str("x", string(bytes.Repeat([]byte{'x'}, MaxHead))).Bytes())
		if h, ok := quickHead(text); !ok {
			t.Fatalf("not taken: %s", text)
		} else if want, _ := slow(text); h != want {
			t.Fatalf("%+v, want %+v of %s", h, want, text)
		}
		for range 4 { // changed in one to three bytes, or with a byte more or less
			b := bytes.Clone(text)
			for range 1 + r.IntN(3) {
				b[r.IntN(100)] = `{}",:0123456789abcdefABCDEF -.x`[r.IntN(31)]
			}
			switch i := r.IntN(100); r.IntN(4) {
			case 0:
				b = append(b[:i], b[i+1:]...)
			case 1:
				b = append(b[:i+1], b[i:]...)
			}
			h, ok := quickHead(b)
			if want, valid := slow(b); ok && (!valid || h != want) {
				t.Fatalf("took %s", b)
			} else if ok != valid {
				t.Fatalf("did not take %s", b)
			}
			if ok {
				taken++
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d of the changed heads are heads", taken)
	}
	text, _ := Append(nil, 1, 2, 1, NewBody("step", "k", at).Bytes())
	for n := range min(len(text), MaxHead-1) {
		if _, ok := quickHead(text[:n]); ok {
			t.Fatal("took a line that is too short to tell")
		}
	}
}

// TestKindAndKey: what it gives is what the members say.
func TestKindAndKey(t *testing.T) {
	for _, c := range []struct {
		body []byte
		ok   bool
	}{
		{NewBody("step", "a/b", at).Int("x", 1).Bytes(), true},
		{NewBody("step", "a\"\\\x01é", at).Bytes(), true},
		{NewBody("step", "", at).Bytes(), false},
		{[]byte(`"kind":"x","key":7}`), false},
		{[]byte(`"kind":7,"key":"x"}`), false},
		{[]byte(`"key":"x","kind":"x"}`), false},
		{[]byte(`"kind":"x","key":"x`), false},
		{[]byte(`"kind":"x`), false},
		{[]byte(`"kind":"`), false},
		{nil, false},
	} {
		kind, key, ok := KindAndKey(c.body)
		if ok != c.ok {
			t.Errorf("%s: %v", c.body, ok)
		}
		if ok && (string(kind) != string(Member(c.body, 0, "kind")) || string(key) != string(Member(c.body, 0, "key"))) {
			t.Errorf("%s: %s %s", c.body, kind, key)
		}
	}
}
