package pawl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// TestStateOtherName: two state journals that were exchanged are both whole, and open; but
// it is said, on every opening, that the name is another one. So it is of a renamed one.
func TestStateOtherName(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	save := func(name, state string) {
		t.Helper()
		ck := openState[string](t, path(name))
		if err := errors.Join(ck.Save(state), ck.Close()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name, state, was string) {
		t.Helper()
		ck := openState[string](t, path(name))
		defer ck.Close()
		if ck.State() != state {
			t.Errorf("%s: %q, want %q", name, ck.State(), state)
		}
		info, err := pawl.InspectFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		for what, warnings := range map[string][]string{"opened": ck.Warnings(), "inspected": info.Warnings} {
			all := strings.Join(warnings, "\n")
			if (was == "") != (all == "") || !strings.Contains(all, was) {
				t.Errorf("%s, %s: %q", name, what, all)
			}
		}
	}
	save("a.jsonl", "A")
	save("b.jsonl", "B")
	save("caf\u00e9 \u2028.json", "C")
	check("a.jsonl", "A", "")
	check("b.jsonl", "B", "")
	check("caf\u00e9 \u2028.json", "C", "")
	if err := errors.Join(os.Rename(path("a.jsonl"), path("x")), os.Rename(path("b.jsonl"), path("a.jsonl")), os.Rename(path("x"), path("b.jsonl"))); err != nil {
		t.Fatal(err)
	}
	check("a.jsonl", "B", `begun under the name "b", and its file is named "a" now`)
	check("b.jsonl", "A", `begun under the name "a"`)
	save("a.jsonl", "B2")
	check("a.jsonl", "B2", `begun under the name "b"`)
	if err := os.Rename(path("b.jsonl"), path("c.jsonl")); err != nil {
		t.Fatal(err)
	}
	check("c.jsonl", "A", `was it renamed`)
}
