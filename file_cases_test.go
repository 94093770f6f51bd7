package pawl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

func TestC01toC14Damage(t *testing.T) {
	good := ckRead(t, saved(t, 3))
	line := strings.TrimSpace(good)
	py := func(state string) string {
		return `{"state": ` + state + `, "status": "in_progress", "saved_at": 1.5}`
	}
	for _, tt := range []struct {
		name, text string
		parts      []string
	}{
		{"C01 empty", "", []string{"corrupt: the file is empty, a power-loss signature (0 bytes, changed ", "nothing was changed; restore it from a copy"}},
		{"C02 NULs", strings.Repeat("\x00", len(good)), []string{fmt.Sprintf("the file is %d NUL bytes, a power-loss signature", len(good))}},
		{"C05 braces behind", good + "}}", []string{fmt.Sprintf("offset %d: corrupt: 2 bytes more behind the record", len(good))}},
		{"C05 bytes behind", good + "\x00\x00\x96\x2f", []string{fmt.Sprintf("offset %d: corrupt: 4 bytes more behind the record", len(good))}},
		{"C05 a second document", good + good, []string{fmt.Sprintf("offset %d: corrupt", len(good))}},
		{"C07 half", `{"steps": [`, []string{"offset 11: corrupt: $.steps: cut off after 11 bytes"}},
		{"C11 merge markers", "<<<<<<< HEAD\n" + line + "\n=======\n" + line + "\n>>>>>>> b\n", []string{"merge-conflict markers at line 1", "take one side whole"}},
		{"C12 BOM and CRLF", "\xef\xbb\xbf" + line + "\r\n", []string{"starts with a UTF-8 byte order mark, so an editor changed it; behind it the record is good", "save it as UTF-8 without"}},
		{"C12 UTF-16LE", "\xff\xfe{\x00\"\x00", []string{"encoded in UTF-16 (little endian)"}},
		{"C13 duplicate", py(`{"cursor":3,"cursor":9}`), []string{"$.state.cursor: duplicate member"}},
		{"C14 NaN", py(`{"cursor": 3, "agree": NaN}`), []string{"offset 33: corrupt: $.state.agree: NaN, which JSON does not have"}},
		{"C14 Infinity", py(`{"gain": -Infinity}`), []string{"$.state.gain: -Infinity, which JSON does not have"}},
		{"C18 half a pair", py(`{"notes": ["\ud83d"]}`), []string{"$.state.notes[0]: half of a surrogate pair"}},
		{"edited", strings.Replace(good, `"cursor":3`, `"cursor":4`, 1), []string{"$.state: valid JSON, but the checksum differs", `if the change is meant, remove the members "checksum" and "seal"`}},
		{"edited outside the state", strings.Replace(good, `"generation":3`, `"generation":4`, 1), []string{"something around the state was damaged or edited"}},
		{"not a checkpoint", `{"name": "x"}`, []string{"not a checkpoint"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, 3)
			ckWrite(t, path, tt.text)
			refuses(t, path, pawl.ErrCorrupt, tt.parts...)
			var e *pawl.RunError
			_, err := pawl.OpenFile[cursorState](path)
			if errors.As(err, &e) && strings.Contains(err.Error(), "offset") && e.Offset == 0 {
				t.Errorf("no offset in %v", err)
			}
		})
	}
}

