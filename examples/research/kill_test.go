package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var killSeed = flag.Uint64("killseed", 0, "repeats the moments of an earlier TestKills")

// binDir holds the program that binary has built.
var binDir string

// binary builds the program once for all tests that need a process.
var binary = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "pawl-research-"); err != nil {
		return "", err
	}
	bin := filepath.Join(binDir, "research")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if binDir != "" {
		os.RemoveAll(binDir)
	}
	os.Exit(code)
}

// child starts the program as a process.
func (j job) child(more ...string) (*exec.Cmd, *bytes.Buffer) {
	j.t.Helper()
	if runtime.GOOS == "windows" {
		j.t.Skip("no signals here")
	}
	bin, err := binary()
	if err != nil {
		j.t.Fatal(err)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(j.t.Context(), bin, j.args(more...)...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	return cmd, &output
}

// TestKills kills the program at random moments until it is left to finish:
// after a random time, from before it has opened its store to after its last
// document; and right after a random analysis had its effect, which is when
// its acknowledgement is under way. Whatever the moments were, nothing
// acknowledged is done again or lost, and the report is that of a run that
// nobody killed.
func TestKills(t *testing.T) {
	seed := *killSeed
	for seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("seed %d (go test -run TestKills -killseed %d)", seed, seed)
	golden, err := os.ReadFile("internal/report/testdata/corpus.golden.md")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	const parallel = 6
	for range 5 {
		j := newJob(t)
		kills := 3 + rnd.IntN(6)
		for range kills {
			cmd, output := j.child("-pace", []string{"0s", "5ms", "40ms"}[rnd.IntN(3)], "-parallel", fmt.Sprint(parallel))
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if rnd.IntN(2) == 0 {
				time.Sleep(time.Duration(rnd.Int64N(int64(300 * time.Millisecond))))
			} else {
				j.afterEffects(rnd.IntN(40), ended)
			}
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			if err := <-ended; err == nil {
				break // it was faster
			} else if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() {
				t.Fatalf("%v\n%s", err, output)
			}
		}
		cmd, output := j.child()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("the last start: %v\n%s", err, output)
		}
		w := j.judge()
		if missing := j.missing(w); len(missing) > 0 {
			t.Errorf("acknowledged and lost: %v", missing)
		}
		if w.Keys != len(w.AckedKeys()) || w.Effects > w.Keys+kills*parallel {
			t.Errorf("witness after %d kills: %+v", kills, w)
		}
		if j.read("report.md") != string(golden) {
			t.Error("the report differs from that of an uninterrupted run")
		}
		t.Logf("up to %d kills, %d analyses of %d documents", kills, w.Effects, w.Keys)
	}
}

// afterEffects returns as soon as the witness has n more effects than now. It
// does not pause: the time between an effect and its acknowledgement is short.
// It gives the value it may take from ended back.
func (j job) afterEffects(n int, ended chan error) {
	j.t.Helper()
	effects := func() int {
		b, err := os.ReadFile(j.path("witness.log"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			j.t.Fatal(err)
		}
		return bytes.Count(b, []byte("effect "))
	}
	for begin := effects(); effects() <= begin+n; {
		select {
		case err := <-ended:
			ended <- err
			return
		default:
		}
	}
}

// TestInterrupt: Ctrl-C ends the program in order, and the next start goes on.
func TestInterrupt(t *testing.T) {
	j := newJob(t)
	cmd, output := j.child("-pace", "100ms")
	waitFor(t, func() bool {
		b, err := os.ReadFile(j.path("witness.log"))
		return err == nil && strings.Count(string(b), "acked") >= 8
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(output.String(), "interrupted; what was finished is recorded") {
		t.Errorf("%s\n%s", cmd.ProcessState, output)
	}
	before := j.judge()
	stderr := j.run(0)
	if !strings.Contains(stderr, "going on with run research, start 2") {
		t.Errorf("second start: %s", stderr)
	}
	if w := j.judge(); len(j.missing(w)) > 0 || before.Effects < 8 || before.Effects == w.Keys {
		t.Errorf("witness: %+v, then %+v", before, w)
	}
}

// TestTwoAtOnce: the second process on a run is refused and the first is not
// disturbed.
func TestTwoAtOnce(t *testing.T) {
	j := newJob(t)
	cmd, output := j.child("-pace", "100ms")
	waitFor(t, func() bool {
		_, err := os.Stat(j.path("witness.log"))
		return err == nil && len(j.read("witness.log")) > 0
	})
	if stderr := j.run(exitFailed); !strings.Contains(stderr, `run "research" is being worked on`) {
		t.Errorf("second process: %s", stderr)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("first process: %v\n%s", err, output)
	}
	if w := j.judge(); w.Effects != w.Keys {
		t.Errorf("witness: %+v", w)
	}
}

func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatal("waited for 30 s in vain")
		case <-time.After(2 * time.Millisecond):
		}
	}
}
