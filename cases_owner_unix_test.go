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
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

func init() { children["claim"] = claimChild }

// claimChild starts the run whenever it is told to, and answers whether it owns it, or how
// long it took to be refused, and with what words. An owner keeps the run for a line more.
func claimChild() error {
	s, err := pawl.Open(os.Getenv("H_STORE"))
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		began := time.Now()
		r, err := s.Begin(context.Background(), "r")
		if errors.Is(err, pawl.ErrLocked) {
			fmt.Println("locked", time.Since(began).Milliseconds(), err)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println("own")
		_, err = pawl.Step(r.Context(context.Background()), in.Text(), func(context.Context) (string, error) { return strings.Repeat("v", 500), nil })
		if err != nil || !in.Scan() {
			return errors.Join(err, errors.New("nobody ended the round"))
		}
		if err := r.Close(); err != nil {
			return err
		}
		fmt.Println("free")
	}
	return in.Err()
}

// C-45: one run is started twice at the same moment, a hundred times. Exactly one process
// owns it, the other is refused and within a second told by whom: process, host and since
// when; and all the time the journal is one that can be read.
func TestC45StartedTwice(t *testing.T) {
	rounds, batches := 100, 1
	switch {
	case os.Getenv("PAWL_LONG") != "":
		batches = 10
	case raceEnabled || testing.Short():
		rounds = 30
	}
	polls, slowest := 0, 0
	for range batches { // of runs of their own, since a poll reads the whole journal
		n, ms := startedTwice(t, rounds)
		polls, slowest = polls+n, max(slowest, ms)
	}
	if slowest > 1000 || polls < rounds*batches {
		t.Errorf("the slowest refusal took %d ms; %d polls", slowest, polls)
	}
	t.Logf("%d rounds, %d polls, the slowest refusal took %d ms", rounds*batches, polls, slowest)
}

// startedTwice does so many rounds with one run. It returns how often its journal was read
// meanwhile, and how many milliseconds the slowest refusal took.
func startedTwice(t *testing.T, rounds int) (polls, slowest int) {
	t.Helper()
	dir := filepath.Join(fastDir(t), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	ckNil(t, begin(t, s).Close())
	path := inspect(t, s).Path
	stop := make(chan struct{})
	read := make(chan int, 1)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				read <- n
				return
			default:
			}
			if _, _, err := journal.Read(path); err != nil {
				t.Errorf("poll %d: %v", n, err)
			}
		}
	}()
	var two [2]*racer
	for i := range two {
		two[i] = startRacer(t, "PAWL_TEST_CHILD=claim", "H_STORE="+dir, "GORACE=atexit_sleep_ms=0")
	}
	host, err := os.Hostname()
	ckNil(t, err)
	for round := range rounds {
		for _, r := range two {
			_, err := fmt.Fprintln(r.in, "round", round)
			ckNil(t, err)
		}
		var said [2]string
		for i, r := range two {
			said[i] = r.answer(t)
		}
		owner := 0
		if said[1] == "own" {
			owner = 1
		}
		refused := strings.SplitN(said[1-owner], " ", 3)
		if said[owner] != "own" || refused[0] != "locked" {
			t.Fatalf("round %d: %q", round, said)
		}
		took, err := strconv.Atoi(refused[1])
		ckNil(t, err)
		slowest = max(slowest, took)
		for _, part := range []string{fmt.Sprint("process ", two[owner].cmd.Process.Pid), "host " + host, "since 2"} {
			if !strings.Contains(refused[2], part) {
				t.Errorf("round %d: %q is not in %s", round, part, refused[2])
			}
		}
		_, err = io.WriteString(two[owner].in, "end\n")
		ckNil(t, err)
		if a := two[owner].answer(t); a != "free" {
			t.Fatalf("round %d: %q", round, a)
		}
	}
	close(stop)
	polls = <-read
	if info := inspect(t, s); info.Done != rounds || info.Attempts != rounds+1 {
		t.Errorf("%d rounds: info = %+v", rounds, info)
	}
	return polls, slowest
}

// C-45: who is refused at the very moment at which another becomes the owner is told by whom.
func TestC45RefusalNamesTheOwner(t *testing.T) {
	rounds := 300
	if raceEnabled || testing.Short() {
		rounds = 60
	}
	dir := filepath.Join(fastDir(t), "store")
	_, err := pawl.Open(dir)
	ckNil(t, err)
	var two [2]*racer
	for i := range two {
		two[i] = startRacer(t, "PAWL_TEST_CHILD=claim", "H_STORE="+dir, "GORACE=atexit_sleep_ms=0")
	}
	nobody, other := 0, 0
	for round := range rounds {
		for _, r := range two {
			_, err := fmt.Fprintln(r.in, "round", round)
			ckNil(t, err)
		}
		said := [2]string{two[0].answer(t), two[1].answer(t)}
		owner := 0
		if said[1] == "own" {
			owner = 1
		}
		if refusal := said[1-owner]; !strings.Contains(refusal, " since ") {
			nobody++
		} else if !strings.Contains(refusal, fmt.Sprintf("process %d on", two[owner].cmd.Process.Pid)) {
			other++
		}
		_, err = io.WriteString(two[owner].in, "end\n")
		ckNil(t, err)
		if a := two[owner].answer(t); a != "free" {
			t.Fatalf("round %d: %q", round, a)
		}
	}
	if nobody+other > 0 {
		t.Errorf("of %d refusals %d name nobody, and %d somebody else", rounds, nobody, other)
	}
}

