package main

import (
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
)

// runIn runs the command within the test.
func runIn(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(dir, string(rune('a'+i))))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	code = run(args, none, files[0], files[1])
	var text [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	return code, text[0], text[1]
}

// walk calls fn for every command that can be typed.
func walk(cmd *cobra.Command, fn func(cmd *cobra.Command, path []string)) {
	var down func(cmd *cobra.Command, path []string)
	down = func(cmd *cobra.Command, path []string) {
		if cmd.Hidden {
			return
		}
		fn(cmd, path)
		for _, sub := range cmd.Commands() {
			down(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	down(cmd, nil)
}

func commandTree(t *testing.T) *cobra.Command {
	t.Helper()
	a := &app{out: newOutput(os.Stdout, os.Getenv), stderr: os.Stderr, getenv: os.Getenv}
	return a.command()
}

// TestJSONPurity: with --json, standard output is empty or one JSON value (log: one
// a line), and if the exit code is not 0 standard error is one error object. For all
// commands, in all situations.
func TestJSONPurity(t *testing.T) {
	t.Setenv("PAWL_FORCE_TTY", "")
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	for _, run := range [][]string{{store, "good", "complete"}, {store, "bad", "failed"}, {store, "broken", "complete"}, {store, "new", "complete"}, {store, "asks", "asks"}, {filepath.Join(dir, "a.json"), "file"}} {
		if err := mkrun(run); err != nil {
			t.Fatal(err)
		}
	}
	if err := rewriteRecord(filepath.Join(store, "runs", "new.jsonl"), 1, `"format":1`, `"format":2`); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(store, "runs", "broken.jsonl")
	text, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(broken, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(dir)
	// Commands that change something work on a copy.
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	refs := [][]string{
		{},
		{"good"},
		{"bad"},
		{"broken"},
		{"new"},
		{"asks"},
		{"nothing"},
		{"go"},
		{""},
		{"a", "b", "c"},
		{filepath.Join(dir, "a.json")},
		{broken},
		{filepath.Join(dir, "none.json")},
		{"--bogus"},
		{"--help"},
	}
	stores := []string{store, filepath.Join(dir, "nowhere"), dir, "postgres://u:secret@h/d", ""}
	calls := 0
	variants := map[string][][]string{
		"answer": {{}, {"1"}, {"nothing", "1"}, {"page-4", "{"}, {"--file", "none"}}, "approve": {{}, {"nothing"}, {"--edit", "{"}}, "log": {{}, {"-n", "2"}, {"-f"}}, "show": {{}, {"--result"}}, "repair": {{"--dry-run"}, {}, {"--yes"}},
		"resolve": {{}, {"page-4", "--rerun"}, {"page-4", "--done", "1"}, {"nothing", "--done", "{"}}, "delete": {{}, {"--yes"}}, "steps": {{}, {"page-4"}, {"nothing"}}, "retry": {{}, {"page-4"}},
		"import": {{}, {"--id", "new"}, {"--journal"}},
	}
	walk(commandTree(t), func(cmd *cobra.Command, path []string) {
		if cmd.Name() == "demo" {
			return // it has a script
		}
		acts := slices.Contains([]string{"repair", "compact", "answer", "approve", "reject", "resolve", "cancel", "reopen", "retry", "clear", "delete", "import"}, cmd.Name())
		extras := variants[cmd.Name()]
		if extras == nil {
			extras = [][]string{{}}
		}
		for _, extra := range extras {
			for _, s := range stores {
				for _, ref := range refs {
					args := slices.Concat(path, ref, extra, []string{"--store", s, "--json"})
					for i := range args {
						if acts {
							args[i] = strings.Replace(args[i], dir, work, 1)
						}
					}
					code, stdout, stderr := runIn(t, args...)
					checkPure(t, args, code, stdout, stderr, cmd.Name() == "log" || cmd.Name() == "export")
					calls++
				}
			}
		}
	})
	t.Logf("%d calls", calls)
	if fingerprint(dir) != before {
		t.Error("something changed a file")
	}
}

// TestNoPayloads: what shows no results does not load them, however many there are.
func TestNoPayloads(t *testing.T) {
	const steps, payload = 3000, 10000
	store := filepath.Join(t.TempDir(), "store")
	if err := mkrun([]string{store, "big", "big", itoa(steps), itoa(payload)}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls"}, {"show", "big"}, {"log", "big", "-n", "20"}, {"log", "big"}, {"steps", "big", "--status", "failed"}, {"verify"}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code, _, stderr := runIn(t, append(args, "--store", store)...)
		runtime.ReadMemStats(&after)
		if code != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%q: %d kB", args, allocated>>10)
		if allocated > steps*payload/2 {
			t.Errorf("%q allocated %d bytes for %d bytes of results", args, allocated, steps*payload)
		}
	}
}

// TestInterrupt: Ctrl-C ends log -f at once, with 130, and what was printed is whole.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can send this signal to itself on Windows")
	}
	store := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Begin(t.Context(), "mine") // open, so that there is something to follow
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	safe := make(chan os.Signal, 1) // a signal that comes too early must not end the test
	signal.Notify(safe, os.Interrupt)
	defer signal.Stop(safe)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(300 * time.Millisecond):
				self.Signal(os.Interrupt)
			}
		}
	}()
	begin := time.Now()
	code, stdout, stderr := runIn(t, "log", "-f", "mine", "--store", store, "--json")
	checkPure(t, nil, code, stdout, stderr, true)
	if code != exitInterrupted || strings.Count(stdout, "\n") != 2 || !strings.Contains(stderr, `"code":"interrupted"`) {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func checkPure(t *testing.T, args []string, code int, stdout, stderr string, lines bool) {
	t.Helper()
	switch {
	case stdout == "", json.Valid([]byte(stdout)):
	case lines:
		for line := range strings.Lines(stdout) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: not JSON: %s", args, line)
			}
		}
	default:
		t.Errorf("%q: standard output is not JSON:\n%s", args, stdout)
	}
	if code == 0 {
		return
	}
	var e errorJSON
	if err := json.Unmarshal([]byte(stderr), &e); err != nil || e.Error.Code == "" || e.Error.Message == "" || e.Error.ExitCode != code {
		t.Errorf("%q: exit code %d, standard error (%v):\n%s", args, code, err, stderr)
	}
	if strings.Contains(stderr, "secret") {
		t.Errorf("%q: a password is repeated:\n%s", args, stderr)
	}
	if strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q: not one line:\n%s", args, stderr)
	}
}

