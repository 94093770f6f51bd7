package line

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 12, 1, 10, 0, 0, 123456789, time.FixedZone("", 3600))

// TestChecksum: the check value of CRC-32C, which the specification names.
func TestChecksum(t *testing.T) {
	if got := Checksum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("%08x", got)
	}
}

func TestAppendAndParse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	prev := uint32(0)
	for range 5_000 {
		// Around every length at which len gains a digit, and numbers of all lengths.
		size := []int{0, 5, 10 + r.IntN(30), 850 + r.IntN(100), 9850 + r.IntN(100)}[r.IntN(5)]
		seq := r.Int64N(1<<(1+r.IntN(48))) + 1
		dur := r.Int64N(seq)
		body := NewBody("step", "k", at).Str("x", strings.Repeat("x", size)).Bytes()
		text, crc := Append([]byte("before\n"), prev, seq, dur, body)
		text = text[len("before\n"):]
		if text[len(text)-1] != '\n' {
			t.Fatalf("no newline: %q", text)
		}
		text = text[:len(text)-1]
		h, ok, _ := ParseHead(text)
		want := Head{CRC: crc, Prev: prev, Len: int64(len(text)), Seq: seq, Dur: dur, Size: len(text) - len(body)}
		if !ok || h != want {
			t.Fatalf("head %+v, want %+v of %.120q", h, want, text)
		}
		if !Verify(text, h) || !json.Valid(text) {
			t.Fatalf("not valid: %.120q", text)
		}
		if crc != crc32.Checksum(text[18:], crc32.MakeTable(crc32.Castagnoli)) {
			t.Fatal("the crc does not cover what the specification says")
		}
		prev = crc
	}
}

// TestParseHeadPrefixes: each proper prefix of a head asks for more, and none is a head.
func TestParseHeadPrefixes(t *testing.T) {
	text, _ := Append(nil, 0xdeadbeef, 12, 7, NewBody("step", "", at).Bytes())
	h, _, _ := ParseHead(text)
	for n := range h.Size {
		if _, ok, more := ParseHead(text[:n]); ok || !more {
			t.Errorf("%q: ok %v, more %v", text[:n], ok, more)
		}
	}
	if h.Size > MaxHead {
		t.Errorf("MaxHead is too small: %d", h.Size)
	}
}

// TestParseHeadFlips: no changed bit in a head is taken for a head to be completed,
// or for the same head.
func TestParseHeadFlips(t *testing.T) {
	text, _ := Append(nil, 0xdeadbeef, 12, 7, NewBody("step", "", at).Bytes())
	text = text[:len(text)-1]
	want, _, _ := ParseHead(text)
	for i := range want.Size * 8 {
		b := bytes.Clone(text)
		b[i/8] ^= 1 << (i % 8)
		h, ok, more := ParseHead(b)
		if more || ok && (h == want || Verify(b, h)) {
			t.Errorf("bit %d of %q: %+v %v %v", i, b[:want.Size], h, ok, more)
		}
	}
}

func TestParseHeadRefuses(t *testing.T) {
	const good = `{"crc":"00000000","len":100,"prev":"00000000","seq":2,"dur":1,"kind":"x"}`
	if _, ok, _ := ParseHead([]byte(good)); !ok {
		t.Fatal("the example is no head")
	}
	for _, change := range [][2]string{
		{`"crc":"0000`, `"crc":"000G`},
		{`"crc":"0000`, `"crc":"ABCD`}, // capitals
		{`"len":100`, `"len":0100`},
		{`"len":100`, `"len":`},
		{`"len":100`, `"len":-1`},
		{`"len":100`, `"len":1e2`},
		{`"len":100`, `"len":1000000000000000`}, // 16 digits
		{`"len":100`, `"len":10`},               // shorter than its head
		{`"seq":2`, `"seq":0`},
		{`"dur":1`, `"dur":2`}, // not below seq
		{`{"crc"`, `{ "crc"`},
		{`,"seq"`, `, "seq"`},
		{`"len":100,"prev":"00000000"`, `"prev":"00000000","len":100`},
	} {
		if _, ok, more := ParseHead([]byte(strings.Replace(good, change[0], change[1], 1))); ok || more {
			t.Errorf("%s in the place of %s: ok %v, more %v", change[1], change[0], ok, more)
		}
	}
}

// TestPad: a padded body means the same, and the line's end moves by less than a
// sector; the given body is not written to.
func TestPad(t *testing.T) {
	body := NewBody("step", "k", at).Int("us", 3).CleanValue([]byte(`{"a":[1,2]}`)).Bytes()
	keep := bytes.Clone(body)
	plain, padded := Ends("0123456789abcdef")
	a, _ := AppendEnd(nil, 0, 1, 0, body, plain)
	b, _ := AppendEnd(nil, 0, 1, 0, body, padded)
	if grown := len(b) - len(a); grown < 1 || grown > 10 {
		t.Errorf("%d bytes longer", grown)
	}
	if !bytes.Equal(body, keep) {
		t.Errorf("the body was changed to %s", body)
	}
	h, ok, _ := ParseHead(b)
	if b = b[:len(b)-1]; !ok || !Verify(b, h) || !json.Valid(b) {
		t.Errorf("not valid: %s", b)
	}
	if got := Tag(b); string(got) != "01234567" {
		t.Errorf("tag %q", got)
	}
	if got := Member(b, h.Size, "value"); string(got) != `{"a":[1,2]}` {
		t.Errorf("value %s", got)
	}
	if got := Override(nil, b, h.Size, "us", []byte("4")); string(got) != strings.Replace(string(keep), `"us":3`, `"us":4`, 1) {
		t.Errorf("moved to another place: %s", got)
	}
}