// hold starts a process that holds the run "r" of a store.
func hold(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	r := startRacer(t, "PAWL_TEST_CHILD=hold", "H_STORE="+dir, "GORACE=atexit_sleep_ms=0")
	if a := r.answer(t); a != "holding" {
		t.Fatal(a)
	}
	return r.cmd
}

// C-47: the owner was killed, and its process ID belongs to another process by now, or the
// machine has been started anew. What the lock file says counts for nothing: the run is
// free at once, and nobody removes anything by hand.
func TestC47RecycledPID(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "other")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	unrelated := hold(t, other) // it lives, and even holds a lock, elsewhere
	owner := hold(t, dir)
	lockFile := filepath.Join(dir, "runs", "r.lock")
	text := ckRead(t, lockFile)
	pid := fmt.Sprint(owner.Process.Pid)
	if !strings.Contains(text, pid) {
		t.Fatalf("process %s is not in %s", pid, text)
	}
	recycled := strings.Replace(text, pid, fmt.Sprint(unrelated.Process.Pid), 1)
	for _, said := range []string{recycled, text, ""} { // while the owner lives, it counts for nothing either
		ckWrite(t, lockFile, said)
		_, err := run(t, s, func(context.Context) (int, error) { t.Error("two owners"); return 0, nil })
		wantErr(t, err, pawl.ErrLocked)
	}
	ckNil(t, owner.Process.Kill())
	owner.Wait() //nolint:errcheck // killed
	for i, said := range []string{recycled, strings.Replace(text, pid, "1", 1), strings.Replace(text, pid, fmt.Sprint(os.Getpid()), 1), "", "garbage"} {
		ckWrite(t, lockFile, said)
		if o, err := s.Owner("r"); o != nil || err != nil {
			t.Errorf("%q: owner %+v, %v", said, o, err)
		}
		began := time.Now()
		r := begin(t, s)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q: it took %v", said, took)
		}
		if n := r.Resumed().Attempt; n != i+2 {
			t.Errorf("%q: attempt %d", said, n)
		}
		ckNil(t, r.Close())
	}
}

// C-69: a store that is copied to another place while its run is held there goes on, whoever
// holds the original, and no byte of it says where it was.
func TestC69CopiedElsewhere(t *testing.T) {
	const place = "first-machine"
	from := filepath.Join(t.TempDir(), place, "store")
	s, err := pawl.Open(from)
	ckNil(t, err)
	calls := 0
	work := func(s *pawl.Store) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, _, err := pawl.LoadState[string](ctx)
			if err != nil {
				return 0, err
			}
			for _, key := range []string{"1", "2"} {
				if _, err := pawl.Step(ctx, key, func(context.Context) (string, error) { calls++; return "result", nil }); err != nil {
					return 0, err
				}
			}
			return 0, errors.Join(pawl.SaveState(ctx, "state"), errors.New("once more"))
		})
		return err
	}
	if err := work(s); err.Error() != "once more" {
		t.Fatal(err)
	}
	file, state := filepath.Join(from, "..", "file.json"), filepath.Join(from, "..", "state.jsonl")
	ckNil(t, ckOpen[int](t, file, pawl.KeepVersions(3)).Save(1))
	ckNil(t, openState[int](t, state).Save(1))
	hold(t, from)
	to := filepath.Join(t.TempDir(), "second")
	ckNil(t, os.CopyFS(to, os.DirFS(filepath.Dir(from))))
	there, err := pawl.Open(filepath.Join(to, "store"), pawl.MustExist())
	ckNil(t, err)
	clean := func(when string) {
		t.Helper()
		n := 0
		for name, text := range tree(t, to) {
			n++
			if strings.Contains(text, place) || strings.Contains(name, place) {
				t.Errorf("%s: %s names the first place: %q", when, name, text)
			}
		}
		if n < 9 {
			t.Errorf("%s: only %d files", when, n)
		}
	}
	clean("copied")
	if info := inspect(t, there); info.Owner != nil || info.Done != 2 {
		t.Errorf("info = %+v", info)
	}
	if err := work(there); err.Error() != "once more" || calls != 2 {
		t.Errorf("in the copy: %v, %d calls", err, calls)
	}
	wantErr(t, work(s), pawl.ErrLocked) // and the original is held all the while
	_, _, err = there.Compact(t.Context(), "r")
	ckNil(t, err)
	for _, path := range []string{inspect(t, there).Path, filepath.Join(to, "state.jsonl")} {
		text := ckRead(t, path)
		if _, tail, err := journal.Verify(strings.NewReader(text), int64(len(text)), func(*journal.Record) error { return nil }); err != nil || tail.Torn > 0 {
			t.Errorf("%s: %v, %d torn bytes", path, err, tail.Torn)
		}
	}
	if v := ckOpen[int](t, filepath.Join(to, "file.json")).State() + openState[int](t, filepath.Join(to, "state.jsonl")).State(); v != 2 {
		t.Errorf("the states of the copies are %d", v)
	}
	clean("gone on with")
}
