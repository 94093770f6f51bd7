package spec_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/spec"
)

var update = flag.Bool("update", false, "rewrite vectors/*.vec and the list in vectors/README.md")

const (
	dir     = "vectors"
	readme  = dir + "/README.md"
	maxFile = 100_000 // bytes of a vector
)

// groups are the vectors as README.md lists them.
var groups = []struct {
	title string
	add   func(*set)
}{
	{"Kinds of records", kindVectors},
	{"Status", statusVectors},
	{"Unknown kinds and members", unknownVectors},
	{"Steps and epochs", stepVectors},
	{"Notes, once, labels, decisions", noteVectors},
	{"Series of tries", seriesVectors},
	{"Final failures and retries", finalVectors},
	{"Sleeps and waiting runs", waitVectors},
	{"Deaths", deathVectors},
	{"Use and terms", useVectors},
	{"Epochs of a step alone", aloneVectors},
	{"Questions", questionVectors},
	{"Cancelled runs", cancelVectors},
	{"Aliases", aliasVectors},
	{"Idempotency keys", idempotencyVectors},
	{"Values", valueVectors},
	{"States", stateVectors},
	{"States of scopes", scopeVectors},
	{"Patches", patchVectors},
	{"Compacted journals", compactVectors},
	{"Troubles, use and cancellation, compacted", compactTroubleVectors},
	{"Exports and imports", exportVectors},
	{"Limits", limitVectors},
	{"Tags", tagVectors},
	{"Fill, padding, missing newlines", fillVectors},
	{"First records and newer formats", firstVectors},
	{"Heads of lines", headVectors},
	{"Torn", tornVectors},
	{"Almost torn", almostTornVectors},
	{"Durable after all", claimVectors},
	{"Wrong bytes", flipVectors},
	{"Wrong lines", lineVectors},
	{"Edited files", editVectors},
}

// generate makes all vectors and the list of them.
func generate() (list []vec, index string) {
	var b strings.Builder
	for _, g := range groups {
		var s set
		g.add(&s)
		fmt.Fprintf(&b, "\n### %s (%d)\n\n| vector | expect | what it is about |\n|---|---|---|\n", g.title, len(s.list))
		for _, v := range s.list {
			fmt.Fprintf(&b, "| [%s](%s.vec) | %s | %s |\n", v.name, v.name, v.want.verdict, v.comment)
		}
		list = append(list, s.list...)
	}
	return list, fmt.Sprintf("%d vectors.\n", len(list)) + b.String()
}

// TestFiles compares the files with what the functions above make. Run with -update
// to rewrite them.
func TestFiles(t *testing.T) {
	list, index := generate()
	expected := map[string][]byte{}
	for _, v := range list {
		name := v.name + ".vec"
		if expected[name] != nil {
			t.Errorf("two vectors are named %s", v.name)
		}
		expected[name] = v.bytes()
		if n := len(expected[name]); n > maxFile {
			t.Errorf("%s has %d bytes, more than %d", name, n, maxFile)
		}
	}
	if *update {
		write(t, expected)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".vec" && expected[e.Name()] == nil {
			t.Errorf("%s is not made by anything here", e.Name())
		}
	}
	for name, text := range expected {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, text) {
			t.Errorf("%s is not what is made here; if that is meant, run: go test ./spec -update", name)
		}
	}
	checkIndex(t, index)
}

func write(t *testing.T, expected map[string][]byte) {
	old, err := filepath.Glob(dir + "/*.vec")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if expected[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range expected {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkIndex compares the list in README.md, which is everything behind a mark.
func checkIndex(t *testing.T, index string) {
	const mark = "<!-- made by go test ./spec -update -->\n"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, got, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s has no line %q", readme, mark)
	}
	if *update && got != index {
		if err := os.WriteFile(readme, []byte(head+mark+index), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != index {
		t.Errorf("the list in %s is not current: run go test ./spec -update", readme)
	}
}

// TestVectors looks whether the package hands on what the files say.
func TestVectors(t *testing.T) {
	if *update {
		t.Skip("the package holds the files as they were when it was built")
	}
	list, _ := generate()
	vectors := spec.Vectors()
	if !slices.IsSortedFunc(vectors, func(a, b spec.Vector) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the vectors are not sorted")
	}
	byName := map[string]spec.Vector{}
	for _, v := range vectors {
		byName[v.Name] = v
	}
	for _, v := range list {
		got, ok := byName[v.name]
		if !ok {
			t.Errorf("%s is not there", v.name)
			continue
		}
		if !bytes.Equal(got.Journal, v.file) || got.Comment != v.comment || got.Section != v.section || string(got.Expect) != v.want.verdict {
			got.Journal = nil
			t.Errorf("%s is not handed on as it was made: %+v", v.name, got)
		}
		if stated := len(v.want.lines); stated > 0 && got.Records < 0 {
			t.Errorf("%s does not state its records", v.name)
		}
	}
}

// TestParse has files that are no vectors, and header names to come.
func TestParse(t *testing.T) {
	for _, text := range []string{"", "expect: clean\n", "expect\n\n", "records: many\n\n", "records: 1\nrecords: 2\n\n", "steps: []\n\n", "state_sum: xyz\n\n", "notes: 1\n\n", "once: {}\n\n", "final: {}\n\n", "troubles: []\n\n", "used_by: {\"a\":1}\n\n", "within: x\n\n", "died: {}\n\n"} {
		if v, err := spec.Parse("x", []byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, v)
		}
	}
	v, err := spec.Parse("x", []byte("colour: blue\nexpect: torn\nresult_sum: e3069283\n\n\n\na: b\n\n"))
	if err != nil || v.Expect != spec.Torn || string(v.Journal) != "\n\na: b\n\n" || v.Records != -1 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := v.Result.Check([]byte("123456789"), false); err != nil {
		t.Error(err)
	}
	if v.Result.Check([]byte("12345678"), false) == nil || v.Result.Check(nil, false) == nil || v.Result.Check(nil, true) == nil {
		t.Error("a wrong text is accepted")
	}
}
