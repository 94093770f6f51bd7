package line

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBody(t *testing.T) {
	got := string(NewBody("step", "a/b", at).Int("try", 2).Str("map", `q"`).Raw("in", []byte("[1]")).Value([]byte(`{"x":1.50}`)).Bytes())
	want := `"kind":"step","key":"a/b","at":"2026-12-01T09:00:00.123456Z","try":2,"map":"q\"","in":[1],"value":{"x":1.50}}`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestValueIsExact: what a value's text is, byte for byte, comes back, whether it
// can stand in a line or not.
func TestValueIsExact(t *testing.T) {
	for _, text := range []string{
		`1`, `"x"`, `{"a":1e400,"b":0.10}`, `{"a": 1}`, "{\n}", "[1,\t2]", "\"\u2028\"", "\"\u2029\"", "\"\u0085\"", `"\u2028"`, `"é \" \\"`, `" "`,
	} {
		body := NewBody("step", "", at).Value([]byte(text)).Bytes()
		line, _ := Append(nil, 0, 1, 0, body)
		line = line[:len(line)-1]
		checkLine(t, line)
		h, _, _ := ParseHead(line)
		got := string(Member(line, h.Size, "value"))
		if raw := Member(line, h.Size, "vs"); raw != nil {
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
		}
		if got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	}
}

// checkLine checks what every line of a journal is: JSON, and nothing in it that any
// reader could take for the end of a line.
func checkLine(t *testing.T, line []byte) {
	t.Helper()
	if !json.Valid(line) || !utf8.Valid(line) {
		t.Errorf("not JSON: %q", line)
	}
	for _, r := range string(line) {
		if r < ' ' || r == 0x85 || r == 0x2028 || r == 0x2029 {
			t.Errorf("holds %U: %q", r, line)
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\n\r\t\x1f\x7f", "\u0085\u2028\u2029", "\xff\xc2", "é€😀", `{"crc":"`, `\u2028`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, _ := Append(nil, 0, 1, 0, NewBody("step", s, at).Str("x", s).Bytes())
		line = line[:len(line)-1]
		checkLine(t, line)
		if bytes.Contains(line[1:], []byte(Prefix)) {
			t.Errorf("a string looks like the beginning of a line: %s", line)
		}
		h, ok, _ := ParseHead(line)
		if !ok || !Verify(line, h) {
			t.Fatalf("not valid: %s", line)
		}
		var back string
		if err := json.Unmarshal(Member(line, h.Size, "x"), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") {
			// Each wrong byte becomes one U+FFFD or a run of them one: both are valid.
			if utf8.ValidString(s) {
				t.Errorf("%q came back as %q, %v", s, back, err)
			}
		}
	})
}

// FuzzMembers: the walk over members never panics and never goes outside, whatever
// the bytes; on valid JSON objects it finds what encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`"a":1}`, `"a":{"b":[1,"}"]},"c":"\""}`, `"a"`, `"a":`, `"a":"x`, `"a":[`, `"a":{"b"}}`, `"a":1,`, `x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		found, count := map[string]string{}, 0
		Members(b, 0, func(name, value []byte) bool {
			found[string(name)] = string(value)
			count++
			return true
		})
		Unclosed(b)
		Override(nil, b, 0, "x", []byte("1"))
		var want map[string]json.RawMessage
		whole := append([]byte("{"), b...)
		if !Clean(whole) || !utf8.Valid(b) || bytes.Contains(b, []byte(`\`)) || json.Unmarshal(whole, &want) != nil {
			return
		}
		if count < len(want) {
			t.Errorf("%d members of %d in %s", count, len(want), whole)
		}
		for name, value := range found {
			if string(want[name]) != value {
				t.Errorf("%q: %q, want %q", name, value, want[name])
			}
		}
	})
}
