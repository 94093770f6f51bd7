package statefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var savedAt = time.Date(2025, 12, 1, 10, 49, 31, 123456000, time.UTC)

// samples are records of every kind, as they stand in a file.
func samples() map[string]*Record {
	extra := []Member{{[]byte(`"note"`), []byte(`{"by":"someone"}`)}}
	return map[string]*Record{
		"in progress": {Value: []byte(`{"cursor":3,"notes":["x","é😀","\"\\"]}`), At: savedAt, Schema: NoSchema, Generation: 3},
		"complete":    {Complete: true, Value: []byte(`{"ok":true}`), At: savedAt, Schema: 2, Generation: 12},
		"no result":   {Complete: true, Value: []byte(`null`), At: savedAt, Schema: NoSchema, Generation: 1},
		"exact":       {Value: []byte("{ \"é\" :\t[1]\n}"), Exact: true, At: savedAt, Schema: NoSchema, Generation: 7},
		"extra":       {Value: []byte(`[]`), At: savedAt, Schema: 0, Generation: 1, Extra: extra},
	}
}

func TestEncode(t *testing.T) {
	for name, want := range map[string]string{
		"in progress": `{"state":{"cursor":3,"notes":["x","\u00e9\ud83d\ude00","\"\\"]},"status":"in_progress","saved_at":1764586171.123456,"pawl":1,"generation":3,"checksum":"crc32c:26922190","seal":"crc32c:f0c0e7e4"}`,
		"complete":    `{"state":null,"status":"complete","result":{"ok":true},"completed_at":1764586171.123456,"pawl":1,"schema":2,"generation":12,"checksum":"crc32c:6cd9c4e4","seal":"crc32c:83ad9838"}`,
		"exact":       `{"state":{"\u00e9":[1]},"status":"in_progress","saved_at":1764586171.123456,"pawl":1,"generation":7,"exact":"{ \"\u00e9\" :\t[1]\n}","checksum":"crc32c:38ad11a3","seal":"crc32c:947fcbda"}`,
		"extra":       `{"state":[],"status":"in_progress","saved_at":1764586171.123456,"note":{"by":"someone"},"pawl":1,"schema":0,"generation":1,"checksum":"crc32c:764dbd76","seal":"crc32c:0ca83d2f"}`,
	} {
		if got := string(samples()[name].Encode()); got != want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, r := range samples() {
		text := r.Encode()
		for _, c := range text[:len(text)-1] {
			if c < ' ' || c > '~' {
				t.Errorf("%s: there is a byte %#x in the file", name, c)
			}
		}
		got, err := Decode(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := *r
		want.Sealed = true
		if !want.Exact {
			want.Value = appendASCII(nil, want.Value)
		}
		if !reflect.DeepEqual(got, &want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, &want)
		}
		var a, b any
		if json.Unmarshal(got.Value, &a) != nil || json.Unmarshal(r.Value, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the value is %s, want %s", name, got.Value, r.Value)
		}
		// A file without its newline, or with another, is whole.
		for _, end := range []string{"", "\r\n", "\n\n", " "} {
			got, err := Decode(append(bytes.Clone(text[:len(text)-1]), end...))
			if err != nil || !got.Sealed || got.Touched != (end != "") {
				t.Errorf("%s: with the end %q: %+v, %v", name, end, got, err)
			}
		}
	}
}

// C-06: every flipped bit of every file is reported.
func TestC06EveryBit(t *testing.T) {
	for name, r := range samples() {
		text := r.Encode()
		for i := range text {
			for bit := range 8 {
				text[i] ^= 1 << bit
				if got, err := Decode(text); err == nil {
					t.Errorf("%s: bit %d of byte %d (%q): accepted as %+v", name, bit, i, text[i], got)
				}
				text[i] ^= 1 << bit
			}
		}
	}
}

// Bursts of damage up to 32 bits long never pass either: that is what a CRC is
// good for, as long as the file's frame says where it is.
func TestEveryByteReplaced(t *testing.T) {
	for name, r := range samples() {
		text := r.Encode()
		for i := range text {
			was := text[i]
			for _, c := range []byte{0, ' ', '0', '1', '9', 'a', 'f', '"', '{', '}', ',', '\\', 0xff} {
				if c == was || i == len(text)-1 && c == ' ' {
					continue // white space behind the record says nothing
				}
				text[i] = c
				if got, err := Decode(text); err == nil {
					t.Errorf("%s: byte %d as %q: accepted as %+v", name, i, c, got)
				}
			}
			text[i] = was
		}
	}
}

// C-03: a file cut anywhere is refused, but for its newline.
func TestC03EveryCut(t *testing.T) {
	for name, r := range samples() {
		text := r.Encode()
		for k := range len(text) - 1 {
			got, err := Decode(text[:k])
			if err == nil {
				t.Fatalf("%s: cut at %d: accepted as %+v", name, k, got)
			}
			if k > 0 && !strings.Contains(err.Error(), fmt.Sprintf("cut off after %d bytes", k)) {
				t.Fatalf("%s: cut at %d: %v", name, k, err)
			}
		}
	}
}

// What Python's json.dump writes of the original's records.
func TestDecodeOriginal(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Record
	}{
		{
			`{"state": {"current_index": 2, "findings": ["a\u00e9\ud83d\ude00", 1e-07, 1e+16, 123456789012345678901234567890]}, "status": "in_progress", "saved_at": 1764586171.123456}`,
			Record{Value: []byte(`{"current_index": 2, "findings": ["a\u00e9\ud83d\ude00", 1e-07, 1e+16, 123456789012345678901234567890]}`), At: savedAt, Schema: NoSchema},
		},
		{
			`{"state": null, "status": "complete", "result": {"ok": true}, "completed_at": 1764586171.123456}`,
			Record{Complete: true, Value: []byte(`{"ok": true}`), At: savedAt, Schema: NoSchema},
		},
		{ // json.dump(record, f, indent=1, ensure_ascii=False)
			"{\n \"state\": {\n  \"é\": \"\u2028\"\n },\n \"status\": \"in_progress\",\n \"saved_at\": 5\n}",
			Record{Value: []byte("{\n  \"é\": \"\u2028\"\n }"), At: time.Unix(5, 0).UTC(), Schema: NoSchema},
		},
		{`{"state": null, "status": "in_progress", "saved_at": "yesterday"}`, Record{Value: []byte(`null`), Schema: NoSchema}},
		{`{"state": 1, "status": "in_progress", "saved_at": 1e300, "pawl": 1, "schema": 4, "generation": 9}`, Record{Value: []byte(`1`), Schema: 4, Generation: 9}},
	} {
		got, err := Decode([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.text, *got, tt.want)
		}
	}
}

