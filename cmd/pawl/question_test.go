package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestShapeWords(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 20) + `{"type":"string"}` + strings.Repeat("}", 20)
	for text, want := range map[string]string{
		`{"type":"boolean"}`:                 "true|false",
		`{"type":"boolean","nullable":true}`: "true|false|null",
		`{"type":"integer","minimum":0}`:     "whole number from 0",
		`{"type":"string"}`:                  "text",
		`{}`:                                 "any JSON",
		``:                                   "any JSON",
		`{"type":"strange"}`:                 "any JSON",
		`{"oneOf":[{"type":"string"}]}`:      `JSON of the schema {"oneOf":[{"type":"string"}]}`,
		"no schema\x1b":                      `JSON of the schema no schema\x1b`,
		`{"type":"array","nullable":true}`:   "[any JSON, …]",
		`{"type":"array","items":{},"maxItems":3}`:    "[any JSON, … at most 3]",
		`{"type":"object"}`:                           "{…}",
		`{"type":"object","additionalProperties":{}}`: "{any name: any JSON, …}",
		`{"type":"object","properties":{"b":{},"a: x\u001b":{"type":"number"}},"required":["b"],"additionalProperties":false}`: `{b: any JSON, "a: x\x1b"?: number}`,
		`{"type":"object","nullable":true,"properties":{"a":{}},"additionalProperties":false}`:                                 "{a?: any JSON}|null",
		deep: "[[[[[[[…], …], …], …], …], …], …]",
	} {
		if got := readShape([]byte(text)).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestShapeYesNo(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"boolean"}`: true,
		`{"type":"string"}`:  false,
		`{}`:                 false,
		`{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}`:                           true,
		`{"type":"object","properties":{"approved":{"type":"boolean"},"n":{}},"required":["approved"]}`:                    true,
		`{"type":"object","properties":{"approved":{"type":"boolean"},"n":{}},"required":["n"]}`:                           false,
		`{"type":"object","properties":{"approved":{"type":"string"}}}`:                                                    false,
		`{"type":"object","properties":{"approved":{"type":"boolean"},"reason":{"type":"string"}},"required":["reason"]}`:  true,
		`{"type":"object","properties":{"approved":{"type":"boolean"},"reason":{"type":"object"}},"required":["reason"]}`:  false,
		`{"type":"object","properties":{},"additionalProperties":{"type":"boolean"}}`:                                      false,
		`{"type":"array","items":{"type":"boolean"},"properties":{"approved":{"type":"boolean"}},"required":["approved"]}`: false,
		`{"type":"object","properties":{"approved":{"type":"boolean","nullable":true},"edited":{}},"required":["edited"]}`: true,
	} {
		if got := readShape([]byte(text)).yesNo(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTwoAnswers: of two that answer at once one wins, and the other one is told who did.
func TestTwoAnswers(t *testing.T) {
	t.Setenv("PAWL_FORCE_TTY", "")
	store := filepath.Join(t.TempDir(), "store")
	for i := range 10 {
		id := itoa(i)
		if err := mkrun([]string{store, id, "asks"}); err != nil {
			t.Fatal(err)
		}
		commands := []string{"approve", "reject"}
		var all [2]*exec.Cmd
		var out [2]bytes.Buffer
		for j, command := range commands {
			all[j] = exec.Command(os.Args[0], command, id, "--by", command, "--store", store)
			all[j].Args[0] = "pawl" // see TestMain
			all[j].Stderr = &out[j]
			if err := all[j].Start(); err != nil {
				t.Fatal(err)
			}
		}
		var codes [2]int
		var texts [2]string
		for j, cmd := range all {
			cmd.Wait() //nolint:errcheck // its exit code says more
			codes[j], texts[j] = cmd.ProcessState.ExitCode(), out[j].String()
		}
		won := slices.Index(codes[:], exitOK)
		if won < 0 || codes[1-won] != exitConflict || !strings.Contains(texts[1-won], "it was answered by "+commands[won]+" at ") {
			t.Errorf("%d: %q", codes, texts)
		}
	}
}

// TestReadable: what is inside something stays inside it, however long its texts are and
// whatever they hold.
func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		`"one\ntwo\r\n\n\tthree"`:              "one|two||    three",
		`""`:                                   `""`,
		`null`:                                 "null",
		`12345678901234567890`:                 "12345678901234567890",
		`[]`:                                   "[]",
		`{ }`:                                  "{}",
		`{"a":"x","b":{"c":[1,{"d":"true"}]}}`: `a: x|b:|  c:|    - 1|    -|      d: "true"`,
		`{"a":"x\ny","":"","c: d":" e"}`:       `a:|  x|  y|"": ""|"c: d": " e"`,
		`{"z":1,"a":2,"z":3}`:                  "z: 1|a: 2|z: 3",
		`["- a","b","","\u001b[2J"]`:           `- "- a"|- b|- ""|- \x1b[2J`,
		`{"a":"one two three four five six seven eight"}`: "a: one two three|  four five six seven|  eight",
		`{"a":"` + strings.Repeat("x", 40) + `"}`:         "a:|  " + strings.Repeat("x", 20) + "|  " + strings.Repeat("x", 20),
		`no JSON`: "no JSON",
	} {
		lines, whole := readableJSON([]byte(text), 100, 22)
		if got := strings.Join(lines, "|"); got != want || !whole {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, huge := range []string{
		`"` + strings.Repeat("x ", 1<<20) + `"`,
		`"` + strings.Repeat(`\n`, 1<<20) + `"`,
		`{"a":[` + strings.Repeat(`"x",`, 1<<18) + `1]}`,
		strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		lines, whole := readableJSON([]byte(huge), 30, 40)
		if whole || len(lines) > 30 || slices.ContainsFunc(lines, func(l string) bool { return width(l) > 40 }) {
			t.Errorf("%.20s: %d lines, %v", huge, len(lines), whole)
		}
	}
}

func TestShortJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"Go on?\nThe second line."`:             "Go on? (+1 line)",
		`" "`:                                    `" "`,
		`"-"`:                                    `"-"`,
		`{"a":["x",1],"b":"y"}`:                  `a: ["x",1], b: y`,
		`{"a":"x\ny","b":"true"}`:                `a: x (+1 line), b: "true"`,
		`{}`:                                     "{}",
		`[1, 2]`:                                 "[1,2]",
		`"` + strings.Repeat("x", 100_000) + `"`: "(100 kB)",
	} {
		if got := shortJSON([]byte(text)); got != want {
			t.Errorf("%.50s: %s, want %s", text, got, want)
		}
	}
}
