package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new terminal.
func openTerminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// TestConfirm: a person is asked, and anything but yes changes nothing.
func TestConfirm(t *testing.T) {
	t.Setenv("PAWL_FORCE_TTY", "")
	store := filepath.Join(t.TempDir(), "store")
	if err := mkrun([]string{store, "r", "complete"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store, "runs", "r.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		exit   int
	}{{"n\n", exitFailed}, {"\n", exitFailed}, {"\x04", exitFailed}, {"Y\n", exitOK}} {
		keyboard, tty := openTerminal(t)
		if _, err := keyboard.WriteString(c.answer); err != nil {
			t.Fatal(err)
		}
		stdout, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer stdout.Close()
		code := make(chan int, 1)
		go func() { code <- run([]string{"repair", "r", "--store", store}, tty, stdout, tty) }()
		select {
		case got := <-code:
			if got != c.exit {
				t.Errorf("%q: exit code %d, want %d", c.answer, got, c.exit)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%q: it hangs", c.answer)
		}
		// The terminal shows what is typed too, and may hand out both in pieces.
		shown, piece := "", make([]byte, 1<<16)
		for !strings.Contains(shown, "Repair r (11 records kept, 1 stretch given up)? [y/N] ") {
			n, err := keyboard.Read(piece)
			shown += string(piece[:n])
			if err != nil {
				t.Errorf("%q: shown: %q, %v", c.answer, shown, err)
				break
			}
		}
		now, err := os.ReadFile(path)
		if err != nil || string(now) == string(text) != (c.exit != exitOK) {
			t.Errorf("%q: the file was changed or not: %v", c.answer, err)
		}
	}
}

// TestConfirmDelete: the question names what goes, and a no keeps it.
func TestConfirmDelete(t *testing.T) {
	t.Setenv("PAWL_FORCE_TTY", "")
	store := filepath.Join(t.TempDir(), "store")
	if err := mkrun([]string{store, "r", "complete"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		exit   int
	}{{"n\n", exitFailed}, {"\x04", exitFailed}, {"y\n", exitOK}} {
		keyboard, tty := openTerminal(t)
		if _, err := keyboard.WriteString(c.answer); err != nil {
			t.Fatal(err)
		}
		stdout, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer stdout.Close()
		if got := run([]string{"delete", "r", "--store", store}, tty, stdout, tty); got != c.exit {
			t.Errorf("%q: exit code %d, want %d", c.answer, got, c.exit)
		}
		shown, piece := "", make([]byte, 1<<16)
		for !strings.Contains(shown, "Nothing brings it back. Delete r (complete, 4 finished steps, 2.") {
			n, err := keyboard.Read(piece)
			shown += string(piece[:n])
			if err != nil {
				t.Errorf("%q: shown: %q, %v", c.answer, shown, err)
				break
			}
		}
		if _, err := os.Stat(filepath.Join(store, "runs", "r.jsonl")); (err == nil) != (c.exit != exitOK) {
			t.Errorf("%q: deleted or not: %v", c.answer, err)
		}
	}
}

// TestConfirmNotAsked: only one of the two is a terminal, or JSON is asked for.
func TestConfirmNotAsked(t *testing.T) {
	_, tty := openTerminal(t)
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	for _, a := range []*app{{stdin: none, stderr: tty}, {stdin: tty, stderr: none}, {stdin: tty, stderr: tty, json: true}} {
		if p := explain(a.confirm(t.Context(), "?", "again")); p.exit != exitUnconfirmed {
			t.Errorf("%+v", p)
		}
	}
}
