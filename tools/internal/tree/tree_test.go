package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const table = `
# a comment
.        4m   yes
cmd/pawl 2m   yes
tools    1m   no
*        90s  yes
total    10m
`

// checkout writes a repository with modules at several depths.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                     "module " + RootModule + "\n",
		"pawl.go":                    "package pawl\n",
		"run_test.go":                "package pawl\n",
		"testdata/mod/go.mod":        "module example.com/data\n",
		"testdata/mod/x.go":          "package x\n",
		"cmd/pawl/go.mod":            "module " + RootModule + "/cmd/pawl\n",
		"cmd/pawl/main.go":           "package main\n",
		"cmd/pawl/testdata/x.go":     "not go",
		"cmd/pawlx/x.go":             "package pawlx\n",
		"adapters/a/go.mod":          "module " + RootModule + "/adapters/a\n",
		"adapters/a/internal/b/b.go": "package b\n",
		"empty/go.mod":               "module " + RootModule + "/empty\n",
		"tools/go.mod":               "module " + RootModule + "/tools\n",
		"tools/tools.go":             "package tools\n",
		"tools/modules.txt":          table,
		".out/junk/go.mod":           "module example.com/junk\n",
		".out/junk/x.go":             "package x\n",
		".gitignore":                 "/.out/\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func gitInit(t *testing.T, root string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestModules(t *testing.T) {
	for _, withGit := range []bool{false, true} {
		root := checkout(t)
		if withGit {
			gitInit(t, root)
		}
		all, err := Modules(root)
		if err != nil {
			t.Fatal(err)
		}
		var dirs []string
		for _, m := range all {
			dirs = append(dirs, m.Dir)
		}
		// The table's order, then what it does not name; none without Go code,
		// none in testdata or in ignored folders.
		if want := []string{".", "cmd/pawl", "tools", "adapters/a"}; !slices.Equal(dirs, want) {
			t.Fatalf("git %v: modules in %q, want %q", withGit, dirs, want)
		}
		if got, want := all[0].GoFiles(), []string{"cmd/pawlx/x.go", "pawl.go", "run_test.go"}; !slices.Equal(got, want) {
			t.Errorf("the root's files %q, want %q", got, want)
		}
		if got, want := all[1].Files, []string{"go.mod", "main.go", "testdata/x.go"}; !slices.Equal(got, want) {
			t.Errorf("the command's files %q, want %q", got, want)
		}
		if got, want := all[1].GoFiles(), []string{"main.go"}; !slices.Equal(got, want) {
			t.Errorf("the command's source %q, want %q", got, want)
		}
		if m := all[2]; m.Released || m.Budget != time.Minute {
			t.Errorf("tools: %+v", m)
		}
		if m := all[3]; !m.Released || m.Budget != 90*time.Second || m.Path != RootModule+"/adapters/a" {
			t.Errorf("the default line was not used: %+v", m)
		}
	}
}

func TestFilesDeletedButTracked(t *testing.T) {
	root := checkout(t)
	gitInit(t, root)
	if out, err := exec.Command("git", "-C", root, "add", "pawl.go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(root, "pawl.go")); err != nil {
		t.Fatal(err)
	}
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(files, "pawl.go") {
		t.Error("a deleted file is listed")
	}
}

func TestRoot(t *testing.T) {
	root := checkout(t)
	got, err := Root(filepath.Join(root, "cmd", "pawl"))
	if err != nil || got != root {
		t.Errorf("Root = %q, %v; want %q", got, err, root)
	}
	if got, err := Root(t.TempDir()); err == nil {
		t.Errorf("Root outside the repository = %q, want an error", got)
	}
}

func TestHash(t *testing.T) {
	root := checkout(t)
	hash := func() string {
		h, err := Hash(root)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := hash()
	if err := os.WriteFile(filepath.Join(root, ".out", "junk", "x.go"), []byte("package y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if hash() != before {
		t.Error("output of a target changed the digest of the sources")
	}
	if err := os.WriteFile(filepath.Join(root, "pawl.go"), []byte("package pawl // changed\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if hash() == before {
		t.Error("a change of the source did not change the digest")
	}
}

func TestParseTableErrors(t *testing.T) {
	for _, text := range []string{
		"",
		"* 2m yes",                        // no total
		"total 10m",                       // no default
		"* 2m perhaps\ntotal 10m",         // neither yes nor no
		"* 2 yes\ntotal 10m",              // no unit
		"* -2m yes\ntotal 10m",            // negative
		"* 2m yes\ntotal 10m\ntools 1m\n", // a column is missing
	} {
		if _, err := ParseTable(text); err == nil {
			t.Errorf("ParseTable(%q) found nothing wrong", text)
		}
	}
}

// The repository's own table must hold what the promise about make test says.
func TestOwnTable(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := LoadTable(root)
	if err != nil {
		t.Fatal(err)
	}
	if tab.Total > 10*time.Minute {
		t.Errorf("make test may take %s; 10 minutes are promised", tab.Total)
	}
	if tab.Line("tools").Released || tab.Line("examples").Released || !tab.Line(".").Released {
		t.Error("tools and examples are for this repository, the root for everybody")
	}
}
