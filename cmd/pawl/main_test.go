package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden files within the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pawl": main, "mkrun": mkrunMain})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PAWL_STORE", "")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each program takes a second to end
			e.Setenv("PAWL_FORCE_TTY", "")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"scrub":    scrub,
			"flip":     flip,
			"tear":     tear,
			"rewrite":  rewrite,
			"hash":     hashTree,
			"isjson":   isJSON,
			"waitfor":  waitFor,
			"drop":     func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(os.Remove(ts.MkAbs(args[0]))) },
			"truncate": truncate,
			"damage":   damage,
		},
	})
}

// exits CODE PROGRAM ARG... runs a program and checks its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

var scrubs = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`"(\w*_seconds|bytes(?:_\w+)?|pid|seed|len|offset)":[0-9.e-]+`), `"$1":N`},
	{regexp.MustCompile(`"(host|crc|prev|go|os|arch|pawl|library)":"[^"]*"`), `"$1":"X"`},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "UID"},
	{regexp.MustCompile(`\bbytes? \d+( to \d+)?`), "byte N"},
	{regexp.MustCompile(`took [0-9.]+[mµn]?s`), "took TOOK"},
	{regexp.MustCompile(`[0-9.]+[mµn]?s(: the next start)`), "TOOK$1"},
	{regexp.MustCompile(`(?m)^size\t\d+$`), "size\tN"},
	{regexp.MustCompile(`process \d+ on \S+`), "process PID on HOST"},
	{regexp.MustCompile(`\b\d+@\S+`), "PID@HOST"},
	{regexp.MustCompile(` failed \(try \d+\)|pawl: run \\?"second\\?" `), ""}, // the library's wording
}

// scrub SRC DST [COLUMN...] replaces in SRC what differs from run to run.
func scrub(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "WORK")
	for _, s := range scrubs {
		text = s.re.ReplaceAllString(text, s.by)
	}
	for _, col := range args[2:] { // numbers of columns that hold sizes and the like
		n, err := strconv.Atoi(col)
		ts.Check(err)
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if cells := strings.Split(l, "\t"); n <= len(cells) {
				cells[n-1] = "N"
				lines[i] = strings.Join(cells, "\t")
			}
		}
		text = strings.Join(lines, "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// flip FILE LINE changes a byte in the middle of a line.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b := []byte(lines[n-1])
	b[len(b)/2] ^= 1
	lines[n-1] = string(b)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o600))
}

// tear FILE appends what a crash in the middle of a write leaves.
func tear(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimRight(ts.ReadFile(args[0]), "\n") + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text+`{"crc":"00000000","len":500,"prev`), 0o600))
}

// rewrite FILE LINE OLD NEW replaces text in a record and mends its checksum, and
// the links of those behind it: as another program would have written it.
func rewrite(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(rewriteRecord(ts.MkAbs(args[0]), n, args[2], args[3]))
}

func truncate(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// damage DIR changes a letter in every file of a directory.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		path := filepath.Join(ts.MkAbs(args[0]), e.Name())
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, bytes.Replace(text, []byte("approved"), []byte("approvel"), 1), 0o600))
	}
}

// hash DIR FILE writes names, modes, sizes, times and digests of all files to FILE.
func hashTree(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(fingerprint(ts.MkAbs(args[0]))), 0o666))
}

func fingerprint(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(&b, "%s %v\n", path, err)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := [32]byte{}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(text)
		}
		fmt.Fprintf(&b, "%s %v %s %x\n", path, info.Mode(), info.ModTime().UTC().Format(time.RFC3339Nano), sum)
		return nil
	})
	return b.String()
}

// isjson FILE [LINES] checks that a file is JSON, or that each of its lines is.
func isJSON(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	if len(args) == 1 {
		if !json.Valid(text) {
			ts.Fatalf("%s is not JSON", args[0])
		}
		return
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if want := args[1]; strconv.Itoa(len(lines)) != want {
		ts.Fatalf("%d lines, want %s", len(lines), want)
	}
	for _, line := range lines {
		if !json.Valid(line) {
			ts.Fatalf("not JSON: %s", line)
		}
	}
}

// waitfor FILE [TEXT] waits until a file exists and holds a text.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	deadline := time.Now().Add(20 * time.Second)
	for {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && (len(args) == 1 || strings.Contains(string(text), args[1])) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: %v, %q", args[0], err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
