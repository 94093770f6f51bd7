package pawltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
)

var errCrash = errors.New("crash")

// TestResume: what a run recorded is there for the next start; a complete one answers
// without running.
func TestResume(t *testing.T) {
	store := pawltest.NewStore(t)
	var calls atomic.Int32
	job := func(crash bool) (string, error) {
		return pawl.Do(t.Context(), store, "job", func(ctx context.Context) (string, error) {
			a, err := pawl.Step(ctx, "a", func(context.Context) (string, error) { calls.Add(1); return "A", nil })
			if err != nil || crash {
				return "", errors.Join(err, errCrash)
			}
			return a + "!", nil
		}, pawl.RunInput("in"))
	}
	if _, err := job(true); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := job(false); got != "A!" || err != nil {
			t.Fatal(got, err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("the step ran %d times", calls.Load())
	}
	_, err := pawl.Do(t.Context(), store, "job", func(context.Context) (string, error) { return "", nil }, pawl.RunInput("out"))
	if !errors.Is(err, pawl.ErrInputChanged) {
		t.Error(err)
	}
	_, err = store.Begin(t.Context(), "other", pawl.MustExist())
	if !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
}

// TestOwner: a run has one owner, also in memory.
func TestOwner(t *testing.T) {
	store := pawltest.NewStore(t)
	r, err := store.Begin(t.Context(), "R/1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Begin(t.Context(), "R/1")
	if !errors.Is(err, pawl.ErrLocked) || !strings.Contains(err.Error(), "already open in this process") {
		t.Errorf("second Begin: %v", err)
	}
	if _, _, err := store.Compact(t.Context(), "R/1"); !errors.Is(err, pawl.ErrLocked) {
		t.Errorf("Compact: %v", err)
	}
	if o, err := store.Owner("R/1"); err != nil || o == nil || o.PID != os.Getpid() {
		t.Error(o, err)
	}
	if info, err := store.Inspect(t.Context(), "R/1"); err != nil || info.Owner == nil || info.Status != "in_progress" {
		t.Error(info, err)
	}
	if err := r.Complete(7); err != nil {
		t.Fatal(err)
	}
	// The result is there for all while the owner has not let go.
	other, err := store.Begin(t.Context(), "R/1")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if done, err := other.Result(&n); !done || err != nil || n != 7 {
		t.Error(done, err, n)
	}
	if err := errors.Join(other.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if o, err := store.Owner("R/1"); o != nil || err != nil {
		t.Error(o, err)
	}
}

func TestDuplicateKey(t *testing.T) {
	store := pawltest.NewStore(t)
	r, err := store.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := r.Context(t.Context())
	step := func(ctx context.Context) error {
		_, err := pawl.Step(ctx, "a", func(context.Context) (int, error) { return 1, nil })
		return err
	}
	if err := step(ctx); err != nil {
		t.Fatal(err)
	}
	if err := step(ctx); !errors.Is(err, pawl.ErrDuplicateKey) {
		t.Error(err)
	}
	if err := step(pawl.Scope(ctx, "turn/1")); err != nil {
		t.Error(err)
	}
}

// TestMap: items in parallel, those without a result on the next start.
func TestMap(t *testing.T) {
	store := pawltest.NewStore(t)
	items := make([]int, 200)
	for i := range items {
		items[i] = i
	}
	var calls atomic.Int32
	do := func(bad int) ([]int, error) {
		return pawl.Do(t.Context(), store, "m", func(ctx context.Context) ([]int, error) {
			return pawl.Map(ctx, "square", items, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (int, error) {
				if i == bad {
					return 0, errCrash
				}
				calls.Add(1)
				return i * i, nil
			}, pawl.Parallel(16))
		})
	}
	if _, err := do(100); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	got, err := do(-1)
	if err != nil || len(got) != len(items) || calls.Load() != int32(len(items)) {
		t.Fatalf("%d results, %d calls, %v", len(got), calls.Load(), err)
	}
	for i, n := range got {
		if n != i*i {
			t.Fatalf("%d: %d", i, n)
		}
	}
	info, err := store.Inspect(t.Context(), "m")
	if err != nil || info.Status != "complete" || info.Done != 200 || len(info.Maps) != 1 || info.Maps[0].Done != 200 {
		t.Errorf("%+v %v", info, err)
	}
}

// TestLook: everything that shows runs works in memory, and Compact changes none of it
// but the history.
func TestLook(t *testing.T) {
	store := pawltest.NewStore(t)
	for _, id := range []string{"a", "b", "Ü/..", strings.Repeat("long", 100)} {
		_, err := pawl.Do(t.Context(), store, id, func(ctx context.Context) (string, error) {
			for try := range 3 {
				v, err := pawl.Step(ctx, "s", func(context.Context) (string, error) {
					if try < 2 {
						return "", errCrash
					}
					return "v", nil
				})
				if err == nil {
					return v, nil
				}
			}
			return "", errCrash
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var ids, listed []string
	for id, err := range store.IDs(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for info, err := range store.Runs(t.Context()) {
		if err != nil || info.Err != nil || info.Done != 1 || info.Size == 0 || info.Owner != nil {
			t.Fatalf("%+v %v", info, err)
		}
		listed = append(listed, info.ID)
	}
	if len(ids) != 4 || strings.Join(ids, " ") != strings.Join(listed, " ") {
		t.Errorf("%q and %q", ids, listed)
	}
	history := func() (n int) {
		for e, err := range store.History(t.Context(), "a") {
			if err != nil {
				t.Fatal(err)
			}
			n = len(e.JSON) + n
		}
		return n
	}
	steps, err := store.Steps(t.Context(), "a")
	if err != nil || len(steps) != 1 || steps[0].Tries != 3 || steps[0].Status != "done" {
		t.Errorf("%+v %v", steps, err)
	}
	full := history()
	before, after, err := store.Compact(t.Context(), "a")
	if err != nil || after >= before {
		t.Errorf("compacted from %d to %d, %v", before, after, err)
	}
	if small := history(); small >= full {
		t.Errorf("history of %d bytes, before %d", small, full)
	}
	got, err := pawl.Do(t.Context(), store, "a", func(context.Context) (string, error) { return "ran again", nil })
	if got != "v" || err != nil {
		t.Error(got, err)
	}
	if _, err := store.Inspect(t.Context(), "none"); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
}

// TestCompactOpen: an owner compacts while steps go on.
func TestCompactOpen(t *testing.T) {
	store := pawltest.NewStore(t)
	r, err := store.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := r.Context(t.Context())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				_, err := pawl.Step(ctx, fmt.Sprint(g, "-", i), func(context.Context) (int, error) { return i, nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 5 {
		if err := r.Compact(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	steps, err := store.Steps(t.Context(), "r")
	if err != nil || len(steps) != 400 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
}

// TestApart: two stores share nothing, and nothing is on the disk.
func TestApart(t *testing.T) {
	a, b := pawltest.NewStore(t), pawltest.NewStore(t)
	do := func(s *pawl.Store, v string) string {
		got, err := pawl.Do(t.Context(), s, "r", func(context.Context) (string, error) { return v, nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := do(a, "a") + do(b, "b") + do(a, "-"); got != "aba" {
		t.Error(got)
	}
	info, err := a.Inspect(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(info.Path); err == nil {
		t.Error("there is a file:", info.Path)
	}
}

// recorder is a test that notes what it is told.
type recorder struct {
	testing.TB
	errs     []string
	cleanups []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(fn func()) { r.cleanups = append(r.cleanups, fn) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf(format, args...))
}

func (r *recorder) end() {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		fn := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		fn()
	}
}

// TestLeftOpen: a run that is open at the end of the test is its error; one that a
// cleanup of the test closes is none. Then the store is closed.
func TestLeftOpen(t *testing.T) {
	for _, closes := range []bool{true, false} {
		rec := &recorder{TB: t}
		store := pawltest.NewStore(rec)
		r, err := store.Begin(t.Context(), "Nightly/7")
		if err != nil {
			t.Fatal(err)
		}
		if closes {
			rec.Cleanup(func() { r.Close() })
		}
		rec.end()
		if got := strings.Join(rec.errs, "\n"); closes && got != "" || !closes && !strings.Contains(got, `run "Nightly/7" is still open`) {
			t.Errorf("closed %v: %s", closes, got)
		}
		if _, err := store.Begin(t.Context(), "x"); !errors.Is(err, pawl.ErrClosed) {
			t.Errorf("the store is still open: %v", err)
		}
		r.Close()
	}
}
