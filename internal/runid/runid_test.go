package runid

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// ids of cases C-25 to C-30, each of which must keep a file of its own.
var ids = []string{
	"org/model.v1", "a b", "a_b", "a--b", "a/b", "a%2Fb", "a%2fb", ".hidden", "x.json", "x",
	"../../outside", "/etc/x", "..", ".", `..\x`, `C:\x`, "a/../../b",
	"CON", "con", "nul", "aux.v1", "COM1", "com1", "com10", "run.", "run ", "run", "a:b", "a|b", "a?b", "lpt\u00b9",
	"Run-A", "run-a", "RUN-A", "caf\u00e9", "cafe\u0301", "^run-^a", "%63on", "~", "a~b",
	strings.Repeat("a", 300), strings.Repeat("a", 299) + "b", strings.Repeat("\U0001f600", 100), strings.Repeat("Z", 512),
	"\u2028", "new\nline", "tab\t", "\x7f",
}

func TestEveryIDHasAFileOfItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, id := range ids {
		if err := Check(id); err != nil {
			t.Errorf("Check(%q) = %v", id, err)
		}
		name := FileName(id)
		if len(name) > maxName {
			t.Errorf("FileName(%q) has %d bytes", id, len(name))
		}
		for i := range len(name) {
			if c := name[i]; !isPlain(c) && c != '^' && c != '%' && c != '~' {
				t.Errorf("FileName(%q) = %q contains %q", id, name, c)
			}
		}
		if name[0] == '.' || isReserved(name) {
			t.Errorf("FileName(%q) = %q is hidden or reserved", id, name)
		}
		if other, taken := seen[strings.ToLower(name)]; taken {
			t.Errorf("%q and %q share the file %q", id, other, name)
		}
		seen[strings.ToLower(name)] = id
		switch back, whole, ok := FromFileName(name); {
		case !ok:
			t.Errorf("FromFileName(%q) does not know the name of %q", name, id)
		case whole && back != id:
			t.Errorf("FromFileName(%q) = %q, want %q", name, back, id)
		case !whole && len(name) < maxName-3:
			t.Errorf("FileName(%q) = %q was hashed without need", id, name)
		}
	}
}

func TestRefusedIDs(t *testing.T) {
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("a", 513)} {
		if Check(id) == nil {
			t.Errorf("Check(%q) = nil, want an error", id)
		}
	}
}

func TestForeignNames(t *testing.T) {
	for _, name := range []string{"Run", "a b", "%zz", "%61", "^", "con", ".x", "a%2", "é"} {
		if id, _, ok := FromFileName(name); ok {
			t.Errorf("FromFileName(%q) = %q, want not ok", name, id)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, id := range ids {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if Check(id) != nil {
			return
		}
		name := FileName(id)
		back, whole, ok := FromFileName(name)
		if !ok || whole && back != id || !utf8.ValidString(name) || strings.ToLower(name) != name {
			t.Fatalf("FileName(%q) = %q, back %q %v %v", id, name, back, whole, ok)
		}
	})
}
