package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func openStore(t *testing.T) *pawl.Store {
	t.Helper()
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run starts run "r" once more with fn.
func run[R any](t *testing.T, s *pawl.Store, fn func(ctx context.Context) (R, error), opts ...pawl.RunOption) (R, error) {
	t.Helper()
	return pawl.Do(t.Context(), s, "r", fn, opts...)
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func inspect(t *testing.T, s *pawl.Store) runs.Info {
	t.Helper()
	return mustInspect(t, s, "r")
}

func mustInspect(t *testing.T, s *pawl.Store, id string) runs.Info {
	t.Helper()
	info, err := s.Inspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// The cells of the table "what happens on a second start" that concern Do.

func TestDoCompleteReturnsTheRecordedResult(t *testing.T) { // C-56
	s := openStore(t)
	calls := 0
	fn := func(context.Context) (map[string]any, error) {
		calls++
		return map[string]any{"ok": true, "id": int64(9007199254740993), "text": "a\u2028b\u0085<&>"}, nil
	}
	first, err := run(t, s, fn)
	if err != nil {
		t.Fatal(err)
	}
	before := history(t, s)
	for range 3 {
		again, err := run(t, s, fn)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
			t.Fatalf("Do again = %v, %v, want %v", again, err, first)
		}
	}
	if calls != 1 {
		t.Errorf("fn was called %d times", calls)
	}
	if fmt.Sprint(first["id"]) != "9007199254740993" {
		t.Errorf("id = %v: not the value as it is replayed", first["id"])
	}
	if after := history(t, s); after != before {
		t.Errorf("asking for a result wrote:\n%s", strings.TrimPrefix(after, before))
	}
}

func history(t *testing.T, s *pawl.Store) string {
	t.Helper()
	var b strings.Builder
	for e, err := range s.History(t.Context(), "r") {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(e.JSON)
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDoErrorMakesTheRunFailedAndResumable(t *testing.T) {
	s := openStore(t)
	boom := errors.New("boom")
	attempts := 0
	fn := func(ctx context.Context) (int, error) {
		attempts++
		if got := pawl.Resumed(ctx).Attempt; got != attempts {
			t.Errorf("attempt %d calls itself %d", attempts, got)
		}
		if attempts < 3 {
			return 0, boom
		}
		return attempts, nil
	}
	for range 2 {
		_, err := run(t, s, fn)
		wantErr(t, err, boom)
		if info := inspect(t, s); info.Status != runs.Failed || info.Error != "boom" || info.Owner != nil {
			t.Fatalf("after an error: %+v", info)
		}
	}
	if v, err := run(t, s, fn); v != 3 || err != nil {
		t.Fatalf("third start = %v, %v", v, err)
	}
}

func TestDoInterruptedStaysInProgress(t *testing.T) {
	for name, stop := range map[string]error{"cancel": context.Canceled, "waiting": pawl.ErrWaiting, "cancelled": pawl.ErrCancelled, "lease": pawl.ErrLeaseLost} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "step", func(ctx context.Context) (int, error) {
					if stop == context.Canceled {
						cancel()
						return 0, errors.New("http2: request was cut off") // need not wrap the context's error
					}
					return 0, fmt.Errorf("wrapped: %w", stop)
				})
			})
			if err == nil {
				t.Fatal("no error")
			}
			want := runs.InProgress
			if stop == pawl.ErrWaiting {
				want = runs.Waiting
			}
			if info := inspect(t, s); info.Status != want || info.Failed != 0 || info.Running != 1 {
				t.Errorf("after an interruption: %+v", info)
			}
		})
	}
}

// A step that ended although the run was cancelled meanwhile is recorded.
func TestCancellationNeverLosesAFinishedStep(t *testing.T) {
	s := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	effects := 0
	fn := func(ctx context.Context) (int, error) {
		v, err := pawl.Step(ctx, "a", func(context.Context) (int, error) {
			effects++
			cancel()
			return 7, nil
		})
		if err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "b", func(context.Context) (int, error) { return v + 1, nil })
	}
	_, err := pawl.Do(ctx, s, "r", fn)
	wantErr(t, err, context.Canceled)
	if v, err := pawl.Do(t.Context(), s, "r", fn); v != 8 || err != nil || effects != 1 {
		t.Errorf("second start = %v, %v, %d effects", v, err, effects)
	}
}

func TestStepTimeoutIsAFailure(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		tctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return pawl.Step(tctx, "slow", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
	})
	wantErr(t, err, context.DeadlineExceeded)
	if info := inspect(t, s); info.Status != runs.Failed || info.Failed != 1 {
		t.Errorf("after a step's own timeout: %+v", info)
	}
}

