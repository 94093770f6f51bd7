package pawl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// cursorState is the state that most tests of files save.
type cursorState struct {
	Cursor int      `json:"cursor"`
	Notes  []string `json:"notes"`
}

// ckOpen opens a file and closes it at the end of the test.
func ckOpen[T any](t *testing.T, path string, opts ...pawl.FileOption) *pawl.Checkpoint[T] {
	t.Helper()
	ck, err := pawl.OpenFile[T](path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ck.Close() })
	return ck
}

// ckOpenAgain closes a checkpoint and opens its file without options.
func ckOpenAgain[T any](t *testing.T, ck *pawl.Checkpoint[T], path string) *pawl.Checkpoint[T] {
	t.Helper()
	ckNil(t, ck.Close())
	return ckOpen[T](t, path)
}

func ckNil(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ckWant checks the sentinel and that the message has all parts.
func ckWant(t *testing.T, err, sentinel error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", sentinel)
	}
	if sentinel != nil && !errors.Is(err, sentinel) {
		t.Errorf("the error %q does not match %q", err, sentinel)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the message %q lacks %q", err, p)
		}
	}
	var e *pawl.RunError
	if !errors.As(err, &e) || e.Op == "" || e.Path == "" {
		t.Errorf("the error %q is no RunError with Op and Path", err)
	}
}

func ckRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	ckNil(t, err)
	return string(b)
}

func ckWrite(t *testing.T, path, text string) {
	t.Helper()
	ckNil(t, os.WriteFile(path, []byte(text), 0o600))
}

// ckNames lists a directory without the lock file, which is always there.
func ckNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ckNil(t, err)
	names := []string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// saved makes a file with n acknowledged saves, cursor 1 to n, and returns its path.
func saved(t *testing.T, n int, opts ...pawl.FileOption) string {
	t.Helper()
	return savedIn(t, t.TempDir(), n, opts...)
}

func savedIn(t *testing.T, dir string, n int, opts ...pawl.FileOption) string {
	t.Helper()
	path := filepath.Join(dir, "run.json")
	ck := ckOpen[cursorState](t, path, opts...)
	for i := range n {
		ckNil(t, ck.Save(cursorState{i + 1, []string{"x"}}))
	}
	ckNil(t, ck.Close())
	return path
}

// refuses opens a damaged file several times, with an attempt to save if it opens
// against expectation, and checks that no byte of it changes.
func refuses(t *testing.T, path string, sentinel error, parts ...string) {
	t.Helper()
	before := ckRead(t, path)
	for range 2 {
		ck, err := pawl.OpenFile[cursorState](path)
		if err == nil {
			t.Errorf("it opens, with %+v", ck.State())
			_ = ck.Save(cursorState{Cursor: 1000})
			ck.Close()
		}
		ckWant(t, err, sentinel, append(parts, path)...)
	}
	if ckRead(t, path) != before {
		t.Error("the file changed")
	}
}

// fastDir returns a directory in memory where there is one: thousands of real
// flushes would take minutes.
func fastDir(t *testing.T) string {
	t.Helper()
	parent := t.TempDir()
	if fi, err := os.Stat("/dev/shm"); err == nil && fi.IsDir() {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "pawl-test-")
	ckNil(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
