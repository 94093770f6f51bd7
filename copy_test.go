package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// writer is a run that saves all the time, in steps and in a state, and keeps outside of
// the store what was acknowledged.
type writer struct {
	id   string
	stop chan struct{}

	mu    sync.Mutex
	made  map[int]string // what a step's function returned
	acked int            // steps acknowledged
	state int            // highest state acknowledged
}

func (w *writer) value(i int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.made[i] == "" {
		w.made[i] = fmt.Sprint("step ", i, " of ", w.id, strings.Repeat(" and so on", i*131%60))
	}
	return w.made[i]
}

// work does steps and saves states until it is told to stop, or until there are so many
// steps, and tells ran which of them ran.
func (w *writer) work(steps int, ran func(i int)) func(context.Context) (copied, error) {
	return func(ctx context.Context) (copied, error) {
		var c copied
		var err error
		if c.State, _, err = pawl.LoadState[int](ctx); err != nil {
			return c, err
		}
		for i := range steps {
			select {
			case <-w.stop:
				return c, nil
			default:
			}
			v, err := pawl.Step(ctx, fmt.Sprint("step-", i), func(context.Context) (string, error) {
				ran(i)
				return w.value(i), nil
			})
			if err != nil {
				return c, err
			}
			c.Values = append(c.Values, v)
			w.mu.Lock()
			w.acked = max(w.acked, i+1)
			w.mu.Unlock()
			if i%3 > 0 || i <= c.State {
				continue
			}
			if err := pawl.SaveState(ctx, i); err != nil {
				return c, err
			}
			w.mu.Lock()
			w.state = i
			w.mu.Unlock()
		}
		return c, nil
	}
}

// copied is what a run gives back in a copy: its state when it began, and all values.
type copied struct {
	State  int
	Values []string
}

// known returns what is acknowledged now.
func (w *writer) known() (steps, state int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked, w.state
}

// TestC70CopyOfALiveStore copies a store with cp again and again while four runs save in
// it, and opens each copy at another path: every run must be there with all that was
// acknowledged before its file was copied, and go on. Nothing of the owners' locks may
// be in its way (C-69).
//
// Cp reads a file piece by piece. If it is held up between two pieces of the end, while two
// saves cross from one to the other, the copy has a hole that looks like damage, and is
// refused as such; that is rare, and nothing else may be wrong. An export has no such hole.
func TestC70CopyOfALiveStore(t *testing.T) {
	cp, err := exec.LookPath("cp")
	if err != nil {
		t.Skip("SKIPPED: there is no cp, so copying a live store was not tried: ", err)
	}
	want := 25
	if testing.Short() || raceEnabled { // the journals grow while they are copied
		want = 8
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "a", "store")
	s, err := pawl.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all []*writer
	var group sync.WaitGroup
	for i := range 4 {
		w := &writer{id: fmt.Sprint("run-", i), stop: stop, made: map[int]string{}}
		all = append(all, w)
		group.Go(func() {
			if _, err := pawl.Do(t.Context(), s, w.id, w.work(1<<20, func(int) {})); err != nil {
				t.Error(err)
			}
		})
	}
	defer group.Wait()
	defer close(stop)
	for _, w := range all { // until each is there
		for n := 0; n == 0; n, _ = w.known() {
			time.Sleep(time.Millisecond)
		}
	}
	damaged, newer, most := 0, 0, int64(0)
	for n := range want {
		var steps, states []int
		for _, w := range all {
			k, st := w.known()
			steps, states = append(steps, k), append(states, st)
		}
		to := filepath.Join(dir, "b", fmt.Sprint("copy-", n))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), cp, "-r", store, to).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v\n%s", err, out)
		}
		there, err := pawl.Open(to, pawl.MustExist())
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range all {
			what := fmt.Sprintf("copy %d: %s", n, w.id)
			info, err := there.Inspect(t.Context(), w.id)
			if errors.Is(err, pawl.ErrCorrupt) {
				t.Logf("%s: %v", what, err)
				damaged++
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			most = max(most, info.Size)
			own := &writer{id: w.id, made: map[int]string{}}
			got, err := pawl.Do(t.Context(), there, w.id, own.work(max(info.Done, steps[i])+2, func(k int) {
				if k < steps[i] {
					t.Errorf("%s: step %d was acknowledged before and ran again", what, k)
				}
			}))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for k, v := range got.Values {
				if v != w.value(k) { // also of what came after: never anything else
					t.Errorf("%s: step %d is %.60q", what, k, v)
				}
			}
			if got.State < states[i] || got.State > info.Done {
				t.Errorf("%s: state %d with %d steps done, and %d was acknowledged before", what, got.State, info.Done, states[i])
			}
			if info.Done > steps[i] {
				newer++
			}
		}
		os.RemoveAll(to)
	}
	t.Logf("%d copies of 4 live runs of up to %d bytes: %d damaged, %d newer than what was acknowledged when cp began", want, most, damaged, newer)
	if damaged > want/20 {
		t.Error("that is not rare")
	}
}
