package inbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

const uid = "0123456789abcdef0123456789abcdef"

var at = time.Date(2026, 12, 1, 9, 30, 0, 123456000, time.UTC)

func quiet(string) {}

func cancel() inbox.Entry {
	return inbox.Entry{Kind: inbox.KindCancel, UID: uid, Mail: "00112233445566ff", At: at, By: "ann", Reason: "too dear"}
}

func answer(key, text string) inbox.Entry {
	return inbox.Entry{Kind: inbox.KindAnswer, UID: uid, Key: key, At: at, By: "bob", Value: []byte(text)}
}

// store returns a directory as runs/ is, and the inbox of a run in it.
func store(t *testing.T) string { return filepath.Join(t.TempDir(), "r.inbox") }

func mustPost(t *testing.T, fsys vfs.FS, dir string, e inbox.Entry) inbox.Entry {
	t.Helper()
	e, err := inbox.Post(fsys, dir, e, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExample checks the example of spec/inbox-v1.md.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../spec/inbox-v1.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := store(t)
	for _, e := range []inbox.Entry{
		cancel(),
		{Kind: inbox.KindAnswer, UID: uid, Mail: "8899aabbccddeeff", Key: "approve/Ship it?", At: at, By: "ann", Value: []byte(`{"ok":true}`)},
	} {
		mustPost(t, vfs.OS, dir, e)
		got, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		// The page breaks the line in two.
		page := strings.ReplaceAll(string(text), "\n  \"", "\"")
		if !strings.Contains(page, string(got)) || !strings.Contains(page, e.Name()) {
			t.Errorf("the page does not have %s:\n%s", e.Name(), got)
		}
	}
}

func TestPostAndRead(t *testing.T) {
	hard := "a~1b/C d/\x7f\u2028é"
	entries := []inbox.Entry{
		answer("ask", `{"x": 1e400}`), // under vs, since it has white space
		answer("ask/deeper", `"\u2028"`),
		answer(hard, strings.Repeat("[", 500)+strings.Repeat("]", 500)),
		answer(strings.Repeat("long/", 200), `null`),
		cancel(),
		{Kind: "nudge", UID: uid, At: at.Add(time.Hour)}, // a kind of another day
	}
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "memory": memfs.New()} {
		t.Run(name, func(t *testing.T) {
			dir := store(t)
			if name == "memory" {
				dir = "r.inbox"
			}
			if got, err := inbox.Read(fsys, dir, uid); got != nil || err != nil {
				t.Errorf("absent: %v, %v", got, err)
			}
			posted := map[string]inbox.Entry{}
			for _, e := range entries {
				got := mustPost(t, fsys, dir, e)
				if e.Mail == "" {
					e.Mail = got.Mail
				}
				if len(got.Mail) != 16 || !reflect.DeepEqual(got, e) {
					t.Errorf("posted %+v\nis %+v", e, got)
				}
				posted[e.Name()] = got
			}
			got, err := inbox.Read(fsys, dir, uid)
			if err != nil || len(got) != len(entries) {
				t.Fatalf("%d entries, %v", len(got), err)
			}
			last := ""
			for _, e := range got {
				if name := e.Name(); !reflect.DeepEqual(e, posted[name]) || name <= last || len(name) > 255 {
					t.Errorf("%+v\nwas posted as\n%+v", e, posted[name])
				}
				last = e.Name()
				if err := inbox.Remove(fsys, dir, e, quiet); err != nil {
					t.Error(err)
				}
				if err := inbox.Remove(fsys, dir, e, quiet); err != nil {
					t.Errorf("once more: %v", err)
				}
			}
			if _, err := fsys.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the empty inbox is left: %v", err)
			}
		})
	}
}

