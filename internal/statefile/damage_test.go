package statefile

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// Each kind of damage is called by its name, with the place where there is one.
func TestDamage(t *testing.T) {
	good := samples()["in progress"].Encode()
	line := strings.TrimSpace(string(good))
	wide := func(order binary.AppendByteOrder, mark bool) string {
		var b []byte
		s := line
		if mark {
			s = "\ufeff" + s
		}
		for _, u := range utf16.Encode([]rune(s)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	py := func(state string) string {
		return `{"state": ` + state + `, "status": "in_progress", "saved_at": 1.5}`
	}
	n := len(good)
	for _, tt := range []struct {
		name, text string
		offset     int
		want       string // beginning of the message
	}{
		{"C-01 empty", "", 0, "the file is empty, a power-loss signature"},
		{"C-02 NULs", strings.Repeat("\x00", 57), 0, "the file is 57 NUL bytes, a power-loss signature"},
		{"C-02 NULs from a place on", line[:100] + strings.Repeat("\x00", n-100), 100, "$"},
		{"white space", " \n", 0, "the file is nothing but white space"},
		{"C-05 braces behind", string(good) + "}}", n, "2 bytes more behind the record"},
		{"C-05 bytes behind", string(good) + "\x00\x00\x96\x2f", n, "4 bytes more behind the record"},
		{"C-05 NULs behind", string(good) + "\x00\x00\x00", n, "3 NUL bytes behind the record"},
		{"C-05 a second document", string(good) + line, n, "194 bytes more behind the record"},
		{"C-07 half", `{"steps": [`, 11, "$.steps: cut off after 11 bytes"},
		{"C-11 merge markers", "<<<<<<< HEAD\n" + line + "\n=======\n" + line + "\n>>>>>>> b\n", 0, "merge-conflict markers at line 1"},
		{"C-11 merge markers inside", "{\"state\":\n{},\n<<<<<<< HEAD\n\"a\": 1", 14, "merge-conflict markers at line 3"},
		{"C-12 BOM", "\xef\xbb\xbf" + line, 0, "starts with a UTF-8 byte order mark, so an editor changed it; behind it the record is good"},
		{"C-12 BOM and CRLF", "\xef\xbb\xbf" + line + "\r\n", 0, "starts with a UTF-8 byte order mark, so an editor changed it; behind it the record is good"},
		{"C-12 BOM and an edit", "\xef\xbb\xbf" + strings.Replace(line, ":3,", ": 3,", 1), 9, "$.state: starts with a UTF-8 byte order mark, so an editor changed it; behind it: valid JSON, but the checksum differs"},
		{"C-12 BOMs", strings.Repeat("\xef\xbb\xbf", 1<<20), 0, "starts with a UTF-8 byte order mark, so an editor changed it, again"},
		{"C-12 UTF-16LE", wide(binary.LittleEndian, true), 0, "encoded in UTF-16 (little endian)"},
		{"C-12 UTF-16BE", wide(binary.BigEndian, true), 0, "encoded in UTF-16 (big endian)"},
		{"C-12 UTF-16LE without a mark", wide(binary.LittleEndian, false), 0, "encoded in UTF-16 (little endian)"},
		{"C-12 UTF-16BE without a mark", wide(binary.BigEndian, false), 0, "encoded in UTF-16 (big endian)"},
		{"C-13 duplicate", py(`{"cursor":3,"cursor":9}`), 22, "$.state.cursor: duplicate member"},
		{"C-13 duplicate in the envelope", `{"state":1,"state":2}`, 11, "$.state: duplicate member"},
		{"C-14 NaN", py(`{"acc": 0.5, "agree": NaN}`), 32, "$.state.agree: NaN, which JSON does not have"},
		{"C-14 Infinity", py(`[1, Infinity]`), 14, "$.state[1]: Infinity, which"},
		{"C-14 -Infinity", py(`{"a": {"b": -Infinity}}`), 22, "$.state.a.b: -Infinity, which"},
		{"half a surrogate pair", py(`{"text": "half \ud83d pair"}`), 25, "$.state.text: half of a surrogate pair"},
		{"the other half", py(`["\udc00"]`), 12, "$.state[0]: half of a surrogate pair"},
		{"invalid UTF-8", py("[\"a\xff\"]"), 13, "$.state[0]: invalid UTF-8"},
		{"too deep", py(strings.Repeat("[", 501) + strings.Repeat("]", 501)), 510, "$.state[0][0]"},
		{"an array", `[1]`, 0, "not a checkpoint: the file does not hold a JSON object"},
		{"another object", `{"name": "x"}`, 0, `not a checkpoint: there is no member "status"`},
		{"no state", `{"status": "in_progress"}`, 0, `not a whole checkpoint: there is no member "state"`},
		{"no result", `{"status": "complete", "state": null}`, 0, `not a whole checkpoint: there is no member "result"`},
		{"a status nobody writes", `{"status": "done", "state": 1}`, 11, `$.status: neither "in_progress" nor "complete"`},
		{"in progress with a result", `{"status": "in_progress", "state": 1, "result": 2}`, 48, "$.result: there is a result although"},
		{"format", `{"pawl": 0, "status": "in_progress", "state": 1}`, 9, "$.pawl: not a whole number of at least 1"},
		{"generation", `{"generation": 1.5, "status": "in_progress", "state": 1}`, 15, "$.generation: not a whole number"},
		{"schema", `{"schema": "1", "status": "in_progress", "state": 1}`, 11, "$.schema: not a whole number"},
		{"text", "not JSON\n", 1, "$: invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Decode([]byte(tt.text))
			if err == nil {
				t.Fatalf("accepted as %+v", r)
			}
			e := err.(*Error)
			if !strings.HasPrefix(e.Error(), tt.want) {
				t.Errorf("the message is %q, want it to begin with %q", e, tt.want)
			}
			if e.Offset != int64(tt.offset) || e.Newer {
				t.Errorf("offset %d (newer %t), want %d", e.Offset, e.Newer, tt.offset)
			}
		})
	}
}

// C-53: a newer format is told from damage, and damage from a newer format.
func TestC53Newer(t *testing.T) {
	for _, text := range []string{
		`{"pawl": 99, "state": {"$ref": 1}, "status": "paused", "future": true}`,
		`{"pawl":99,"state":1,"status":"in_progress","checksum":"blake9:00"}`,
	} {
		_, err := Decode([]byte(text))
		if e, ok := err.(*Error); !ok || !e.Newer || e.Format != 99 || !strings.Contains(e.Reason, "format 99, this program reads up to 1") {
			t.Errorf("%s: %v", text, err)
		}
	}
	sealed := []byte(`{"pawl":99,"state":1,"status":"in_progress"`)
	sealed = append(appendHex(append(sealed, sealOpen...), Checksum(sealed)), sealClose...)
	if _, err := Decode(sealed); err == nil || !err.(*Error).Newer {
		t.Errorf("sealed: %v", err)
	}
	sealed[9] = '8'
	if _, err := Decode(sealed); err == nil || err.(*Error).Newer {
		t.Errorf("sealed and damaged: %v", err)
	}
}