// An accepted edit keeps what it does not concern.
func TestAcceptedEdit(t *testing.T) {
	text := string(samples()["extra"].Encode())
	edited := strings.Replace(text, `"state":[]`, `"state":[1]`, 1)
	_, err := Decode([]byte(edited))
	if err == nil || !strings.Contains(err.Error(), "$.state: valid JSON, but the checksum differs") || err.(*Error).Hint != AcceptEdit {
		t.Errorf("edited: %v", err)
	}
	seal := edited[strings.Index(edited, `,"seal"`) : len(edited)-2]
	half := strings.Replace(edited, seal, "", 1)
	if _, err := Decode([]byte(half)); err == nil || err.(*Error).Hint != AcceptEdit || !strings.Contains(err.Error(), `a "checksum" and no "seal"`) {
		t.Errorf("edit accepted by half: %v", err)
	}
	// A seal made anew does not make up for the checksum.
	forged := []byte(edited[:strings.Index(edited, `,"seal"`)])
	forged = append(appendHex(append(forged, sealOpen...), Checksum(forged)), sealClose...)
	if _, err := Decode(forged); err == nil || !strings.Contains(err.Error(), `$.state: valid JSON and a good "seal", but the "checksum" differs`) {
		t.Errorf("forged: %v", err)
	}
	whole := half[:strings.Index(half, `,"checksum"`)] + "}"
	r, err := Decode([]byte(whole))
	if err != nil || string(r.Value) != "[1]" || r.Schema != 0 || r.Generation != 1 || len(r.Extra) != 1 || r.Sealed {
		t.Errorf("edit accepted: %+v, %v", r, err)
	}
	// The exact bytes must agree with the value that was edited beside them.
	x := string(samples()["exact"].Encode())
	x = strings.Replace(x[:strings.Index(x, `,"checksum"`)]+"}", `[1]}`, `[2]}`, 1)
	if _, err := Decode([]byte(x)); err == nil || !strings.Contains(err.Error(), "$.exact: not another spelling") {
		t.Errorf("edited beside its exact bytes: %v", err)
	}
}

func FuzzASCII(f *testing.F) {
	for _, s := range []string{`"é😀\u2028"`, "{ \"a\" : [ 1 , \"\x7f \" ] }", `"\\\" \\"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || !json.Valid([]byte(s)) {
			t.Skip()
		}
		got := appendASCII(nil, []byte(s))
		a, err := decodeExact(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		if b, err := decodeExact([]byte(s)); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", s, got)
		}
		if again := appendASCII(nil, got); !bytes.Equal(again, got) {
			t.Fatalf("%q is not stable", got)
		}
	})
}

// decodeExact decodes JSON and keeps numbers as they are spelled: one may be too large
// for a float64.
func decodeExact(b []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func FuzzDecode(f *testing.F) {
	for _, r := range samples() {
		f.Add(r.Encode())
	}
	f.Add([]byte(`{"state": {"a": NaN}, "status": "in_progress", "saved_at": 1.5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		r.Generation = max(r.Generation, 1)
		again, err := Decode(r.Encode())
		if err != nil {
			t.Fatalf("%q is read, and written as something that is not: %v", b, err)
		}
		if !r.Exact {
			r.Value = appendASCII(nil, r.Value)
		}
		if !bytes.Equal(again.Value, r.Value) || again.Complete != r.Complete || again.Schema != r.Schema {
			t.Fatalf("%q: %+v became %+v", b, r, again)
		}
	})
}
