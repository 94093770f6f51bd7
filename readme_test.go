package pawl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestReadme builds and runs the program of the README and compares the transcript.
func TestReadme(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the transcript is that of a Unix shell")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(lang string) string {
		m := regexp.MustCompile("(?s)```" + lang + "\n(.*?)```").FindSubmatch(readme)
		if m == nil {
			t.Fatalf("no %s block", lang)
		}
		return string(m[1])
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	requires := string(mod[strings.Index(string(mod), "require"):])
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": block("go"),
		"go.sum":  string(sum),
		"go.mod":  fmt.Sprintf("module example\n\ngo 1.26.0\n\nrequire github.com/pawlgo/pawl v0.0.0\n\nreplace github.com/pawlgo/pawl => %s\n\n%s\n", root, requires),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got strings.Builder
	for line := range strings.SplitSeq(block("console"), "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if _, died := err.(*exec.ExitError); err != nil && !died {
			t.Fatal(err)
		}
		// go run adds its own word on how the program ended.
		text := strings.ReplaceAll(string(out), "exit status 1\n", "")
		got.WriteString(line + "\n" + text)
	}
	if want := block("console"); got.String() != want {
		t.Errorf("the transcript is not what happens:\n%s", got.String())
	}
}
