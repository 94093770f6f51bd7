package release

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/tools/internal/tree"
)

const goMod = `module github.com/pawlgo/pawl/cmd/pawl

go 1.26.0

replace github.com/pawlgo/pawl => ../..

replace github.com/pawlgo/pawl/pgstore v0.0.0 => ../../pgstore

require (
	example.com/other v1.2.3
	github.com/pawlgo/pawl v0.0.0-00010101000000-000000000000
	github.com/pawlgo/pawl/pgstore v0.0.0 // indirect
)
`

const stripped = `module github.com/pawlgo/pawl/cmd/pawl

go 1.26.0

require (
	example.com/other v1.2.3
	github.com/pawlgo/pawl v0.0.1
	github.com/pawlgo/pawl/pgstore v0.0.1 // indirect
)
`

var versions = map[string]string{
	"github.com/pawlgo/pawl":          "v0.0.1",
	"github.com/pawlgo/pawl/pgstore":  "v0.0.1",
	"github.com/pawlgo/pawl/cmd/pawl": "v0.0.1",
}

func TestStrip(t *testing.T) {
	got, err := Strip([]byte(goMod), versions)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != stripped {
		t.Errorf("stripped:\n%s\nwant:\n%s", got, stripped)
	}
}

func TestStripKeepsNoForeignReplace(t *testing.T) {
	_, err := Strip([]byte("module m\n\nreplace example.com/other => ../other\n"), versions)
	if err == nil || !strings.Contains(err.Error(), "example.com/other") {
		t.Errorf("a replace that users would not get: %v", err)
	}
}

func TestOrder(t *testing.T) {
	mods := map[string][]byte{
		"a":    []byte("module a\nrequire b v0.0.0\nrequire elsewhere v0.0.0\n"),
		"b":    []byte("module b\nrequire root v0.0.0\n"),
		"root": []byte("module root\n"),
	}
	got, err := Order(mods)
	if want := []string{"root", "b", "a"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Order = %q, %v; want %q", got, err, want)
	}
	mods["root"] = []byte("module root\nrequire a v0.0.0\n")
	if got, err := Order(mods); err == nil {
		t.Errorf("Order of a circle = %q", got)
	}
}

func TestStageAndPublish(t *testing.T) {
	root, stage, proxy := t.TempDir(), t.TempDir(), t.TempDir()
	m := tree.Module{Path: "github.com/pawlgo/pawl/cmd/pawl", Dir: "cmd/pawl", Files: []string{"go.mod", "main.go", "sub/x.go"}}
	for name, text := range map[string]string{
		"LICENSE": "license", "cmd/pawl/go.mod": goMod, "cmd/pawl/main.go": "package main\n",
		"cmd/pawl/sub/x.go": "package sub\n", "cmd/pawl/leftover.txt": "not a source",
	} {
		if err := write(filepath.Join(root, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Stage(root, m, stage, versions); err != nil {
		t.Fatal(err)
	}
	if err := Publish(proxy, stage, m.Path, "v0.0.1"); err != nil {
		t.Fatal(err)
	}

	base := filepath.Join(proxy, filepath.FromSlash(m.Path), "@v")
	if got, err := os.ReadFile(filepath.Join(base, "v0.0.1.mod")); err != nil || string(got) != stripped {
		t.Errorf("the proxy's go.mod: %v\n%s", err, got)
	}
	if got, err := os.ReadFile(filepath.Join(base, "list")); err != nil || string(got) != "v0.0.1\n" {
		t.Errorf("the list of versions: %q, %v", got, err)
	}
	z, err := zip.OpenReader(filepath.Join(base, "v0.0.1.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, strings.TrimPrefix(f.Name, m.Path+"@v0.0.1/"))
	}
	slices.Sort(names)
	if want := []string{"LICENSE", "go.mod", "main.go", "sub/x.go"}; !slices.Equal(names, want) {
		t.Errorf("the zip holds %q, want %q", names, want)
	}
}
