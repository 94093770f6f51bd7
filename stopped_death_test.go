package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
)

func init() { children["stopped"] = stoppedProgram }

// stoppedProgram owns run r by Begin, has a step under way that heeds nothing, is asked to stop
// as W_STOP says, and is killed.
func stoppedProgram() error {
	store, err := pawl.Open(os.Getenv("W_STORE"))
	if err != nil {
		return err
	}
	r, err := store.Begin(context.Background(), "r")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runCtx := r.Context(ctx)
	working := make(chan struct{})
	go pawl.Step(runCtx, "s", func(context.Context) (int, error) { close(working); select {} }, retry.MaxCrashes(1)) //nolint:errcheck // it never ends
	<-working
	switch os.Getenv("W_STOP") {
	case "context":
		cancel()
		killWhen(func(kind, _ string) bool { return kind == "interrupted" })
	case "cancel, heard":
		if err := store.Cancel(context.Background(), "r", "ann", "enough"); err != nil {
			return err
		}
		<-runCtx.Done()
	case "cancel":
		if err := store.Cancel(context.Background(), "r", "ann", "enough"); err != nil {
			return err
		}
	}
	killMyself()
	return nil
}

// TestStoppedThenKilled: a run that was asked to stop, and whose process was ended since it did
// not, has not died; also if it is nobody's function but opened by Begin.
func TestStoppedThenKilled(t *testing.T) {
	for _, how := range []string{"context", "cancel, heard", "cancel", "not asked"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=stopped", "W_STORE="+dir, "W_STOP="+how)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
				t.Fatalf("it was not killed: %v, %s", err, out)
			}
			s, err := pawl.Open(dir)
			ckNil(t, err)
			if how == "cancel" || how == "cancel, heard" {
				if info := inspect(t, s); info.Status != runs.Cancelled || info.Cancel.By != "ann" {
					t.Errorf("%+v", info)
				}
				ckNil(t, s.Reopen(t.Context(), "r", "ann", "go on"))
			}
			v, err := run(t, s, watchedStep)
			if how == "not asked" {
				wantErr(t, err, pawl.ErrPoison)
			} else if v != 1 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
}

// watchedStep would be poison after one death.
func watchedStep(ctx context.Context) (int, error) {
	return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, retry.MaxCrashes(1))
}

// TestCopyOfALiveRunHasNotDied: no process has died in what is copied of a run at work, by whatever
// way it is copied.
func TestCopyOfALiveRunHasNotDied(t *testing.T) {
	s, exported, copied := openStore(t), openStore(t), openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "s", func(ctx context.Context) (int, error) {
			var text bytes.Buffer
			ckNil(t, s.Export(ctx, "r", &text))
			_, err := exported.Import(ctx, &text, "")
			ckNil(t, err)
			file, err := os.Open(inspect(t, s).Path)
			ckNil(t, err)
			defer file.Close()
			_, err = copied.ImportJournal(ctx, file, "")
			ckNil(t, err)
			ckNil(t, s.Fork(ctx, "r", 0, "fork"))
			return 1, nil
		}, retry.MaxCrashes(1))
	})
	ckNil(t, err)
	for name, to := range map[string]*pawl.Store{"export": exported, "journal": copied} {
		if v, err := run(t, to, watchedStep); v != 1 || err != nil {
			t.Errorf("%s: %d, %v", name, v, err)
		}
	}
	// The fork's step may have happened for the other run.
	_, err = pawl.Do(t.Context(), s, "fork", watchedStep)
	wantErr(t, err, pawl.ErrInDoubt)
	ckNil(t, s.ResolveRerun(t.Context(), "fork", "s", "ann", "it is another one"))
	if v, err := pawl.Do(t.Context(), s, "fork", watchedStep); v != 1 || err != nil {
		t.Errorf("the fork: %d, %v", v, err)
	}
}
