package pawl_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest/witness"
)

func init() { children["witness"] = witnessProgram }

// witnessProgram is the program that crash tests kill: a Map with nested steps, an
// error path that fails in some attempts, and a last step over everything. It tells
// the witness of each effect inside fn and of each acknowledgement after Step
// returned, and prints what the run returned.
//
// Environment: W_STORE, W_LOG, W_RUN, and W_PLANT for a planted bug.
func witnessProgram() error {
	store, err := pawl.Open(os.Getenv("W_STORE"))
	if err != nil {
		return err
	}
	w, err := witness.Open(os.Getenv("W_LOG"))
	if err != nil {
		return err
	}
	final, err := pawl.Do(context.Background(), store, os.Getenv("W_RUN"), func(ctx context.Context) (map[string]string, error) {
		fmt.Println("ready") // from here on a kill hits the work, not the start of a process
		items := make([]string, 30)
		for i := range items {
			items[i] = fmt.Sprintf("item-%02d", i)
		}
		attempt := pawl.Resumed(ctx).Attempt
		parts, err := pawl.Map(ctx, "work", items, func(s string) string { return s }, func(ctx context.Context, item string) (map[string]string, error) {
			part := map[string]string{}
			for _, name := range []string{"fetch", "judge"} {
				key := item + "/" + name
				v, err := step(ctx, w, name, key)
				if err != nil {
					return nil, err
				}
				part[key] = v
				if item[len(item)-1] == '7' && name == "fetch" && attempt%2 == 1 {
					return nil, errors.New("the tool is not there in this attempt")
				}
			}
			return part, nil
		}, pawl.Parallel(4))
		if err != nil {
			return nil, err
		}
		all := map[string]string{}
		for _, part := range parts {
			maps.Copy(all, part)
		}
		if all["report"], err = step(ctx, w, "report", "report"); err != nil {
			return nil, err
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(final)
}

// step does one witnessed step.
func step(ctx context.Context, w *witness.Log, name, key string) (string, error) {
	fn := func(context.Context) (string, error) {
		if err := w.Effect(key); err != nil {
			return "", err
		}
		time.Sleep(time.Millisecond) // room for a kill between effect and record
		// Another value on each call: only the acknowledged one may come back.
		return fmt.Sprintf("%s by %d at %d", key, os.Getpid(), time.Now().UnixNano()), nil
	}
	var v string
	var err error
	if os.Getenv("W_PLANT") == "no-journal" {
		v, err = fn(ctx)
	} else {
		v, err = pawl.Step(ctx, name, fn)
	}
	if err != nil {
		return "", err
	}
	return v, w.Acked(key, []byte(v))
}

// killRun starts the witness program again and again, killing it at random moments of
// its work, until it completes a run. Between two starts it calls tamper. It returns
// the number of kills, how many of them came after the witness had seen something new,
// and the final result.
func killRun(t *testing.T, rnd *rand.Rand, dir, run, plant string, tamper func()) (kills, hits int, final map[string][]byte) {
	t.Helper()
	log := filepath.Join(dir, "witness-"+run)
	size := func() int64 {
		fi, err := os.Stat(log)
		if err != nil {
			return 0
		}
		return fi.Size()
	}
	for start := 1; start <= 200; start++ {
		before := size()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=witness", "W_STORE="+filepath.Join(dir, "store"),
			"W_LOG="+log, "W_RUN="+run, "W_PLANT="+plant)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(pipe)
		first, _ := out.ReadString('\n')
		// Growing, so that a slow machine gets there too.
		delay := time.Duration(rnd.Int64N(int64(20*time.Millisecond) + int64(start)*int64(2*time.Millisecond)))
		timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
		rest, _ := io.ReadAll(out)
		err = cmd.Wait()
		timer.Stop()
		var exit *exec.ExitError
		switch {
		case err == nil:
			var m map[string]string
			if first != "ready\n" { // complete before: the result only
				rest = append([]byte(first), rest...)
			}
			if err := json.Unmarshal(rest, &m); err != nil {
				t.Fatalf("run %s: %v in %q", run, err, rest)
			}
			final = map[string][]byte{}
			for k, v := range m {
				final[k] = []byte(v)
			}
			return kills, hits, final
		case errors.As(err, &exit) && exit.ExitCode() == -1:
			kills++
			if size() > before {
				hits++
			}
		case bytes.Contains(stderr.Bytes(), []byte("the tool is not there")):
			// the error path: recorded, and tried again on the next start
		default:
			t.Fatalf("run %s start %d: %v after %q\n%s", run, start, err, first, stderr.String())
		}
		if tamper != nil {
			tamper()
		}
	}
	t.Fatalf("run %s: not complete after 200 starts", run)
	return 0, 0, nil
}

// TestWitnessUnderRandomKills (invariants 1 and 2) kills a real process at 200 random moments and lets
// the witness, not pawl, say whether anything acknowledged was lost or done again.
func TestWitnessUnderRandomKills(t *testing.T) {
	want := 200
	if testing.Short() {
		want = 20
	}
	if s := os.Getenv("PAWL_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		want = n
	}
	seed := testSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	kills, hits, runs, acks, repeated := 0, 0, 0, 0, 0
	for kills < want {
		runs++
		run := fmt.Sprint("run-", runs)
		n, hit, final := killRun(t, rnd, dir, run, "", nil)
		kills += n
		hits += hit
		report, err := witness.Check(filepath.Join(dir, "witness-"+run))
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Err(); err != nil {
			t.Errorf("%s after %d kills: %v", run, n, err)
		}
		if lost := report.Missing(final); len(lost) > 0 {
			t.Errorf("invariant 1: %s after %d kills: acknowledged and not in the result: %q", run, n, lost)
		}
		if len(final) != 61 {
			t.Errorf("%s: the result has %d parts, want 61", run, len(final))
		}
		acks += report.Acks
		repeated += len(report.Repeated)
	}
	if hits < kills/4 {
		t.Errorf("only %d of %d kills came while something happened", hits, kills)
	}
	t.Logf("%d kills over %d runs, %d after something new, %d acknowledgements, %d effects in doubt done again", kills, runs, hits, acks, repeated)
}

// TestWitnessHasTeeth plants bugs that the witness must find.
func TestWitnessHasTeeth(t *testing.T) {
	journal := func(dir string) string { return filepath.Join(dir, "store", "runs", "run.jsonl") }
	plants := map[string]struct {
		plant  string
		tamper func(t *testing.T, path string)
	}{
		"steps are not recorded": {plant: "no-journal"},
		"the journal is lost": {tamper: func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}},
		"the last acknowledged records are lost": {tamper: func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimRight(text, "\n"), []byte("\n"))
			if err := os.WriteFile(path, bytes.Join(lines[:len(lines)-10], nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for name, p := range plants {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(testSeed(t), 1))
			for range 5 {
				dir := t.TempDir()
				var tamper func()
				if p.tamper != nil {
					tampered := 0
					tamper = func() {
						text, err := os.ReadFile(journal(dir))
						if err == nil && bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n")) > 30 && tampered < 2 {
							tampered++
							p.tamper(t, journal(dir))
						}
					}
				}
				_, _, final := killRun(t, rnd, dir, "run", p.plant, tamper)
				report, err := witness.Check(filepath.Join(dir, "witness-run"))
				if err != nil {
					t.Fatal(err)
				}
				if report.Err() != nil || len(report.Missing(final)) > 0 {
					return
				}
			}
			t.Error("the witness saw nothing")
		})
	}
}

// testSeed returns PAWL_SEED, or a new seed, and prints it.
func testSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("PAWL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed: PAWL_SEED=%d", seed)
	return seed
}
