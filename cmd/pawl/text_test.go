package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"run-1": "run-1", "a b": "a b", "größe/日本": "größe/日本", "": `""`, " a": `" a"`, "a ": `"a "`, `"q"`: `"\"q\""`,
		"a\tb": `"a\tb"`, "\x1b[2J": `"\x1b[2J"`, "a\u202eb": `"a\u202eb"`, "a\u0085": `"a\u0085"`, "\xff": `"\xff"`, "a\u00a0b": `"a\u00a0b"`,
	} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestQuoteArg: a shell gives back the very bytes.
func TestQuoteArg(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	for _, in := range []string{"run-1", "a b", "it's", `$HOME "x" \n`, "a\nb\x1b[2J\u202e", "größe", "\x01'", "*", "~", "#a", ""} {
		out, err := exec.Command(sh, "-c", "printf %s "+quoteArg(in)).Output()
		if err != nil || string(out) != in {
			t.Errorf("%q as %s: %q, %v", in, quoteArg(in), out, err)
		}
	}
}

func TestSafeJSON(t *testing.T) {
	in := "a\u202e\u0085\x7f\u200b\U000e0001é日"
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	safe := safeJSON(text)
	var out string
	if err := json.Unmarshal(safe, &out); err != nil || out != in {
		t.Errorf("%s: %q, %v", safe, out, err)
	}
	if want := `"a\u202e\u0085\u007f\u200b\udb40\udc01é日"`; string(safe) != want {
		t.Errorf("%s, want %s", safe, want)
	}
}

func TestWords(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for got, want := range map[string]string{
		size(0): "0 B", size(999): "999 B", size(1000): "1.0 kB", size(99_960): "100 kB", size(131072): "131 kB", size(2_500_000): "2.5 MB", size(3e15): "3000 TB",
		age(now, now): "just now", age(now.Add(-5*time.Second), now): "5s ago", age(now.Add(-3*time.Minute), now): "3m ago",
		age(now.Add(-47*time.Hour), now): "47h ago", age(now.Add(-72*time.Hour), now): "3d ago", age(now.AddDate(-1, 0, 0), now): "2025-12-01",
		age(now.Add(time.Hour), now): "2026-12-01T13:00:00Z", age(time.Time{}, now): "-",
		took(90*time.Second + 4e8): "1m30s", took(1234567 * time.Microsecond): "1.23s", took(120333 * time.Microsecond): "120.33ms",
		cut("日本語", 5): "日本…", cut("abc", 3): "abc", cut("abcd", 3): "ab…",
		firstLine("a\nb\nc\n"): "a (+2 lines)", firstLine("a\x1b"): `a\x1b`, count(1, "run"): "1 run", count(0, "run"): "0 runs",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 5, ""},
		{"abc", 3, "abc"},
		{"abcdef", 3, "abc|def"},
		{"ab cd ef", 5, "ab cd|ef"},
		{"ab cdefgh", 4, "ab|cdef|gh"},
		{"日本語 x", 4, "日本|語 x"},
		{"abc def", 3, "abc|def"},
	} {
		if got := strings.Join(wrap(c.in, c.n), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	o := &output{w: bufio.NewWriter(&b), tty: true, width: 40}
	o.table([]string{"ID", "STATUS", "ERROR"}, [][]string{
		{"research", "✗ failed", "the model said no, and then it said nothing at all"},
		{"日本", "✓ complete", "-"},
	}, 2, 0)
	o.flush()
	want := "ID        STATUS      ERROR\n" +
		"research  ✗ failed    the model said no…\n" +
		"日本      ✓ complete  -\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestParseStore(t *testing.T) {
	for in, want := range map[string]string{
		".pawl": ".pawl", "/a b": "/a b", "file:x": "x", "file:/x": "/x", "file:///x%20y": "/x y", "file://localhost/x": "/x",
		"a:b": "a:b", `C:\store`: `C:\store`, "./postgres://x": "./postgres://x",
	} {
		if got, err := parseStore(in); err != nil || got != want {
			t.Errorf("parseStore(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "file:", "file://host/x", "file://", "postgres://a:secret@b/c", "postgresql://x", "s3://secret"} {
		got, err := parseStore(in)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("parseStore(%q) = %q, %v", in, got, err)
		} else if p := explain(err); p.exit != exitUsage || p.hint == "" {
			t.Errorf("parseStore(%q): %+v", in, p)
		}
	}
}

func TestNearest(t *testing.T) {
	got := nearest("run-typo", []string{"alpha", "run-1", "run-2", "zulu", "other"}, 2)
	if want := []string{"run-1", "run-2"}; !slices.Equal(got, want) {
		t.Errorf("nearest: %q, want %q", got, want)
	}
	if got := nearest("x", nil, 3); len(got) != 0 {
		t.Errorf("nearest of none: %q", got)
	}
}

// TestClassify: wrapping does not hide what an error means, and damage is never
// taken for something milder.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		exit int
		code string
	}{
		{&journal.CorruptError{}, 6, "corrupt"},
		{&journal.NewerFormatError{}, 1, "newer_format"},
		{pawl.ErrNotFound, 3, "not_found"},
		{&pawl.RunError{Err: fmt.Errorf("x: %w", pawl.ErrLocked)}, 4, "locked"},
		{pawl.ErrReplaced, 4, "replaced"},
		{pawl.ErrInvalid, 2, "invalid"},
		{&fs.PathError{Err: syscall.EACCES}, 7, "denied"},
		{&fs.PathError{Err: syscall.EIO}, 7, "unreachable"},
		{&fs.PathError{Err: syscall.ENOENT}, 3, "not_found"},
		{errors.New("x"), 1, "failed"},
		{errors.Join(pawl.ErrNotFound, pawl.ErrCorrupt), 6, "corrupt"},
	} {
		if p := explain(fmt.Errorf("wrapped: %w", c.err)); p.exit != c.exit || p.code != c.code {
			t.Errorf("%v: %d %s, want %d %s", c.err, p.exit, p.code, c.exit, c.code)
		}
	}
}

// TestClosedOutput: output that could not be written is a failure.
func TestClosedOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	stderr, err := os.Create(t.TempDir() + "/err")
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	if code := run([]string{"version"}, nil, full, stderr); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}
