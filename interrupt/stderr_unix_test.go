//go:build unix

package interrupt_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStderrHoldsNobodyUp: the line that says why goes to a pipe that has lost its reader, or is
// full and read by nobody; the process ends as ever.
func TestStderrHoldsNobodyUp(t *testing.T) {
	for _, reader := range []string{"gone", "asleep"} {
		t.Run(reader, func(t *testing.T) {
			t.Parallel()
			r, w := fullPipe(t)
			if reader == "gone" {
				check(t, r.Close())
			}
			p := newHistory(t, "wait").prepare("", time.Minute)
			p.cmd.Stderr = w
			p.run()
			p.at("start")
			p.signal(syscall.SIGTERM)
			time.Sleep(100 * time.Millisecond)
			p.signal(syscall.SIGTERM)
			p.ends(143, 5*time.Second)
		})
	}
}

// TestOneLineForASlowReader: of many contexts one says why, and waits a little to get it said.
func TestOneLineForASlowReader(t *testing.T) {
	t.Parallel()
	r, w := fullPipe(t)
	p := newHistory(t, "wait").prepare("many", time.Minute)
	p.cmd.Stderr = w
	p.run()
	check(t, w.Close())
	p.at("many")
	p.signal(syscall.SIGTERM)
	time.Sleep(300 * time.Millisecond) // the grace of 100 is over
	text, err := io.ReadAll(r)
	check(t, err)
	p.ends(143, 5*time.Second)
	if says := strings.Trim(string(text), "\x00"); says != "still running 100ms after SIGTERM: exit 143; what has finished is recorded\n" {
		t.Errorf("it said %q", says)
	}
}

// fullPipe returns a pipe that is full of NUL.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	check(t, w.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	for err == nil {
		_, err = w.Write(make([]byte, 64))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return r, w
}

// TestOneSignalSentTwice: a program that sends a signal to a process and to its group, as GNU
// timeout does, does not take the grace away.
func TestOneSignalSentTwice(t *testing.T) {
	// Where the machine is so slow that the copies come far apart, they are two.
	for try := 1; ; try++ {
		h := newHistory(t, "steps")
		p := h.start("finishes", time.Minute)
		p.at("step-2")
		p.signal(syscall.SIGTERM)
		p.signal(syscall.SIGTERM)
		says := p.ends(143, 5*time.Second)
		if !strings.Contains(says, "a second signal") {
			h.saw("effect step-1", "acked step-1", "effect step-2", "acked step-2")
			return
		}
		if try == 5 {
			t.Fatalf("it said %q", says)
		}
	}
}

// TestNothingLeftBehind: what a program leaves that was interrupted is the store and nothing
// else.
func TestNothingLeftBehind(t *testing.T) {
	h := newHistory(t, "steps")
	p := h.start("ignores", 50*time.Millisecond)
	p.at("step-2")
	p.signal(syscall.SIGTERM)
	p.ends(143, 5*time.Second)
	names, err := filepath.Glob(h.path("*"))
	check(t, err)
	if len(names) != 2 { // the store and the witness
		t.Errorf("left: %q", names)
	}
}