// C-01, C-02, C-08: with kept versions a damaged file is gone back from, loudly,
// and its bytes are never lost.
func TestC08FallBack(t *testing.T) {
	for name, text := range map[string]string{"C01 empty": "", "C02 NULs": strings.Repeat("\x00", 100), "half": `{"state":{"cu`} {
		t.Run(name, func(t *testing.T) {
			path := saved(t, 3, pawl.KeepVersions(3))
			ckWrite(t, path, text)
			refuses(t, path, pawl.ErrCorrupt, "to go back to generation 2: pawl repair "+path+", or open with pawl.FallBack")

			var got []pawl.Recovery
			opts := []pawl.FileOption{pawl.KeepVersions(3), pawl.FallBack(func(r pawl.Recovery) { got = append(got, r) })}
			for range 2 { // a start that saves nothing changes nothing
				ck := ckOpen[cursorState](t, path, opts...)
				if s := ck.State(); s.Cursor != 2 || !ck.Resumed() {
					t.Errorf("went back to %+v", s)
				}
				if w := ck.Warnings(); len(w) != 1 || !strings.Contains(w[0], "damaged") {
					t.Errorf("warnings %q", w)
				}
				ckNil(t, ck.Close())
				if ckRead(t, path) != text {
					t.Error("opening changed the file")
				}
			}
			if len(got) != 2 || got[0].Generation != 2 || got[0].From != path+".v000000000002" || got[0].Path != path || !errors.Is(got[0].Err, pawl.ErrCorrupt) {
				t.Errorf("recovery %+v", got)
			}
			ck := ckOpen[cursorState](t, path, opts...)
			ckNil(t, ck.Save(cursorState{Cursor: 30}))
			ckNil(t, ck.Save(cursorState{Cursor: 40}))
			ckNil(t, ck.Close())
			if ckRead(t, got[0].Aside) != text {
				t.Error("the damaged file was not set aside")
			}
			if ck := ckOpen[cursorState](t, path); ck.State().Cursor != 40 || len(got) != 3 {
				t.Errorf("after saves: %+v, %d recoveries", ck.State(), len(got))
			}
			if names := strings.Join(ckNames(t, filepath.Dir(path)), " "); names != "run.json run.json.damaged run.json.v000000000002 run.json.v000000000004" {
				t.Errorf("there is %s", names)
			}
		})
	}

	t.Run("no good version", func(t *testing.T) {
		path := saved(t, 2, pawl.KeepVersions(2))
		ckWrite(t, path, "")
		ckWrite(t, path+".v000000000001", "")
		_, err := pawl.OpenFile[cursorState](path, pawl.FallBack(func(pawl.Recovery) { t.Error("went back") }))
		ckWant(t, err, pawl.ErrCorrupt, "there is no good version to fall back to")
	})
	t.Run("the newest good one", func(t *testing.T) {
		path := saved(t, 4, pawl.KeepVersions(4))
		ckWrite(t, path, "")
		ckWrite(t, path+".v000000000003", "x")
		ck := ckOpen[cursorState](t, path, pawl.FallBack(func(pawl.Recovery) {}))
		if ck.State().Cursor != 2 {
			t.Errorf("went back to %+v", ck.State())
		}
		ckNil(t, ck.Save(ck.State())) // nothing new, and yet the file is to be good again
		ckNil(t, ckOpenAgain(t, ck, path).Clear())
		if names := strings.Join(ckNames(t, filepath.Dir(path)), " "); names != "run.json.damaged run.json.v000000000001 run.json.v000000000002 run.json.v000000000003" {
			t.Errorf("after Clear there is %s", names)
		}
	})
	t.Run("absent or newer is not damaged", func(t *testing.T) {
		path := saved(t, 3, pawl.KeepVersions(3))
		opt := pawl.FallBack(func(pawl.Recovery) { t.Error("went back") })
		ckWrite(t, path, `{"pawl":99}`)
		_, err := pawl.OpenFile[cursorState](path, opt)
		ckWant(t, err, pawl.ErrNewerFormat)
		ckNil(t, os.Remove(path))
		ck := ckOpen[cursorState](t, path, opt)
		if ck.Resumed() || len(ck.Warnings()) != 1 {
			t.Errorf("resumed %t, warnings %q", ck.Resumed(), ck.Warnings())
		}
	})
}

// Invariant 4, C-03: cut at every byte.
func TestC03Cut(t *testing.T) {
	path := savedIn(t, fastDir(t), 3)
	good := ckRead(t, path)
	for k := range len(good) {
		ckWrite(t, path, good[:k])
		ck, err := pawl.OpenFile[cursorState](path)
		if err == nil {
			if s := ck.State(); k != len(good)-1 || s.Cursor != 3 {
				t.Errorf("cut at %d: opens with %+v, resumed %t", k, s, ck.Resumed())
			}
			ck.Close()
		} else if !errors.Is(err, pawl.ErrCorrupt) {
			t.Errorf("cut at %d: %v", k, err)
		}
		if ckRead(t, path) != good[:k] {
			t.Fatalf("cut at %d: the file changed", k)
		}
	}
}

// Rule 2, C-04: half a record in the temporary file of a killed writer is never believed,
// and the next save is not glued onto it.
func TestC04HalfWritten(t *testing.T) {
	path := savedIn(t, fastDir(t), 3)
	good := ckRead(t, path)
	for k := range len(good) {
		if k%7 != 0 {
			continue
		}
		ckWrite(t, path+".pawl-new", good[:k])
		ck := ckOpen[cursorState](t, path)
		if s := ck.State(); s.Cursor != 3 {
			t.Fatalf("resumed with %+v", s)
		}
		ckWrite(t, path+".pawl-new", good[:k]) // and by a writer without a lock
		ckNil(t, ck.Save(cursorState{Cursor: 5}))
		ckNil(t, ck.Save(cursorState{Cursor: 3, Notes: []string{"x"}}))
		ckNil(t, ck.Close())
		if n := strings.Count(ckRead(t, path), "\n"); n != 1 {
			t.Fatalf("the file has %d lines", n)
		}
	}
	if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left over: %q", names)
	}
}