// TestUnclosed compares it with a JSON decoder: at each place of a text, and with each byte
// of it changed.
func TestUnclosed(t *testing.T) {
	whole := `{"a":[1,-2.5e3,0,"x\\\"\u00e9€",{"b":{}}, [ ] ],"":true ,"d":null,"e":0.1E+7,"f":false}`
	decoder := func(text []byte) bool {
		text = bytes.TrimLeft(text, " \t\r\n")
		var v json.RawMessage
		err := json.NewDecoder(bytes.NewReader(text)).Decode(&v)
		return (len(text) == 0 || text[0] == '{') && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF))
	}
	for n := range len(whole) {
		if !Unclosed([]byte(whole[:n])) {
			t.Errorf("%q is a beginning", whole[:n])
		}
		for i := range n {
			for _, c := range []byte("\x00\t\n\"\\ux{}[],:-+.0e1tnf \xff") {
				b := []byte(whole[:n])
				b[i] = c
				if got := Unclosed(b); got != decoder(b) {
					t.Fatalf("%q: %v", b, got)
				}
			}
		}
	}
	for _, text := range []string{whole, whole + "}", `{"a":1]`, "x", "[1", "7", `{"a"}`, `{"a":1,}`, "{\"a\":\x00", `{"a":01`, `{"a":"\u00G`, `{"a":1.e`, `{"a":+`} {
		if Unclosed([]byte(text)) {
			t.Errorf("%q is no beginning of more", text)
		}
	}
	if deep := strings.Repeat(`{"a":[`, 50_000); !Unclosed([]byte(deep)) || Unclosed([]byte(deep+"}")) {
		t.Error("a deep one")
	}
}

// TestPrefixesOfHeads: a head that broke off within a number is none that no number can
// complete.
func TestPrefixesOfHeads(t *testing.T) {
	const before = `{"crc":"00000000","len":`
	for text, want := range map[string]bool{
		before:                                              true,
		before + `0`:                                        true,
		before + `123456789012345`:                          true,
		before + `1234567890123456`:                         false,
		before + `01`:                                       false,
		before + `100,"prev":"0000`:                         true,
		before + `100,"prev":"0000G`:                        false,
		before + `100,"prev":"00000000","seq":`:             true,
		before + `100,"prev":"00000000","seq":0`:            false,
		before + `100,"prev":"00000000","seq":0,"dur"`:      false,
		before + `100,"prev":"00000000","seq":12,"dur":1`:   true,
		before + `100,"prev":"00000000","seq":12,"dur":2`:   true,
		before + `100,"prev":"00000000","seq":12,"dur":12`:  false,
		before + `100,"prev":"00000000","seq":12,"dur":121`: false,
		before + `100,"prev":"00000000","seq":12,"dur":7}`:  false, // five members are no line
	} {
		if _, ok, more := ParseHead([]byte(text)); ok || more != want {
			t.Errorf("%s: ok %v, more %v", text, ok, more)
		}
	}
}

// TestVerifyNewline: a line holds no newline, whatever its checksum says.
func TestVerifyNewline(t *testing.T) {
	for text, want := range map[string]bool{`"x"`: true, "\"a\nb\"": false} {
		b, _ := Append(nil, 0, 1, 0, NewBody("step", "k", at).CleanValue([]byte(text)).Bytes())
		h, ok, _ := ParseHead(b)
		if got := Verify(b[:len(b)-1], h); !ok || got != want {
			t.Errorf("%q: %v, %v", text, ok, got)
		}
	}
}

// TestTag: the tag is a member of the line itself, never one of its value.
func TestTag(t *testing.T) {
	for _, tt := range []struct{ uid, value, want string }{
		{"0123456789abcdef", `1`, "01234567"},
		{"0123456789abcdef", `{"run":"fedcba98"}`, "01234567"},
		{"", `{"run":"fedcba98"}`, ""},
		{"", `",\\"run\\":\\"fedcba98"`, ""},
		{"short", `1`, ""},
		{"NOT HEX!", `1`, ""},
	} {
		plain, _ := Ends(tt.uid)
		text, _ := AppendEnd(nil, 0, 1, 0, NewBody("step", "k", at).CleanValue([]byte(tt.value)).Bytes(), plain)
		if got := string(Tag(text[:len(text)-1])); got != tt.want {
			t.Errorf("uid %q, value %s: tag %q, want %q", tt.uid, tt.value, got, tt.want)
		}
	}
}
