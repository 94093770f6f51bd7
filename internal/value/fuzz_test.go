package value

import (
	"bytes"
	"testing"
)

// FuzzRoundTrip: what is valid can be decoded into an untyped value, stored again,
// and read back to the same text.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{
		`{"id":9007199254740993,"f":-0.0,"e":1e400}`, `["\u0085\u2028","\ud83d\ude00",""]`,
		`{"a":1,"a":2}`, `[NaN]`, `"\ud800"`, ` [1 , 2] `, `{"":{"":[]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := Valid(text)
		var v any
		if err := Decode(text, &v, false); (err == nil) != (valid == nil) && valid == nil {
			t.Fatalf("%q is valid and cannot be decoded: %v", text, err)
		} else if err != nil {
			return
		}
		once, err := Encode(v)
		if err != nil {
			if valid == nil {
				t.Fatalf("%q is valid and cannot be stored: %v", text, err)
			}
			return // too deep
		}
		var again any
		if err := Decode(once, &again, false); err != nil {
			t.Fatalf("%q is written as %q, which cannot be read: %v", text, once, err)
		}
		twice, err := Encode(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q is written as %q, then as %q (%v)", text, once, twice, err)
		}
		if Valid(once) != nil {
			t.Fatalf("%q is written as %q, which is not valid", text, once)
		}
	})
}