func TestModes(t *testing.T) {
	dir := store(t)
	e := mustPost(t, vfs.OS, dir, cancel())
	for name, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, e.Name()): 0o600} {
		if fi, err := os.Lstat(name); err != nil || fi.Mode() != want && filepath.Separator == '/' {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
}

func TestTheSecondLearnsWhoWasFirst(t *testing.T) {
	dir := store(t)
	mustPost(t, vfs.OS, dir, cancel())
	second := cancel()
	second.By, second.Mail = "eve", ""
	_, err := inbox.Post(vfs.OS, dir, second, quiet)
	lost, ok := errors.AsType[*inbox.ExistsError](err)
	if !ok || !errors.Is(err, fs.ErrExist) || errors.Is(err, inbox.ErrInDoubt) || !reflect.DeepEqual(lost.Winner, cancel()) || !strings.Contains(err.Error(), `by "ann"`) {
		t.Errorf("%v", err)
	}
	if names, err := vfs.OS.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left: %q, %v", names, err)
	}
	// Another run under the same name is another thing, although the first mail lies there.
	second.UID = "fedcba98" + uid[8:]
	mustPost(t, vfs.OS, dir, second)
	for _, want := range []inbox.Entry{cancel(), second} {
		got, err := inbox.Read(vfs.OS, dir, want.UID)
		if err != nil || len(got) != 1 || got[0].By != want.By {
			t.Errorf("%v, %v", got, err)
		}
	}
	// A UID whose beginning another one has too.
	if got, err := inbox.Read(vfs.OS, dir, uid[:8]+"x"); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPostRefuses(t *testing.T) {
	for name, change := range map[string]func(e *inbox.Entry){
		"no kind":           func(e *inbox.Entry) { e.Kind = "" },
		"a kind with /":     func(e *inbox.Entry) { e.Kind = "../x" },
		"a long kind":       func(e *inbox.Entry) { e.Kind = strings.Repeat("k", 33) },
		"no UID":            func(e *inbox.Entry) { e.UID = "" },
		"no key":            func(e *inbox.Entry) { e.Key = "" },
		"a key that is not": func(e *inbox.Entry) { e.Key = "\xff" },
		"no time":           func(e *inbox.Entry) { e.At = time.Time{} },
		"a late time":       func(e *inbox.Entry) { e.At = at.AddDate(9000, 0, 0) },
		"no JSON":           func(e *inbox.Entry) { e.Value = []byte("{") },
		"two members":       func(e *inbox.Entry) { e.Value = []byte(`{"a":1,"a":2}`) },
		"too deep":          func(e *inbox.Entry) { e.Value = []byte(strings.Repeat("[", 501) + strings.Repeat("]", 501)) },
		"too long":          func(e *inbox.Entry) { e.Value = []byte(`"` + strings.Repeat("x", inbox.MaxSize) + `"`) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := store(t)
			e := answer("ask", "1")
			change(&e)
			if _, err := inbox.Post(vfs.OS, dir, e, quiet); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Error("an inbox was made")
			}
		})
	}
	if _, err := inbox.Post(vfs.OS, filepath.Join(t.TempDir(), "absent", "r.inbox"), cancel(), quiet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a store: %v", err)
	}
}

// sealed returns the text of an entry with these members behind its checksum.
func sealed(rest string) string {
	return fmt.Sprintf("{\"crc\":\"%08x\",%s\n", line.Checksum([]byte(rest)), rest)
}