// Invariant 4, C-06: every flipped bit of a file written by pawl is reported. (The format's own
// test flips the bits of files of every kind.)
func TestC06Flip(t *testing.T) {
	path := savedIn(t, fastDir(t), 3)
	good := []byte(ckRead(t, path))
	for i := range good {
		for bit := range 8 {
			if (i+bit)%4 != 0 && testing.Short() {
				continue
			}
			good[i] ^= 1 << bit
			ckNil(t, os.WriteFile(path, good, 0o600))
			ck, err := pawl.OpenFile[cursorState](path)
			if err == nil {
				t.Errorf("invariant 4: bit %d of byte %d: opens with %+v", bit, i, ck.State())
				ck.Close()
			} else if !errors.Is(err, pawl.ErrCorrupt) {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
			good[i] ^= 1 << bit
		}
	}
}

// C-09: the message has the full path, the size, what is wrong, where, and what to
// do next.
func TestC09Message(t *testing.T) {
	path := saved(t, 3)
	text := strings.Replace(ckRead(t, path), `"cursor":3`, `"cursor":NaN`, 1)
	ckWrite(t, path, text)
	t.Chdir(filepath.Dir(path))
	_, err := pawl.OpenFile[cursorState]("run.json")
	ckWant(t, err, pawl.ErrCorrupt, "pawl: open "+path+" offset 19: corrupt: $.state.cursor: NaN", fmt.Sprintf("(%d bytes, changed 2", len(text)), "nothing was changed; restore it from a copy, or move it away to start over")
}

// C-10: what this version does not know in a file it keeps.
func TestC10UnknownMembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ckWrite(t, path, `{"state": 1, "status": "in_progress", "saved_at": 1.5, "labels": {"é": [1e-07, "a b"]}, "owner": null}`)
	ck := ckOpen[int](t, path)
	ckNil(t, ck.Save(2))
	ckNil(t, ck.Complete("r"))
	if text := ckRead(t, path); !strings.Contains(text, `,"labels":{"\u00e9":[1e-07,"a b"]},"owner":null,"pawl":1,`) {
		t.Errorf("the file is %s", text)
	}
}

// C-53: newer formats and schemas are refused, untouched.
func TestC53Newer(t *testing.T) {
	path := saved(t, 1)
	ckWrite(t, path, `{"state": {"$ref": 7}, "status": "sleeping", "pawl": 99, "future": {}}`)
	refuses(t, path, pawl.ErrNewerFormat, "checkpoint format 99, this program reads up to 1", "use the newer program")

	same := func(b []byte) ([]byte, error) { return b, nil }
	path = saved(t, 1, pawl.Migrate(1, same), pawl.Migrate(2, same))
	refuses(t, path, pawl.ErrNewerFormat, "schema version 3 and this program has no migrations")
	_, err := pawl.OpenFile[cursorState](path, pawl.Migrate(1, same))
	ckWant(t, err, pawl.ErrNewerFormat, "schema version 3 and this program's is 2")
}

// C-51: a renamed field.
func TestC51Renamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	old := ckOpen[map[string]any](t, path)
	ckNil(t, old.Save(map[string]any{"cursor": 3, "notes": []string{"x"}}))
	ckNil(t, old.Close())
	before := ckRead(t, path)

	type state struct {
		Pos   int      `json:"pos"`
		Notes []string `json:"notes"`
	}
	_, err := pawl.OpenFile[state](path)
	ckWant(t, err, pawl.ErrMismatch, `$.cursor: unknown member (and the Go type has ["pos"], which the record does not)`, "nothing was changed; pawl.Migrate")

	rename := pawl.Migrate(1, func(b []byte) ([]byte, error) {
		return []byte(strings.Replace(string(b), `"cursor"`, `"pos"`, 1)), nil
	})
	_, err = pawl.OpenFile[state](path, rename)
	ckWant(t, err, pawl.ErrMismatch, "the state has no schema version and this program's is 2", "pawl.UnversionedAs(n)")

	ck := ckOpen[state](t, path, rename, pawl.UnversionedAs(1))
	if s := ck.State(); s.Pos != 3 || len(s.Notes) != 1 {
		t.Errorf("migrated to %+v", s)
	}
	if ckRead(t, path) != before {
		t.Error("opening changed the file")
	}
	ckNil(t, ck.Save(ck.State())) // unchanged, and yet to be written: the file has the old form
	ckNil(t, ck.Close())
	if text := ckRead(t, path); !strings.Contains(text, `"state":{"pos":3,"notes":["x"]}`) || !strings.Contains(text, `"schema":2`) {
		t.Errorf("saved as %s", text)
	}
	// The second start migrates nothing.
	never := pawl.Migrate(1, func([]byte) ([]byte, error) { return nil, errors.New("called") })
	if s := ckOpen[state](t, path, never).State(); s.Pos != 3 {
		t.Errorf("opened again as %+v", s)
	}
}

// C-52: a field of another type; the program's value is untouched because State
// hands out copies only.
func TestC52OtherType(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	ckWrite(t, path, `{"state": {"done":{"z":true},"cursor":"7","items":["k"]}, "status": "in_progress", "saved_at": 1.5}`)
	_, err := pawl.OpenFile[struct {
		Done   map[string]bool `json:"done"`
		Cursor int             `json:"cursor"`
		Items  []string        `json:"items"`
	}](path)
	ckWant(t, err, pawl.ErrMismatch, "$.cursor: a string does not fit a Go int", path)
}
