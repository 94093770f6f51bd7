package lock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/lock"
)

// TestMain is also the program that holds a lock: only a real process can die. With
// a second path it starts a child of its own first, which outlives it.
func TestMain(m *testing.M) {
	switch os.Getenv("PAWL_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "sleep":
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // until the other end is closed
	case "hold":
		if err := hold(os.Getenv("PAWL_TEST_LOCK")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func hold(path string) error {
	l, err := lock.Acquire(path)
	if err != nil {
		return err
	}
	if os.Getenv("PAWL_TEST_GRANDCHILD") != "" {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PAWL_TEST_CHILD=sleep")
		c.Stdin = os.Stdin
		if err := c.Start(); err != nil {
			return err
		}
	}
	fmt.Println("held by", l.Owner().PID)
	time.Sleep(time.Hour) // not select: without another goroutine that is a deadlock, and ends
	return l.Release()    // and keeps the lock from being collected
}

// holder starts a process that holds the lock at path.
func holder(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "PAWL_TEST_CHILD=hold", "PAWL_TEST_LOCK="+path), env...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill() //nolint:errcheck // it may be dead already
		c.Wait()         //nolint:errcheck // as above
		in.Close()       // ends a grandchild
	})
	text, err := bufio.NewReader(out).ReadString('\n')
	if want := fmt.Sprintf("held by %d\n", c.Process.Pid); err != nil || text != want {
		t.Fatalf("the holder says %q, %v", text, err)
	}
	return c
}

// soon takes the lock as soon as it is free, and reports how long that took.
func soon(t *testing.T, path string) time.Duration {
	t.Helper()
	start := time.Now()
	for time.Since(start) < 5*time.Second {
		if l, err := lock.Acquire(path); err == nil {
			release(t, l)
			return time.Since(start)
		}
	}
	t.Fatal("not free after the death of its owner")
	return 0
}

// TestKilledOwner: rule 18, no lock is stale: the kernel frees it at kill -9.
func TestKilledOwner(t *testing.T) {
	path := lockPath(t)
	for range 3 {
		c := holder(t, path)
		if o := refused(t, path); o.PID != c.Process.Pid {
			t.Errorf("the owner is said to be %+v", o)
		}
		if o, held, err := lock.Probe(path); !held || err != nil || o.PID != c.Process.Pid {
			t.Errorf("probe: %+v %v %v", o, held, err)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait() //nolint:errcheck // killed
		t.Logf("free after %v", soon(t, path))
		// What the dead owner wrote is still there, and means nothing.
		if o, held, err := lock.Probe(path); held || err != nil {
			t.Errorf("probe: %+v %v %v", o, held, err)
		}
	}
}

// TestChildrenDoNotInherit: rule 18, O_CLOEXEC: a child that outlives its parent
// does not keep the lock, nor one that outlives the release.
func TestChildrenDoNotInherit(t *testing.T) {
	path := lockPath(t)
	c := holder(t, path, "PAWL_TEST_GRANDCHILD=1")
	refused(t, path)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Process.Wait() //nolint:errcheck // killed; Cmd.Wait would wait for the grandchild's pipe too
	soon(t, path)

	l := acquire(t, path)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=sleep")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	release(t, l)
	release(t, acquire(t, path))
	in.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}