func TestDoPanicIsRecordedAndGoesOn(t *testing.T) {
	s := openStore(t)
	for _, where := range []string{"plain code", "step", "map"} {
		t.Run(where, func(t *testing.T) {
			cause := errors.New("cause of " + where)
			got := func() (p any) {
				defer func() { p = recover() }()
				run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
					switch where {
					case "step":
						return pawl.Step(ctx, "s", func(context.Context) (int, error) { panic(cause) })
					case "map":
						_, err := pawl.Map(ctx, "m", []int{1, 2}, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (int, error) {
							if i == 1 {
								panic(cause)
							}
							return i, nil
						})
						return 0, err
					}
					panic(cause)
				})
				return nil
			}()
			if err, ok := got.(error); !ok || !errors.Is(err, cause) {
				t.Fatalf("recovered %v, want %v", got, cause)
			}
			info := inspect(t, s)
			if info.Status != runs.Failed || !strings.Contains(info.Error, "do_test.go") || info.Owner != nil {
				t.Errorf("after a panic: status %s, owner %v, error without a stack: %s", info.Status, info.Owner, info.Error)
			}
		})
	}
	if v, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("after the panics: %v, %v", v, err)
	}
}

func TestGoexitIsRecorded(t *testing.T) {
	for _, where := range []string{"plain code", "map"} {
		t.Run(where, func(t *testing.T) {
			s := openStore(t)
			ended := make(chan bool)
			go func() {
				normal := false
				defer func() { ended <- normal }()
				run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it does not return
					if where == "map" {
						pawl.Map(ctx, "m", []int{1}, func(int) string { return "k" }, func(context.Context, int) (int, error) { //nolint:errcheck // it does not return
							runtime.Goexit()
							return 0, nil
						})
					}
					runtime.Goexit()
					return 0, nil
				})
				normal = true
			}()
			if <-ended {
				t.Error("Do returned after a Goexit")
			}
			if info := inspect(t, s); info.Status != runs.Failed || !strings.Contains(info.Error, "Goexit") || info.Owner != nil {
				t.Errorf("after a Goexit: %+v", info)
			}
		})
	}
}

func TestC57RunInputChanged(t *testing.T) {
	s := openStore(t)
	calls := 0
	fn := func(context.Context) (int, error) { calls++; return 1, nil }
	type config struct {
		Model string  `json:"model"`
		Temp  float64 `json:"temp"`
	}
	if _, err := run(t, s, fn, pawl.RunInput(config{"m1", 1})); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, s, fn, pawl.RunInput(config{"m2", 1}))
	wantErr(t, err, pawl.ErrInputChanged)
	if !strings.Contains(err.Error(), "$.model") || strings.Contains(err.Error(), "$.temp") || strings.Contains(err.Error(), "m2") {
		t.Errorf("the message should name $.model and no value: %v", err)
	}
	var changed *pawl.InputChangedError
	if !errors.As(err, &changed) || !bytes.Contains(changed.Recorded, []byte("m1")) || !bytes.Contains(changed.Given, []byte("m2")) {
		t.Errorf("the values are not in the error's fields: %+v", changed)
	}
	// The order of struct fields is not part of the input.
	type reordered struct {
		Temp  float64 `json:"temp"`
		Model string  `json:"model"`
	}
	if _, err := run(t, s, fn, pawl.RunInput(reordered{1, "m1"})); err != nil || calls != 1 {
		t.Errorf("equal input in another order: %v, %d calls", err, calls)
	}
}

func TestLockedNamesTheOwner(t *testing.T) { // C-45
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	_, err = run(t, s, func(context.Context) (int, error) { t.Error("ran twice"); return 0, nil })
	wantErr(t, err, pawl.ErrLocked)
	host, _ := os.Hostname()
	for _, part := range []string{fmt.Sprint(os.Getpid()), host, "since"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in the message: %v", part, err)
		}
	}
	if info := inspect(t, s); info.Owner == nil || info.Owner.PID != os.Getpid() {
		t.Errorf("owner %+v", info.Owner)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, func(context.Context) (int, error) { return 0, nil }); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func init() {
	children["hold"] = func() error {
		s, err := pawl.Open(os.Getenv("H_STORE"))
		if err != nil {
			return err
		}
		_, err = pawl.Do(context.Background(), s, "r", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "held", func(context.Context) (int, error) {
				fmt.Println("holding")
				time.Sleep(time.Hour)
				return 0, nil
			})
		})
		return err
	}
}

