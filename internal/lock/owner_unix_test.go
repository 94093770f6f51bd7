//go:build !windows

package lock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// silent takes the lock at path as an owner does that has not come to write its text yet.
func silent(t *testing.T, path, text string) *Lock {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = tryLock(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &Lock{f: f, owner: self()}
}

// textOf is what an owner writes.
func textOf(t *testing.T, o Owner) string {
	t.Helper()
	l := silent(t, filepath.Join(t.TempDir(), "other.lock"), "")
	l.owner = o
	if err := l.writeOwner(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// dead returns the number of a process that has been killed. Its parent, which is this one, asks
// after it at the end of the test only.
func dead(t *testing.T, asked bool) int {
	t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if asked {
		c.Wait() //nolint:errcheck // killed
		return c.Process.Pid
	}
	t.Cleanup(func() { c.Wait() }) //nolint:errcheck // killed
	return c.Process.Pid
}

// saidBy returns whom a refusal names, and Probe.
func saidBy(t *testing.T, path string) (acquire, probe Owner) {
	t.Helper()
	l, err := Acquire(path)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		if err == nil {
			l.Release() //nolint:errcheck // the test has failed
		}
		t.Fatalf("not refused: %v", err)
	}
	probe, isHeld, err := Probe(path)
	if !isHeld || err != nil {
		t.Fatalf("probe: %v, %v", isHeld, err)
	}
	return held.Owner, probe
}

// TestRefusalNamesTheOwner: case C-45. Whoever is refused while another process is just taking the
// lock is told by whom: not by nobody, and not by the one that was killed before, whose text is
// still there.
func TestRefusalNamesTheOwner(t *testing.T) {
	host, _ := Self()
	since := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	killed := textOf(t, Owner{Host: host, PID: dead(t, true), Since: since})
	for name, text := range map[string]string{
		"no text":       "",
		"half a text":   killed[:len(killed)/2],
		"of a dead one": killed,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.lock")
			l := silent(t, path, text)
			wrote := make(chan error, 1)
			go func() {
				time.Sleep(5 * time.Millisecond)
				wrote <- l.writeOwner()
			}()
			acquire, probe := saidBy(t, path)
			if err := <-wrote; err != nil {
				t.Fatal(err)
			}
			if acquire != l.owner || probe != l.owner {
				t.Errorf("refused by %+v, held by %+v, want %+v", acquire, probe, l.owner)
			}
		})
	}
}

// TestProbeNamesTheOwner is TestRefusalNamesTheOwner for who looks only.
func TestProbeNamesTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.lock")
	l := silent(t, path, "")
	time.AfterFunc(5*time.Millisecond, func() { l.writeOwner() }) //nolint:errcheck // the text tells
	if o, held, err := Probe(path); o != l.owner || !held || err != nil {
		t.Errorf("%+v, %v, %v", o, held, err)
	}
}

// TestZombieOwner: a killed process of which its parent does not know yet owns nothing.
func TestZombieOwner(t *testing.T) {
	pid := dead(t, false)
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("NOT TESTED: no /proc/self/stat here")
	}
	for begin := time.Now(); running(pid); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatal("it counts as running")
		}
	}
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("the test is wrong, it is no zombie: %v", err)
	}
	if !running(os.Getpid()) || !running(1) {
		t.Error("who lives counts as dead")
	}
}

// TestRefusedByTheUnknown: who does not say who it is refuses too, and keeps nobody waiting for
// long; and what a container with the same host name says is believed then, though the process
// cannot be seen from here.
func TestRefusedByTheUnknown(t *testing.T) {
	host, _ := Self()
	since := time.Now().UTC().Truncate(time.Second)
	hidden := Owner{Host: host, PID: dead(t, true), Since: since}
	remote := Owner{Host: host + ".elsewhere", PID: dead(t, true), Since: since}
	for _, c := range []struct {
		text string
		want Owner
	}{{"", Owner{}}, {textOf(t, hidden), hidden}, {textOf(t, remote), remote}} {
		path := filepath.Join(t.TempDir(), "r.lock")
		silent(t, path, c.text)
		begin := time.Now()
		acquire, probe := saidBy(t, path)
		if acquire != c.want || probe != c.want {
			t.Errorf("%q: refused by %+v, held by %+v", c.text, acquire, probe)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%q: it took %v", c.text, took)
		}
	}
}

// TestFreeMeanwhile: who meets an owner that is just letting go gets the lock.
func TestFreeMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.lock")
	l := silent(t, path, "")
	time.AfterFunc(5*time.Millisecond, func() { l.f.Close() })
	mine, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.Release(); err != nil {
		t.Error(err)
	}
}
