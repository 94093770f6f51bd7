package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/tools/internal/tree"
)

func TestLacking(t *testing.T) {
	all := []need{
		{program: "here"},
		{program: "absent"},
		{program: "gcc", linux: true},
		{program: "strace", linux: true},
	}
	look := func(name string) (string, error) {
		if name == "here" {
			return "/bin/here", nil
		}
		return "", errors.New("not found")
	}
	for _, c := range []struct {
		race   bool
		system string
		want   string
	}{
		{true, "linux", "absent gcc strace"},
		{false, "linux", "absent strace"},
		{true, "darwin", "absent"},
	} {
		var names []string
		for _, n := range lacking(all, c.race, c.system, look) {
			names = append(names, n.program)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("race %v on %s: lacking %q, want %q", c.race, c.system, got, c.want)
		}
	}
}

func TestForeignInternal(t *testing.T) {
	const root = tree.RootModule
	for _, c := range []struct {
		module, imported string
		want             bool
	}{
		{root, root + "/internal/lock", false},
		{root + "/cmd/pawl", root + "/internal/lock", true},
		{root + "/cmd/pawl", root + "/web/internal/page", true},
		{root + "/cmd/pawl", root + "/cmd/pawl/internal/ui", false},
		{root + "/cmd/pawl", root + "/journal", false},
		{root + "/cmd/pawl", root, false},
		{root + "/cmd/pawl", "example.com/internal/x", false},
	} {
		if got := foreignInternal(c.module, c.imported); got != c.want {
			t.Errorf("%s imports %s: %v, want %v", c.module, c.imported, got, c.want)
		}
	}
}

func TestFuzzTargets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package m\nfunc FuzzRead(f *testing.F) {}\nfunc FuzzHelper(t *testing.T) {}\nfunc TestX(t *testing.T) {}\n",
		"b.go":      "package m\nfunc FuzzNoTest(f *testing.F) {}\n",
		"c_test.go": "package m\nfunc (x X) FuzzMethod(f *testing.F) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fuzzTargets(dir, tree.Module{Files: []string{"a_test.go", "b.go", "c_test.go"}})
	if want := []target{{"./.", "FuzzRead"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("fuzzTargets = %v, %v; want %v", got, err, want)
	}
}

func TestReadProfile(t *testing.T) {
	// The same block twice: one test binary did not run it, another did.
	shares, err := readProfile(strings.NewReader(`mode: set
m/a/x.go:1.2,3.4 3 0
m/a/x.go:5.2,6.4 1 0
m/a/x.go:1.2,3.4 3 1
m/b/y.go:1.2,3.4 2 0
`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shares["m/a"], (share{3, 4}); got != want {
		t.Errorf("m/a: %v, want %v", got, want)
	}
	if got, want := shares["m/b"], (share{0, 2}); got != want {
		t.Errorf("m/b: %v, want %v", got, want)
	}
}

func TestPick(t *testing.T) {
	p := &project{modules: []tree.Module{{Dir: "."}, {Dir: "cmd/pawl"}}}
	if got, err := p.pick([]string{"./cmd/pawl/"}); err != nil || len(got) != 1 || got[0].Dir != "cmd/pawl" {
		t.Errorf("pick = %v, %v", got, err)
	}
	if got, err := p.pick(nil); err != nil || len(got) != 2 {
		t.Errorf("pick of nothing = %v, %v", got, err)
	}
	if _, err := p.pick([]string{"cmd"}); err == nil {
		t.Error("a folder that is no module was picked")
	}
}

// A target of the Makefile that names a command that is not there would be found
// out only by whoever needs it.
func TestMakefileNamesCommands(t *testing.T) {
	root, err := tree.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "\t@$(DEV) "); ok {
			used[strings.Fields(rest)[0]] = true
		}
	}
	for _, c := range commands() {
		if !used[c.name] {
			t.Errorf("no target runs dev %s", c.name)
		}
		delete(used, c.name)
	}
	for name := range used {
		t.Errorf("the Makefile runs dev %s, which is not there", name)
	}
}
