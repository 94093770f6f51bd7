//go:build unix

package pawl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

func init() { children["race"] = raceChild }

// raceChild tries to become the owner of the run whenever it is told to, says in a file
// that everybody appends to when it does and when it lets go, and answers in a word.
func raceChild() error {
	s, err := pawl.Open(os.Getenv("H_STORE"))
	if err != nil {
		return err
	}
	log, err := os.OpenFile(os.Getenv("H_LOG"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		r, err := s.Begin(context.Background(), "r")
		if errors.Is(err, pawl.ErrLocked) {
			fmt.Println("locked")
			continue
		}
		if err != nil {
			return err
		}
		me := fmt.Sprintf("%d %d\n", os.Getpid(), r.Resumed().Attempt)
		if _, err := log.WriteString("own " + me); err != nil {
			return err
		}
		// Work that a second owner would disturb.
		key := fmt.Sprint("attempt ", r.Resumed().Attempt)
		v, err := pawl.Step(r.Context(context.Background()), key, func(context.Context) (int, error) { return os.Getpid(), nil })
		if err != nil || v != os.Getpid() {
			return fmt.Errorf("step: %d, %w", v, err)
		}
		if _, err := log.WriteString("free " + me); err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		fmt.Println("owned")
	}
	return in.Err()
}

type racer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startRacer(t *testing.T, env ...string) *racer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "PAWL_TEST_CHILD=race"), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it has ended by then
	return &racer{cmd, in, bufio.NewScanner(out)}
}

func (r *racer) answer(t *testing.T) string {
	t.Helper()
	if !r.out.Scan() {
		t.Fatalf("process %d ended", r.cmd.Process.Pid)
	}
	return r.out.Text()
}

// TestProcessesRaceForOneRun lets many processes ask for one run at once, again and
// again. A file outside the store tells whether two ever owned it together, whether every
// round had an owner, and whether each owner saw all that the ones before had done.
func TestProcessesRaceForOneRun(t *testing.T) { // invariant 9, C-45
	processes, rounds := 12, 40
	if os.Getenv("PAWL_LONG") != "" {
		processes, rounds = 100, 10_000
	}
	dir := t.TempDir()
	s, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	logPath := filepath.Join(dir, "log")
	if err := os.WriteFile(logPath, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	racers := make([]*racer, processes)
	for i := range racers {
		racers[i] = startRacer(t, "H_STORE="+filepath.Join(dir, "store"), "H_LOG="+logPath)
	}
	owned, locked := 0, 0
	for round := range rounds {
		for _, r := range racers {
			if _, err := io.WriteString(r.in, "go\n"); err != nil {
				t.Fatal(err)
			}
		}
		before := owned
		for _, r := range racers {
			switch a := r.answer(t); a {
			case "owned":
				owned++
			case "locked":
				locked++
			default:
				t.Fatalf("answer %q", a)
			}
		}
		if owned == before {
			t.Fatalf("round %d: nobody owned the run", round+1)
		}
		if (round+1)%500 == 0 {
			t.Logf("round %d", round+1)
		}
	}
	checkOwners(t, logPath, owned)
	if info := inspect(t, s); info.Attempts != owned || info.Done != owned {
		t.Errorf("%d attempts and %d steps in the journal, and the processes say %d", info.Attempts, info.Done, owned)
	}
	t.Logf("%d processes, %d rounds: owned %d times, refused %d times", processes, rounds, owned, locked)
}

// checkOwners reads what the owners wrote: they came one after the other, each with the
// attempt behind the last one's.
func checkOwners(t *testing.T, path string, owned int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	owner, attempt := "", 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case f[0] == "own" && owner == "":
			owner = f[1]
			if n, _ := strconv.Atoi(f[2]); n != attempt+1 {
				t.Fatalf("attempt %s follows attempt %d", f[2], attempt)
			}
			attempt++
		case f[0] == "free" && owner == f[1]:
			owner = ""
		default:
			t.Fatalf("%q while the owner is %q", line, owner)
		}
	}
	if attempt != owned {
		t.Errorf("the file has %d owners, the processes say %d", attempt, owned)
	}
}

func init() { children["paused"] = pausedChild }

// pausedChild does a step for each line it reads, in one attempt.
func pausedChild() error {
	s, err := pawl.Open(os.Getenv("H_STORE"))
	if err != nil {
		return err
	}
	_, err = pawl.Do(context.Background(), s, "r", func(ctx context.Context) (int, error) {
		fmt.Println("owner")
		in := bufio.NewScanner(os.Stdin)
		n := 0
		for ; in.Scan(); n++ {
			if _, err := pawl.Step(ctx, fmt.Sprint(n), func(context.Context) (int, error) { return n, nil }); err != nil {
				fmt.Println(err)
				return 0, err
			}
			fmt.Println("saved")
		}
		return n, in.Err()
	})
	return err
}

// An owner that is stopped is still one: nobody takes its run, and it goes on when it is
// let to.
func TestStoppedOwner(t *testing.T) {
	s := openStore(t)
	dir := filepath.Dir(filepath.Dir(mustPath(t, s)))
	r := startRacer(t, "PAWL_TEST_CHILD=paused", "H_STORE="+dir)
	if a := r.answer(t); a != "owner" {
		t.Fatal(a)
	}
	step := func() {
		if _, err := io.WriteString(r.in, "go\n"); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if a := r.answer(t); a != "saved" {
		t.Fatal(a)
	}
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	step() // it finds the line when it wakes up
	for range 20 {
		_, err := run(t, s, func(context.Context) (int, error) { t.Error("two owners"); return 0, nil })
		wantErr(t, err, pawl.ErrLocked)
		wantErr(t, s.Delete(t.Context(), "r"), pawl.ErrLocked)
		_, err = s.Clear(t.Context(), "r")
		wantErr(t, err, pawl.ErrLocked)
		time.Sleep(time.Millisecond)
	}
	if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if a := r.answer(t); a != "saved" {
		t.Fatal(a)
	}
	r.in.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if v, err := run(t, s, func(context.Context) (int, error) { return 0, errors.New("ran again") }); v != 2 || err != nil {
		t.Errorf("result = %d, %v", v, err)
	}
}

// While an owner is stopped somebody puts a backup in the place of its journal. The
// backup is a journal of the same run, and yet not the owner's file.
func TestRestoredUnderAStoppedOwner(t *testing.T) { // rule 17, C-74
	s := openStore(t)
	dir := filepath.Dir(filepath.Dir(mustPath(t, s)))
	r := startRacer(t, "PAWL_TEST_CHILD=paused", "H_STORE="+dir)
	if a := r.answer(t); a != "owner" {
		t.Fatal(a)
	}
	path := inspect(t, s).Path
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := io.WriteString(r.in, "go\n"); err != nil {
			t.Fatal(err)
		}
		if a := r.answer(t); a != "saved" {
			t.Fatal(a)
		}
	}
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path+".copy", backup, 0o600), os.Rename(path+".copy", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if a := r.answer(t); !strings.Contains(a, "errreplaced") {
		t.Errorf("the owner says %q", a)
	}
	r.cmd.Wait() //nolint:errcheck // it ends with that error
	if after, err := os.ReadFile(path); err != nil || string(after) != string(backup) {
		t.Errorf("the backup was changed: %v", err)
	}
}
