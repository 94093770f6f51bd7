//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// TestSecondSignal: the first SIGTERM or Ctrl-C ends a command in good order; where it cannot,
// since it waits in a system call, the second one ends the process.
func TestSecondSignal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if err := mkrun([]string{store, "big", "big", "200", "10000"}); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		r, w, err := os.Pipe() // that nobody reads
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("pawl", "log", "--json", "--store", store, "big")
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			t.Errorf("it did not wait: %v", err)
		case <-time.After(time.Second): // it is in its write
		}
		for begin := time.Now(); ; {
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			select {
			case err = <-ended:
			case <-time.After(200 * time.Millisecond):
				if time.Since(begin) < 20*time.Second {
					continue
				}
				cmd.Process.Kill()
				t.Fatalf("%v does not end it", sig)
			}
			break
		}
		var status syscall.WaitStatus
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			status, _ = exit.Sys().(syscall.WaitStatus)
		}
		if !status.Signaled() || status.Signal() != sig {
			t.Errorf("%v: %v", sig, err)
		}
		r.Close()
	}
}

// TestNotUTF8: verify says so of a record that is not UTF-8, and no JSON that is printed
// holds such bytes, whatever the journal holds.
func TestNotUTF8(t *testing.T) {
	t.Setenv("PAWL_FORCE_TTY", "")
	store := filepath.Join(t.TempDir(), "store")
	if err := mkrun([]string{store, "r", "complete"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store, "runs", "r.jsonl")
	if err := rewriteRecord(path, 5, `"try":1`, "\"try\":1,\"more\":\"\xff\xc0\x80\xe2\x82\""); err != nil {
		t.Fatal(err)
	}
	for _, tty := range []string{"", "80"} {
		t.Setenv("PAWL_FORCE_TTY", tty)
		for _, args := range [][]string{{"log", "r"}, {"show", "r"}, {"steps", "r"}, {"ls"}, {"verify"}, {"log", "r", "-n", "8"}} {
			_, stdout, stderr := runIn(t, append(args, "--store", store, "--json")...)
			if !utf8.ValidString(stdout) || !utf8.ValidString(stderr) {
				t.Errorf("%q: %q %q", args, stdout, stderr)
			}
			for line := range bytes.SplitSeq(bytes.TrimSpace([]byte(stdout)), []byte("\n")) {
				if args[0] == "log" && !json.Valid(line) {
					t.Errorf("%q: %q", args, line)
				}
			}
		}
	}
	if code, stdout, _ := runIn(t, "verify", "--store", store); code != exitCorrupt || !bytes.Contains([]byte(stdout), []byte("record 5: the checksum is right, and the record is not UTF-8")) {
		t.Errorf("exit code %d, %s", code, stdout)
	}
}