// TestReadRefuses: what cannot be trusted is named and stays, and does not keep the rest from
// being read.
func TestReadRefuses(t *testing.T) {
	good := sealed(`"format":1,"kind":"cancel","at":"2026-12-01T09:30:00.123456Z","uid":"` + uid + `","mail":"m"}`)
	with := func(members string) string {
		return sealed(`"format":1,"kind":"answer","key":"k","at":"2026-12-01T09:30:00.123456Z","uid":"` + uid + `","mail":"m"` + members + `}`)
	}
	const name, key = "cancel-01234567.json", "answer-01234567-k.json"
	for what, c := range map[string]struct {
		name, text string
		want       error
	}{
		"whole":                     {name, good, nil},
		"an answer":                 {key, with(`,"value":{"a":1}`), nil},
		"empty":                     {name, "", journal.ErrCorrupt},
		"half":                      {name, good[:60], journal.ErrCorrupt},
		"without its end":           {name, good[:len(good)-1], journal.ErrCorrupt},
		"two lines":                 {name, good + good, journal.ErrCorrupt},
		"a flipped bit":             {name, strings.Replace(good, "cancel", "cancdl", 1), journal.ErrCorrupt},
		"NUL":                       {name, strings.Repeat("\x00", len(good)), journal.ErrCorrupt},
		"only a checksum":           {name, "{\"crc\":\"00000000\",\n", journal.ErrCorrupt},
		"newer":                     {name, sealed(`"format":2,"sort":[]}`), journal.ErrNewerFormat},
		"no format":                 {name, sealed(`"kind":"cancel"}`), journal.ErrCorrupt},
		"format 0":                  {name, sealed(`"format":0,"kind":"cancel"}`), journal.ErrCorrupt},
		"no JSON":                   {name, sealed(`"format":1,"kind":"cancel","uid":"` + uid + `"`), journal.ErrCorrupt},
		"white space":               {key, with(`,"value":{"a": 1}`), journal.ErrCorrupt},
		"a value that breaks lines": {key, with(",\"value\":\"\u2028\""), journal.ErrCorrupt},
		"a member twice":            {key, with(`,"uid":"x"`), journal.ErrCorrupt},
		"two values":                {key, with(`,"value":1,"vs":"1"`), journal.ErrCorrupt},
		"a bad value":               {key, with(`,"vs":"{"`), journal.ErrCorrupt},
		"no string":                 {key, with(`,"by":1`), journal.ErrCorrupt},
		"no time":                   {name, strings.Replace(good, "T09", " 09", 1), journal.ErrCorrupt},
		"no mail":                   {name, sealed(`"format":1,"kind":"cancel","at":"2026-12-01T09:30:00Z","uid":"` + uid + `"}`), journal.ErrCorrupt},
		"another name":              {"answer-01234567-l.json", with(""), journal.ErrCorrupt},
		"a name of our own":         {"cancel.json", good, journal.ErrCorrupt},
		"of another run":            {"cancel-fedcba98.json", "anything", nil},
		"hidden":                    {"._cancel-01234567.json", "anything", nil},
		"a dead sender's":           {"new-20261201T093000Z-0123456789abcdef", "{", nil},
		"an editor's":               {name + "~", "{", nil},
	} {
		t.Run(what, func(t *testing.T) {
			dir := store(t)
			other := answer("zzz", "2")
			mustPost(t, vfs.OS, dir, other)
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := inbox.Read(vfs.OS, dir, uid)
			if !errors.Is(err, c.want) || c.want != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%v", err)
			}
			n := 1
			if c.want == nil && strings.HasPrefix(c.text, "{\"crc") {
				n = 2
			}
			if len(got) != n || !slices.ContainsFunc(got, func(e inbox.Entry) bool { return e.Key == "zzz" }) {
				t.Errorf("%d entries: %v", len(got), got)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != c.text {
				t.Errorf("changed: %v", err)
			}
		})
	}
}

func TestDamagedMailIsStillInTheWay(t *testing.T) {
	dir := store(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	e := cancel()
	if err := os.WriteFile(filepath.Join(dir, e.Name()), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.Post(vfs.OS, dir, e, quiet); !errors.Is(err, fs.ErrExist) || !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

// TestSweep: what dead senders left goes when it is old, and nothing else.
func TestSweep(t *testing.T) {
	dir := store(t)
	e := mustPost(t, vfs.OS, dir, cancel())
	now := time.Now().UTC()
	old := "new-" + now.Add(-11*time.Minute).Format("20060102T150405Z") + "-0123456789abcdef"
	young := "new-" + now.Format("20060102T150405Z") + "-0123456789abcdef"
	for _, name := range []string{old, young, "new-plan", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := inbox.Remove(vfs.OS, dir, e, quiet); err != nil {
		t.Fatal(err)
	}
	names, err := vfs.OS.ReadDir(dir)
	if got := strings.Join(names, " "); err != nil || got != young+" new-plan notes.txt" {
		t.Errorf("left: %s, %v", got, err)
	}
	if err := inbox.RemoveAll(vfs.OS, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}
