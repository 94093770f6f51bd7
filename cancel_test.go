package pawl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

func init() {
	children["cancelled"] = func() error {
		store, err := pawl.Open(os.Getenv("W_STORE"))
		if err != nil {
			return err
		}
		_, err = pawl.Do(context.Background(), store, "r", func(ctx context.Context) (int, error) {
			_, err := pawl.Step(ctx, "first", func(context.Context) (int, error) { return 1, nil })
			if err != nil {
				return 0, err
			}
			return pawl.Step(ctx, "second", func(ctx context.Context) (int, error) {
				fmt.Println("working")
				<-ctx.Done()
				fmt.Println(time.Now().UnixNano(), errors.Is(context.Cause(ctx), pawl.ErrCancelled))
				return 2, nil // finished all the same
			})
		})
		fmt.Println(errors.Is(err, pawl.ErrCancelled), err)
		return nil
	}
}

// TestCancelFromAnotherProcess: the owner is told within 100 ms, what it finishes is recorded,
// and the run stays cancelled until it is reopened.
func TestCancelFromAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := pawl.Open(dir)
	ckNil(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=cancelled", "W_STORE="+dir)
	pipe, err := cmd.StdoutPipe()
	ckNil(t, err)
	ckNil(t, cmd.Start())
	out := bufio.NewScanner(pipe)
	next := func() string {
		if !out.Scan() {
			t.Fatal("the child ended")
		}
		return out.Text()
	}
	if got := next(); got != "working" {
		t.Fatal(got)
	}
	time.Sleep(50 * time.Millisecond)
	asked := time.Now()
	ckNil(t, s.Cancel(t.Context(), "r", "ann", "wrong prompt"))
	var at int64
	var because bool
	_, err = fmt.Sscan(next(), &at, &because)
	ckNil(t, err)
	if late := time.Unix(0, at).Sub(asked); late > time.Second || !because { // 100 ms on a machine that is not shared with ten others
		t.Errorf("told after %v, that it is cancelled: %v", late, because)
	} else {
		t.Logf("told after %v", late)
	}
	if got := next(); !strings.HasPrefix(got, "true ") || !strings.Contains(got, "by ann") || !strings.Contains(got, "wrong prompt") || !strings.Contains(got, "pawl reopen r") {
		t.Error(got)
	}
	ckNil(t, cmd.Wait())
	info := inspect(t, s)
	if info.Status != runs.Cancelled || info.Cancel.By != "ann" || info.Cancel.Reason != "wrong prompt" || info.Done != 2 || info.Running != 0 {
		t.Errorf("%+v", info)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", "*.inbox")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	calls := 0
	work := func(ctx context.Context) (int, error) {
		calls++
		a, err := pawl.Step(ctx, "first", func(context.Context) (int, error) { return 10, nil })
		if err != nil {
			return 0, err
		}
		b, err := pawl.Step(ctx, "second", func(context.Context) (int, error) { return 20, nil })
		return a + b, err
	}
	for range 2 {
		_, err = run(t, s, work)
		wantErr(t, err, pawl.ErrCancelled)
	}
	ckNil(t, s.Cancel(t.Context(), "r", "bob", "too")) // it is already
	ckNil(t, second(s.Compact(t.Context(), "r")))
	ckNil(t, s.Reopen(t.Context(), "r", "ann", "the prompt is right"))
	wantErr(t, s.Reopen(t.Context(), "r", "ann", ""), pawl.ErrInvalid)
	if v, err := run(t, s, work); v != 3 || err != nil || calls != 1 {
		t.Errorf("%d, %v, %d calls", v, err, calls)
	}
	wantErr(t, s.Cancel(t.Context(), "r", "ann", ""), pawl.ErrComplete)
	wantErr(t, s.Reopen(t.Context(), "r", "ann", ""), pawl.ErrComplete)
	wantErr(t, s.Cancel(t.Context(), "nothing", "ann", ""), pawl.ErrNotFound)
}

// Without an owner the cancellation waits in the run's inbox, and everybody sees it.
func TestCancelWithoutAnOwner(t *testing.T) {
	for _, reopen := range []string{"before it was taken", "after"} {
		t.Run(reopen, func(t *testing.T) {
			s := openStore(t)
			interrupted(t, s)
			ckNil(t, s.Cancel(t.Context(), "r", "ann", "stop"))
			if info := inspect(t, s); info.Status != runs.Cancelled || info.Cancel.By != "ann" {
				t.Errorf("%+v", info)
			}
			work := func(context.Context) (int, error) { return 1, nil }
			if reopen == "after" {
				_, err := run(t, s, work)
				wantErr(t, err, pawl.ErrCancelled)
			}
			ckNil(t, s.Cancel(t.Context(), "r", "bob", "")) // the first one counts
			if info := inspect(t, s); info.Cancel == nil || info.Cancel.By != "ann" {
				t.Errorf("%+v", info.Cancel)
			}
			ckNil(t, s.Reopen(t.Context(), "r", "ann", "go"))
			if info := inspect(t, s); info.Status != runs.InProgress || info.Cancel != nil {
				t.Errorf("%+v", info)
			}
			if v, err := run(t, s, work); v != 1 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
}

// A run that is deleted and made anew gets nothing of what was said of the old one.
func TestCancelIsForOneRun(t *testing.T) {
	s := openStore(t)
	interrupted(t, s)
	ckNil(t, s.Cancel(t.Context(), "r", "ann", ""))
	ckNil(t, s.Delete(t.Context(), "r"))
	if v, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	// So it is with one that begins anew.
	s = openStore(t)
	interrupted(t, s)
	ckNil(t, s.Cancel(t.Context(), "r", "ann", ""))
	_, err := s.Clear(t.Context(), "r")
	ckNil(t, err)
	if v, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	// A fork of a cancelled run is none.
	s = openStore(t)
	interrupted(t, s)
	ckNil(t, s.Cancel(t.Context(), "r", "ann", ""))
	_, err = run(t, s, func(context.Context) (int, error) { return 1, nil })
	wantErr(t, err, pawl.ErrCancelled)
	ckNil(t, s.Fork(t.Context(), "r", 0, "f"))
	if info := mustInspect(t, s, "f"); info.Status != runs.InProgress {
		t.Errorf("the fork: %+v", info)
	}
}

// Cancelled in a sleep and in a wait between tries, from the same process; and by many at once.
func TestCancelEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pawltest.NewStore(t)
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				return 1, wait.Sleep(ctx, "nap", 1000*time.Hour)
			})
			if !errors.Is(err, pawl.ErrCancelled) {
				t.Errorf("%v", err)
			}
		})
		time.Sleep(time.Hour)
		for i := range 5 {
			wg.Go(func() {
				if err := s.Cancel(t.Context(), "r", fmt.Sprint(i), ""); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took > time.Hour+time.Second {
			t.Errorf("it took %v", took)
		}
		if info := inspect(t, s); info.Status != runs.Cancelled {
			t.Errorf("%+v", info)
		}
	})
}

// A run that comes to its end before it hears of the cancellation is complete.
func TestCancelComesTooLate(t *testing.T) {
	s := openStore(t)
	v, err := run(t, s, func(ctx context.Context) (int, error) {
		ckNil(t, s.Cancel(ctx, "r", "ann", ""))
		return 1, nil
	})
	switch info := inspect(t, s); {
	case err == nil && v == 1 && info.Status == runs.Complete:
	case errors.Is(err, pawl.ErrCancelled) && info.Status == runs.Cancelled:
	default:
		t.Errorf("%d, %v: %+v", v, err, info)
	}
}
