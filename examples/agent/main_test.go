package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// command runs the program in this process, with a store in dir.
func command(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"-store", filepath.Join(dir, "store"), "-refunds", filepath.Join(dir, "refunds.txt")}, args...), &out, &errs, nil)
	return out.String(), errs.String(), code
}

// TestOffline runs without a model, up to the question; the played service is busy at first.
func TestOffline(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, code := command(t, dir)
	for _, want := range []string{
		"429 Too Many Requests: come back later",
		`turn/0/tool/1: look_up_order {"order":17}`,
		`may I {"tool":"refund","arguments":{"cents":8400,"order":9007199254740993}}`,
		"ticket-1 turn/1/tool/0/approve",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("without %q:\n%s", want, stderr)
		}
	}
	if stdout != "" || code != exitWaiting {
		t.Errorf("%q, %d", stdout, code)
	}
	if _, stderr, code := command(t, dir, "-task", "something else"); code != 1 || !strings.Contains(stderr, "$.task") {
		t.Errorf("another task under the same ID: %d\n%s", code, stderr)
	}
}

// TestBudget: the budget holds over all starts; with a higher one the run goes on.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if _, stderr, code := command(t, dir, "-budget", "0.0001"); code != 1 || !strings.Contains(stderr, "budget") || strings.Contains(stderr, "turn/1") {
			t.Errorf("%d\n%s", code, stderr)
		}
	}
	if _, stderr, code := command(t, dir, "-budget", "1"); code != exitWaiting || strings.Contains(stderr, "turn/0/model") {
		t.Errorf("%d\n%s", code, stderr)
	}
}

// TestKey: the key of the model's server gets neither into the store nor onto the screen, also if the
// server repeats it.
func TestKey(t *testing.T) {
	const key = "sk-not-to-be-seen"
	t.Setenv("OPENAI_API_KEY", key)
	srv := httptest.NewServer(newScript(fakeopenai.Config{Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("authorized by %q", r.Header.Get("Authorization"))
		}
		return fakeopenai.Reply{Status: http.StatusUnauthorized, Text: "Incorrect API key provided: " + key}
	}}, 0))
	defer srv.Close()
	dir := t.TempDir()
	_, stderr, code := command(t, dir, "-base-url", srv.URL+"/v1", "-model", "m")
	if code != 1 || !strings.Contains(stderr, "401 Unauthorized") || strings.Contains(stderr, key) {
		t.Errorf("%d\n%s", code, stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "store", "runs", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // a folder
		}
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("%s has the key", f)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-nope"},
		{"what"},
		{"-turns", "0"},
		{"-model", "m"},
		{"-base-url", "http://localhost"},
		{"-in-price", "-1"},
		{"-budget", "NaN"},
		{"-base-url", "http://localhost", "-model", "m", "-budget", "1"},
	} {
		if _, stderr, code := command(t, t.TempDir(), args...); code != exitUsage || !strings.Contains(stderr, "agent: ") {
			t.Errorf("%q: %d\n%s", args, code, stderr)
		}
	}
}
