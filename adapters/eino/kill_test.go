package eino_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/pawltest/witness"
)

// boundaries are the places in the child at which a parent may have it killed: when a call has had its
// effect, and when it is acknowledged; both sides of a checkpoint. It sends itself the signal, so
// that each place is met exactly.
type boundaries struct {
	mu     sync.Mutex
	n      int
	killAt int
}

func (b *boundaries) pass() {
	b.mu.Lock() // the others stand still: nothing happens behind the death
	defer b.mu.Unlock()
	if b.n++; b.n == b.killAt {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
}

// outcome is what a child prints when it ends by itself.
type outcome struct {
	Boundaries int
	Answer     string
	Acked      map[string]string // what the agents went on with, by key
}

// child runs the program once and kills it at a boundary; 0 is none. It returns nil if it was
// killed.
func child(t *testing.T, dir, program string, killAt int) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // says where it hangs
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD="+program, "E_DIR="+dir, "E_KILL="+strconv.Itoa(killAt))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() == -1 && killAt > 0 {
		return nil
	}
	if err != nil {
		t.Fatalf("%s, to be killed at %d: %v\n%s%s", program, killAt, err, &stdout, &stderr)
	}
	var o outcome
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatalf("%s: %v in %q", program, err, stdout.String())
	}
	return &o
}

// judge lets the witness say whether a call that was acknowledged was made again or lost, and compares
// the last start with an undisturbed one.
func judge(t *testing.T, dir, what string, o, whole *outcome) *witness.Report {
	t.Helper()
	if shape(o.Answer) != shape(whole.Answer) {
		t.Errorf("%s: %q, undisturbed %q", what, o.Answer, whole.Answer)
	}
	for key := range whole.Acked {
		if _, ok := o.Acked[key]; !ok && !unasked(key) {
			t.Errorf("%s: nobody asked for %q", what, key)
		}
	}
	report, err := witness.Check(filepath.Join(dir, "witness"))
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	final := map[string][]byte{}
	for k, v := range o.Acked {
		final[k] = []byte(v)
	}
	lost := slices.DeleteFunc(report.Missing(final), unasked)
	if len(lost) > 0 {
		t.Errorf("%s: acknowledged and not what the last start had: %q", what, lost)
	}
	return report
}

// unasked says which calls a later start may go by: those of an agent inside of a tool that has ended,
// and those in front of an interrupt, whose checkpoint has their results.
func unasked(key string) bool {
	return strings.HasPrefix(key, "writer ") || key == "shop model 0" || strings.HasPrefix(key, "shop tool search")
}

// TestKilledAtEveryBoundary kills a real process at every boundary of its calls, once, and lets a witness
// judge what the next start did.
func TestKilledAtEveryBoundary(t *testing.T) {
	skipUnkillable(t)
	t.Parallel()
	whole := child(t, t.TempDir(), "team-stream", 0)
	acks, repeated := 0, 0
	for n := 1; n <= whole.Boundaries; n++ {
		dir := t.TempDir()
		what := fmt.Sprintf("killed at boundary %d of %d", n, whole.Boundaries)
		if o := child(t, dir, "team-stream", n); o != nil {
			t.Fatalf("%s: it was not", what)
		}
		report := judge(t, dir, what, child(t, dir, "team-stream", 0), whole)
		acks += report.Acks
		repeated += len(report.Repeated)
	}
	t.Logf("%d kills, %d calls a start; %d acknowledgements, %d calls in doubt made again", whole.Boundaries, len(whole.Acked), acks, repeated)
}

// TestKilledAgainAndAgain kills one run at every boundary, one after the other: every start comes
// one boundary further.
func TestKilledAgainAndAgain(t *testing.T) {
	skipUnkillable(t)
	t.Parallel()
	for _, program := range []string{"team", "approve", "approve-stream"} {
		t.Run(program, func(t *testing.T) {
			whole := child(t, t.TempDir(), program, 0)
			dir := t.TempDir()
			var last *outcome
			kills := 0
			for ; last == nil; kills++ {
				// A call's effect, which it has again at the next start, and then its acknowledgement.
				if last = child(t, dir, program, 1+kills%2); kills > 200 {
					t.Fatal("no end")
				}
			}
			if kills--; kills < whole.Boundaries/2 {
				t.Errorf("%d kills at %d boundaries", kills, whole.Boundaries)
			}
			report := judge(t, dir, fmt.Sprintf("killed %d times", kills), last, whole)
			t.Logf("%d kills, %d boundaries undisturbed; %d acknowledgements, %d calls in doubt made again", kills, whole.Boundaries, report.Acks, len(report.Repeated))
		})
	}
}

func skipUnkillable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a killed process has an exit code here")
	}
}

// shape is an answer without what is another on each call.
func shape(answer string) string {
	fields := strings.Fields(answer)
	for i, f := range fields {
		fields[i], _, _ = strings.Cut(f, "@")
	}
	return strings.Join(fields, " ")
}

// TestKillsHaveTeeth plants a bug, an agent without its durable handler, that the witness must find.
func TestKillsHaveTeeth(t *testing.T) {
	skipUnkillable(t)
	dir := t.TempDir()
	whole := child(t, t.TempDir(), "team-plain", 0)
	if o := child(t, dir, "team-plain", whole.Boundaries); o != nil {
		t.Fatal("it was not killed")
	}
	child(t, dir, "team-plain", 0)
	report, err := witness.Check(filepath.Join(dir, "witness"))
	if err != nil || report.Err() == nil {
		t.Errorf("the witness saw nothing: %v", err)
	}
}