// The owner's death frees the run at once, and what was under way is seen.
func TestC47C64DeathOfTheOwnerFreesTheRun(t *testing.T) { // rule 18
	s := openStore(t)
	cmd := exec.Command(os.Args[0])
	info, err := s.Inspect(t.Context(), "r")
	wantErr(t, err, pawl.ErrNotFound)
	wantErr(t, err, fs.ErrNotExist)
	dir := filepath.Dir(filepath.Dir(mustPath(t, s)))
	cmd.Env = append(os.Environ(), "PAWL_TEST_CHILD=hold", "H_STORE="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if _, err := out.Read(buf); err != nil {
		t.Fatal(err)
	}
	_, err = run(t, s, func(context.Context) (int, error) { return 0, nil })
	wantErr(t, err, pawl.ErrLocked)
	if !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("the child's process ID is not in %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	begin := time.Now()
	info = inspect(t, s)
	if info.Status != runs.InProgress || info.Owner != nil || info.Running != 1 {
		t.Errorf("after the death: %+v", info)
	}
	if _, err := run(t, s, func(context.Context) (int, error) { return 0, nil }); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("taking over took %v", d)
	}
}

// mustPath creates run "probe" to learn where journals are.
func mustPath(t *testing.T, s *pawl.Store) string {
	t.Helper()
	r, err := s.Begin(t.Context(), "probe")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := s.Inspect(t.Context(), "probe")
	if err != nil {
		t.Fatal(err)
	}
	return info.Path
}

func TestUnreadableIsNeverAFreshStart(t *testing.T) { // invariant 4, C-01, C-02, C-07
	damage := map[string]func(path string) error{
		"empty":     func(p string) error { return os.Truncate(p, 0) },
		"NUL":       func(p string) error { return overwrite(p, func(b []byte) { clear(b) }) },
		"one bit":   func(p string) error { return overwrite(p, func(b []byte) { b[len(b)/3] ^= 4 }) },
		"mode 0000": func(p string) error { return os.Chmod(p, 0) },
		"directory": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"newer":     func(p string) error { return os.WriteFile(p, newerJournal(), 0o600) },
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			if name == "mode 0000" && os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			s := openStore(t)
			if _, err := run(t, s, func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
			}); err != nil {
				t.Fatal(err)
			}
			path := inspect(t, s).Path
			if err := do(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			for range 2 {
				_, err := run(t, s, func(context.Context) (int, error) { t.Error("fn ran"); return 0, nil })
				if err == nil || !strings.Contains(err.Error(), "r.jsonl") {
					t.Fatalf("error %v, want one with the path", err)
				}
				switch name {
				case "directory", "mode 0000":
				case "newer":
					wantErr(t, err, pawl.ErrNewerFormat)
				default:
					wantErr(t, err, pawl.ErrCorrupt)
				}
			}
			after, _ := os.ReadFile(path)
			if !bytes.Equal(before, after) {
				t.Error("the damaged file was changed")
			}
		})
	}
}

func overwrite(path string, change func([]byte)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	change(b)
	return os.WriteFile(path, b, 0o600)
}

func TestC67MustExist(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(context.Context) (int, error) { t.Error("ran"); return 0, nil }, pawl.MustExist())
	wantErr(t, err, pawl.ErrNotFound)
	for info := range s.Runs(t.Context()) {
		t.Errorf("created %q", info.ID)
	}
	_, err = pawl.Open(filepath.Join(t.TempDir(), "typo"), pawl.MustExist())
	wantErr(t, err, pawl.ErrNotFound)
}

func TestBegin(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	ctx := r.Context(t.Context())
	v, err := pawl.Step(ctx, "a", func(context.Context) (int, error) { return 1, nil })
	if v != 1 || err != nil {
		t.Fatal(v, err)
	}
	if done, err := r.Result(&v); done || err != nil {
		t.Fatalf("Result before the end = %v, %v", done, err)
	}
	if err := errors.Join(r.Complete([]int{1, 2}), r.Complete([]int{1, 2})); err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.Complete("another"), pawl.ErrComplete)
	_, err = pawl.Step(ctx, "b", func(context.Context) (int, error) { t.Error("ran"); return 1, nil })
	wantErr(t, err, pawl.ErrComplete)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, err = s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var result []int
	if done, err := r.Result(&result); !done || err != nil || fmt.Sprint(result) != "[1 2]" {
		t.Fatalf("Result = %v, %v, %v", result, done, err)
	}
	text := "kept"
	done, err := r.Result(&text)
	wantErr(t, err, pawl.ErrMismatch)
	if !done || text != "kept" {
		t.Errorf("a result that does not fit changed the target: %v %q", done, text)
	}
	if _, err := s.Begin(t.Context(), "r"); err != nil {
		t.Errorf("a complete run is owned by nobody: %v", err)
	}
}

func TestStoreErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := pawl.Open(dir)
	wantErr(t, err, pawl.ErrInvalid)
	s := openStore(t)
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 513)} {
		_, err := s.Begin(t.Context(), id)
		wantErr(t, err, pawl.ErrInvalid)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Begin(t.Context(), "r")
	wantErr(t, err, pawl.ErrClosed)
}

// A journal under another run's name is no second run.
func TestCopiedJournal(t *testing.T) {
	s := openStore(t)
	if _, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	path := inspect(t, s).Path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(path), "copy.jsonl"), string(text))
	_, err = s.Inspect(t.Context(), "copy")
	wantErr(t, err, pawl.ErrCorrupt)
	_, err = s.Begin(t.Context(), "copy")
	wantErr(t, err, pawl.ErrCorrupt)
	var good, bad []string
	for info, err := range s.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if info.Err != nil {
			bad = append(bad, info.ID)
		} else {
			good = append(good, info.ID)
		}
	}
	if fmt.Sprint(good, bad) != "[r] [copy]" {
		t.Errorf("listed %q and damaged %q", good, bad)
	}
	var ids []string
	for id, err := range s.IDs(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if fmt.Sprint(ids) != "[copy r]" {
		t.Errorf("IDs %q", ids)
	}
	if o, err := s.Owner("r"); o != nil || err != nil {
		t.Errorf("Owner = %v, %v", o, err)
	}
}
