package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// A finished step inside a step or an item that is asked again in the same attempt is
// answered from its record, and stays finished for later starts.
func TestRetryInOneAttemptKeepsNestedResults(t *testing.T) {
	for _, outer := range []string{"step", "map"} {
		t.Run(outer, func(t *testing.T) {
			s := openStore(t)
			paid, tries := 0, 0
			inner := func(ctx context.Context) (int, error) {
				v, err := pawl.Step(ctx, "pay", func(context.Context) (int, error) { paid++; return paid, nil })
				if err != nil {
					return 0, err
				}
				if tries++; tries%4 != 0 {
					return 0, errors.New("not yet")
				}
				return v, nil
			}
			ask := func(ctx context.Context) (int, error) {
				if outer == "step" {
					return pawl.Step(ctx, "outer", inner)
				}
				vs, err := pawl.Map(ctx, "outer", []int{1}, func(int) string { return "x" }, func(ctx context.Context, _ int) (int, error) { return inner(ctx) })
				if err != nil {
					return 0, err
				}
				return vs[0], nil
			}
			fn := func(ctx context.Context) (v int, err error) {
				for range 3 {
					if v, err = ask(ctx); err == nil {
						return v, nil
					}
				}
				return 0, err
			}
			if _, err := run(t, s, fn); err == nil || paid != 1 {
				t.Fatalf("after the first start: %v, paid %d times", err, paid)
			}
			if v, err := run(t, s, fn); v != 1 || err != nil || paid != 1 {
				t.Errorf("second start = %d, %v, paid %d times", v, err, paid)
			}
		})
	}
}

// A key that is running is not asked again because the key around it failed.
func TestRetryDoesNotRunWhatIsRunning(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		release := make(chan struct{})
		var wg sync.WaitGroup
		_, err := pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			started := make(chan struct{})
			wg.Go(func() {
				_, err := pawl.Step(ctx, "slow", func(context.Context) (int, error) {
					close(started)
					<-release
					return 1, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			<-started
			return 0, errors.New("outer fails while slow runs")
		})
		if err == nil {
			t.Error("no error")
		}
		_, err = pawl.Step(ctx, "outer", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "slow", func(context.Context) (int, error) { t.Error("ran twice at once"); return 0, nil })
		})
		wantErr(t, err, pawl.ErrDuplicateKey)
		close(release)
		wg.Wait()
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A slash in a name is no border between names.
func TestSlashesInNames(t *testing.T) {
	s := openStore(t)
	ran := map[string]int{}
	var mu sync.Mutex
	do := func(items []string, inputs map[string]int) ([]string, error) {
		var out []string
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			var err error
			out, err = pawl.Map(ctx, "m", items, func(s string) string { return s }, func(ctx context.Context, item string) (string, error) {
				mu.Lock()
				ran[item]++
				mu.Unlock()
				return pawl.Step(ctx, "fetch", func(context.Context) (string, error) { return "page of " + item, nil })
			}, pawl.Parallel(1), pawl.RerunOnChange())
			if err != nil {
				return 0, err
			}
			return 0, errors.New("not yet")
		})
		_ = inputs
		return out, err
	}
	urls := []string{"x", "https://x.org", "https://x.org/about", "a~1b", "a/b"}
	do(urls, nil)                              //nolint:errcheck // on purpose
	out, _ := do(append(urls, "x/fetch"), nil) //nolint:errcheck // on purpose
	if got := out[len(out)-1]; got != "page of x/fetch" {
		t.Errorf("item x/fetch = %q: another step's result", got)
	}
	for item, n := range ran {
		if n != 1 {
			t.Errorf("%s ran %d times", item, n)
		}
	}
	info := inspect(t, s)
	if len(info.Maps) != 1 || info.Maps[0].Done != 6 || info.Maps[0].Total != 6 {
		t.Errorf("progress %+v", info.Maps)
	}
	if got := pawlResume(t, s).Steps; got != 6 {
		t.Errorf("%d steps to be skipped, want the 6 items", got)
	}
	// A changed item opens an epoch of its own, not of those whose name begins like it.
	type page struct {
		URL string
		Sum int
	}
	s2 := openStore(t)
	again := func(sum int) (ran string) {
		run(t, s2, func(ctx context.Context) (int, error) { //nolint:errcheck // on purpose
			pawl.Map(ctx, "m", []page{{"p", sum}, {"p/q", 1}, {"p/q/r", 1}}, func(p page) string { return p.URL }, func(_ context.Context, p page) (int, error) { //nolint:errcheck // on purpose
				ran += " " + p.URL
				return 0, nil
			}, pawl.Parallel(1), pawl.RerunOnChange())
			return 0, errors.New("not yet")
		})
		return ran
	}
	if got := again(1) + "|" + again(2) + "|" + again(2); got != " p p/q p/q/r| p|" {
		t.Errorf("ran%s", got)
	}
}

// pawlResume opens run r and says what the opening found.
func pawlResume(t *testing.T, s *pawl.Store) pawl.Resume {
	t.Helper()
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Resumed()
}

