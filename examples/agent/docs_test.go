package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// goBlocks returns the Go code in a page.
func goBlocks(t *testing.T, page string) []string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		out = append(out, m[1])
	}
	return out
}

// flat removes indentation.
func flat(code string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(code, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// TestQuoted: the code in the README and in the guide is this example's, word for word, between lines
// of "…"; so it is compiled, and the other tests run it.
func TestQuoted(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(flat(string(b)))
	}
	for page, least := range map[string]int{"README.md": 1, filepath.Join("..", "..", "docs", "agents.md"): 10} {
		blocks := goBlocks(t, page)
		if len(blocks) < least {
			t.Errorf("%s has %d blocks of Go", page, len(blocks))
		}
		for _, block := range blocks {
			for part := range strings.SplitSeq(flat(block), "…\n") {
				if !strings.Contains(all.String(), part) {
					t.Errorf("%s: this is not in the example:\n%s", page, part)
				}
			}
		}
	}
}

// TestTranscript runs the commands of the README and compares what they print.
func TestTranscript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the transcript is that of a Unix shell")
	}
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	bin, dir := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "agent")) // TestMain knows that name
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "pawl"), ".")
	build.Dir = "../../cmd/pawl"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatch(string(b))[1]
	var got strings.Builder
	for line := range strings.SplitSeq(want, "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "PAWL_STORE=")
		out, err := cmd.CombinedOutput()
		if _, ended := err.(*exec.ExitError); err != nil && !ended {
			t.Fatal(err)
		}
		got.WriteString(line + "\n" + strings.ReplaceAll(string(out), "Killed\n", "")) // some shells say so
	}
	if ordered(got.String()) != ordered(want) {
		t.Errorf("the transcript is not what happens:\n%s", got.String())
	}
}

// ordered sorts lines of tools that ran at once.
func ordered(transcript string) string {
	lines := strings.Split(transcript, "\n")
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && strings.Contains(lines[i+n], "/tool/") && strings.HasPrefix(lines[i+n], "agent: turn/") {
			n++
		}
		slices.Sort(lines[i : i+n])
		i += n + 1
	}
	return strings.Join(lines, "\n")
}
