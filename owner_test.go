package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
)

// Rule 16, invariant 9: removing the lock file of a live owner does not make a second one.
func TestLockFileRemoved(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Remove(strings.TrimSuffix(inspect(t, s).Path, ".jsonl") + ".lock"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Begin(t.Context(), "r")
	wantErr(t, err, pawl.ErrLocked)
	if _, err := pawl.Step(r.Context(t.Context()), "s", func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Error(err)
	}
}

// Looking at a run takes its lock for a moment, and nobody is refused for that.
func TestLookingDoesNotLock(t *testing.T) {
	s := openStore(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Owner("r") //nolint:errcheck // only to be in the way
				}
			}
		})
	}
	for i := range 200 {
		if _, err := run(t, s, func(context.Context) (int, error) { return 0, errors.New("again") }); errors.Is(err, pawl.ErrLocked) {
			t.Errorf("start %d: %v", i, err)
			break
		}
	}
	close(stop)
	wg.Wait()
}

// A complete run is read beside its compaction.
func TestReadingBesideCompaction(t *testing.T) {
	s := openStore(t)
	if _, err := run(t, s, func(ctx context.Context) (string, error) {
		for i := range 50 {
			if _, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (int, error) { return i, nil }); err != nil {
				return "", err
			}
		}
		return "result", nil
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Compact(t.Context(), "r") //nolint:errcheck // may be refused
			}
		}
	})
	for range 200 {
		v, err := run(t, s, func(context.Context) (string, error) { t.Error("ran"); return "", nil })
		if v != "result" || err != nil {
			t.Errorf("%q, %v", v, err)
			break
		}
		if _, err := s.Steps(t.Context(), "r"); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	wg.Wait()
}

// A store whose runs are gone (an unmounted disk, a moved folder) is no fresh start.
func TestRunsGone(t *testing.T) {
	s := openStore(t)
	if _, err := run(t, s, func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Dir(inspect(t, s).Path)
	if err := os.Rename(runs, runs+".moved"); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, s, func(context.Context) (int, error) { t.Error("ran again"); return 0, nil })
	wantErr(t, err, pawl.ErrCorrupt)
	_, err = pawl.Open(filepath.Dir(runs))
	wantErr(t, err, pawl.ErrCorrupt)
}

// OpenState on the journal of a run in a store touches nothing, whatever stands at its
// end.
func TestOpenStateOnARun(t *testing.T) {
	s := openStore(t)
	run(t, s, func(context.Context) (int, error) { return 0, errors.New("stop") }) //nolint:errcheck // on purpose
	path := inspect(t, s).Path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text)+`{"crc":"half a rec`)
	_, err = pawl.OpenState[int](path)
	wantErr(t, err, pawl.ErrInvalid)
	if after, _ := os.ReadFile(path); string(after) != string(text)+`{"crc":"half a rec` {
		t.Error("the journal was changed")
	}
}

// Raw JSON keeps its bytes through an untyped value too.
func TestRawInAny(t *testing.T) {
	s := openStore(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	raw := json.RawMessage(" [1,\n 2]")
	for range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			v, err := pawl.Step(ctx, "any", func(context.Context) (any, error) { return raw, nil })
			if err != nil || fmt.Sprint(v) != "[1 2]" {
				t.Errorf("%v, %v", v, err)
			}
			return 0, errors.New("again")
		})
		if !strings.Contains(err.Error(), "again") {
			t.Fatal(err)
		}
		ck := openState[any](t, path)
		if ck.Resumed() && fmt.Sprint(ck.State()) != "[1 2]" {
			t.Errorf("state %v", ck.State())
		}
		if err := errors.Join(ck.Save(raw), ck.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for l := range strings.SplitSeq(strings.TrimSpace(history(t, s)), "\n") {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %q", l)
		}
	}
}

func TestAlreadyOpenInThisProcess(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = s.Begin(t.Context(), "r")
	wantErr(t, err, pawl.ErrLocked)
	if !strings.Contains(err.Error(), "in this process") {
		t.Errorf("message: %v", err)
	}
}

// The cause of a cancellation does not hide it.
func TestCause(t *testing.T) {
	s := openStore(t)
	deploy := errors.New("deploy")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
		cancel(deploy)
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
	})
	wantErr(t, err, deploy)
	wantErr(t, err, context.Canceled)
}