func TestScopesThatCannotBe(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for _, name := range []string{"", "/", "/a", "a/", "a//b", "caf\xe9", "a\x00b", strings.Repeat("s", 2000)} {
			sc := pawl.Scope(pawl.Scope(ctx, name), "fine")
			_, err := pawl.Step(sc, "s", func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
			wantErr(t, err, pawl.ErrInvalid)
		}
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A tilde in a scope's name is escaped as in a step's, or Scope("a~1b") would be the scope of
// Step("a/b").
func TestScopesAreEscaped(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (int, error) { return 1, nil }
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "a/b", func(ctx context.Context) (int, error) { return pawl.Step(ctx, "x", one) }); err != nil {
			return 0, err
		}
		for _, name := range []string{"a~1b", "a/b", "~0"} {
			if _, err := pawl.Step(pawl.Scope(ctx, name), "x", one); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}); err != nil {
		t.Fatal(err)
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, st := range steps {
		keys = append(keys, st.Key)
	}
	slices.Sort(keys)
	if got := strings.Join(keys, " "); got != "a/b/x a~01b/x a~1b a~1b/x ~00/x" {
		t.Errorf("keys %s", got)
	}
}

// Scope(ctx, "a") and the step "a" are one place, with one state.
func TestScopeAndStepOfOneName(t *testing.T) {
	s := openStore(t)
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		if _, err := pawl.Step(ctx, "a", func(ctx context.Context) (int, error) { return 0, pawl.SaveState(ctx, 7) }); err != nil {
			return 0, err
		}
		if n, ok, err := pawl.LoadState[int](pawl.Scope(ctx, "a")); n != 7 || !ok || err != nil {
			t.Errorf("the scope's state is %d, %v, %v", n, ok, err)
		}
		return 0, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What goroutines leave behind is waited for; nothing new begins, nothing is lost.
func TestStragglers(t *testing.T) {
	s := openStore(t)
	var late error
	var wg sync.WaitGroup
	release := make(chan struct{})
	fn := func(ctx context.Context) (int, error) {
		started := make(chan struct{})
		wg.Go(func() {
			_, late = pawl.Step(ctx, "late", func(context.Context) (int, error) {
				close(started)
				<-release
				return 1, nil
			})
			_, err := pawl.Step(ctx, "later", func(context.Context) (int, error) { t.Error("began after fn had returned"); return 0, nil })
			if !errors.Is(err, pawl.ErrClosed) && !errors.Is(err, pawl.ErrComplete) {
				t.Errorf("a step after fn returned: %v", err)
			}
		})
		<-started
		go close(release)
		return 0, errors.New("fn gives up")
	}
	run(t, s, fn) //nolint:errcheck // on purpose
	wg.Wait()
	if late != nil {
		t.Errorf("the step under way when fn returned: %v", late)
	}
	v, err := run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "late", func(context.Context) (int, error) { t.Error("ran again"); return 0, nil })
	})
	if v != 1 || err != nil {
		t.Error(v, err)
	}
}

func TestCompleteWithStepsUnderWay(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	started, release, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := pawl.Step(r.Context(t.Context()), "slow", func(context.Context) (int, error) {
			close(started)
			<-release
			return 1, nil
		})
		ended <- err
	}()
	<-started
	err = r.Complete(1)
	wantErr(t, err, pawl.ErrInvalid)
	if !strings.Contains(err.Error(), `"slow"`) {
		t.Errorf("the step is not named: %v", err)
	}
	close(release)
	if err := errors.Join(<-ended, r.Complete(1), r.Close()); err != nil {
		t.Error(err)
	}
}

// A callback that panics is the caller's panic, not the end of the process.
func TestProgressThatPanics(t *testing.T) {
	s := openStore(t)
	defer func() {
		if fmt.Sprint(recover()) == "<nil>" {
			t.Error("no panic")
		}
		if info := inspect(t, s); info.Status != runs.Failed || info.Owner != nil || info.Done == 0 {
			t.Errorf("after the panic: %+v", info)
		}
	}()
	run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
		_, err := pawl.Map(ctx, "m", []int{1, 2, 3}, func(i int) string { return fmt.Sprint(i) }, func(context.Context, int) (int, error) { return 0, nil })
		return 0, err
	}, pawl.OnProgress(func(p runs.Progress) {
		if p.Done == 1 {
			panic("a callback")
		}
	}))
}

func TestNestedFailuresSpeakOnce(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "a", func(ctx context.Context) (int, error) {
			return pawl.Step(ctx, "b", func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "c", func(context.Context) (int, error) { return 0, errors.New("cause") })
			})
		})
	})
	if want := `pawl: run "r" step "a/b/c" failed (try 1): cause`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || len(steps) != 3 || steps[2].Error != "cause" || steps[0].Error != `step "a/b/c": cause` {
		t.Errorf("recorded %+v, %v", steps, err)
	}
}