// TestHelp: every command has a help text with examples that name it, and topics
// have a text.
func TestHelp(t *testing.T) {
	walk(commandTree(t), func(cmd *cobra.Command, path []string) {
		if len(path) > 0 && !cmd.Runnable() {
			if cmd.Long == "" || cmd.Short == "" {
				t.Errorf("topic %s has no text", cmd.Name())
			}
			return
		}
		code, stdout, stderr := runIn(t, append(path, "--help")...)
		if code != 0 || stderr != "" {
			t.Errorf("%s --help: exit code %d, %s", cmd.CommandPath(), code, stderr)
		}
		short, rest, _ := strings.Cut(stdout, "\n")
		if short != cmd.Short || !strings.HasPrefix(rest, "\nExamples:\n  ") || !strings.Contains(rest, cmd.CommandPath()) {
			t.Errorf("%s: the help does not begin with examples:\n%s", cmd.CommandPath(), stdout)
		}
		for line := range strings.Lines(stdout) {
			if width(strings.TrimSuffix(line, "\n")) > 110 && cmd.Parent() != nil && cmd.Parent().Name() != "completion" {
				t.Errorf("%s: a line of the help is %d columns wide: %s", cmd.CommandPath(), width(line), line)
			}
		}
		if _, ok := cmd.Annotations["exit"]; !ok && cmd.HasParent() && cmd.GroupID != "more" && cmd.Parent().Name() != "completion" {
			t.Errorf("%s: no exit codes", cmd.CommandPath())
		}
	})
}

// TestExitCodes: what the help says is what the program does.
func TestExitCodes(t *testing.T) {
	for _, code := range []int{exitOK, exitFailed, exitUsage, exitNotFound, exitConflict, exitNotFinished, exitCorrupt, exitUnreachable, exitUnconfirmed, exitInterrupted} {
		found := false
		for line := range strings.Lines(exitCodesHelp) {
			found = found || strings.HasPrefix(strings.TrimSpace(line), strings.TrimSpace(itoa(code))+" ")
		}
		if !found {
			t.Errorf("exit code %d is not explained", code)
		}
	}
}
