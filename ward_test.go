package pawl_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest/witness"
	"github.com/pawlgo/pawl/retry"
)

func sameName(s string) string { return s }

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}

// crowd is a Map of eight items, all under way at once; together ends the process when n are.
func crowd(ctx context.Context, n int, fn func(ctx context.Context, item string, together func()) (string, error), opts ...pawl.MapOption) error {
	var in atomic.Int32
	together := func() {
		if int(in.Add(1)) == n {
			killMyself()
		}
		select {}
	}
	_, err := pawl.Map(ctx, "m", numbered("i", 8), sameName, func(ctx context.Context, item string) (string, error) {
		return fn(ctx, item, together)
	}, append(opts, pawl.Parallel(8))...)
	return err
}

var (
	wardLimit = limit.New("TestSuspectsWithALimit", 2, limit.Unlimited())
	atMost3   = retry.MaxCrashes(3)
)

func init() {
	// All of eight items are under way at the death; the work is in the items.
	poisonPrograms["crowd"] = func(ctx context.Context, _ *witness.Log) (string, error) {
		return "", crowd(ctx, 8, func(_ context.Context, _ string, together func()) (string, error) {
			together()
			return "", nil
		}, atMost3)
	}
	// Two of eight, since there is a limit; the work is in a step inside each.
	for _, inner := range []string{"plain", "watched"} {
		poisonPrograms["limited "+inner] = func(ctx context.Context, _ *witness.Log) (string, error) {
			return "", crowd(ctx, 2, limitedItem(inner), atMost3, wardLimit)
		}
	}
	// Items in items, of which one ends its process; the work of each begins and ends.
	for _, outer := range []string{"plain", "watched"} {
		poisonPrograms["nested "+outer] = func(ctx context.Context, w *witness.Log) (string, error) {
			if err := w.Effect("="); err != nil {
				return "", err
			}
			opts := []pawl.MapOption{pawl.Parallel(3)}
			if outer == "watched" {
				opts = append(opts, retry.MaxCrashes(2))
			}
			_, err := pawl.Map(ctx, "o", numbered("o", 3), sameName, func(ctx context.Context, o string) (string, error) {
				_, err := pawl.Map(ctx, "i", numbered("i", 3), sameName, func(_ context.Context, i string) (string, error) {
					return o + i, deadly(w, o+i, "o1i2")
				}, pawl.Parallel(3), retry.MaxCrashes(2))
				return o, err
			}, opts...)
			return "done", err
		}
	}
	// Sixteen items, four at once.
	poisonPrograms["sixteen"] = func(ctx context.Context, w *witness.Log) (string, error) {
		if err := w.Effect("="); err != nil {
			return "", err
		}
		_, err := pawl.Map(ctx, "m", numbered("i", 16), sameName, func(_ context.Context, i string) (string, error) {
			return i, deadly(w, i, "i3")
		}, pawl.Parallel(4), retry.MaxCrashes(3))
		return "done", err
	}
}

// limitedItem has a step inside, with MaxCrashes or without.
func limitedItem(inner string) func(ctx context.Context, item string, together func()) (string, error) {
	return func(ctx context.Context, item string, together func()) (string, error) {
		var opts []pawl.StepOption
		if inner == "watched" {
			opts = append(opts, atMost3)
		}
		return pawl.Step(ctx, "fetch", func(context.Context) (string, error) { together(); return item, nil }, opts...)
	}
}

// deadly tells the witness when the work of an item begins and ends; that of bad ends the process.
func deadly(w *witness.Log, item, bad string) error {
	if err := w.Effect("+" + item); err != nil {
		return err
	}
	if item == bad {
		time.Sleep(15 * time.Millisecond)
		killMyself()
	}
	time.Sleep(5 * time.Millisecond)
	return w.Effect("-" + item)
}

// killed starts a program that dies, and opens its store in this process.
func killed(t *testing.T, program string) *pawl.Store {
	t.Helper()
	dir := t.TempDir()
	if _, starts, said := restart(t, dir, program, 1); starts != 2 {
		t.Fatalf("it did not die: %s", said)
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	return s
}

// Behind a death in company, items that must run alone and a limit that others have do not wait
// for each other, wherever the deaths are counted.
func TestSuspectsWithALimit(t *testing.T) {
	for _, inner := range []string{"plain", "watched"} {
		t.Run(inner, func(t *testing.T) {
			t.Parallel()
			s := killed(t, "limited "+inner)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var done atomic.Int32
			_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (string, error) {
				return "done", crowd(ctx, 0, func(ctx context.Context, item string, _ func()) (string, error) {
					defer done.Add(1)
					return limitedItem(inner)(ctx, item, func() {})
				}, atMost3, wardLimit)
			})
			if err != nil || done.Load() != 8 {
				t.Errorf("%d items done: %v", done.Load(), err)
			}
		})
	}
}

// A step that has taken a place of a limit, and has another one inside, is no trap for suspects.
func TestSuspectsBesideAHolder(t *testing.T) {
	t.Parallel()
	s := killed(t, "crowd")
	l := limit.New(t.Name(), 1, limit.Unlimited())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (string, error) {
		has, held := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := pawl.Step(ctx, "other", func(ctx context.Context) (int, error) {
				close(has)
				time.Sleep(50 * time.Millisecond) // the suspects are there
				return pawl.Step(ctx, "inside", func(context.Context) (int, error) { return 1, nil })
			}, l)
			held <- err
		}()
		<-has
		err := crowd(ctx, 0, func(_ context.Context, item string, _ func()) (string, error) { return item, nil }, atMost3, l)
		return "done", errors.Join(err, <-held)
	})
	ckNil(t, err)
}

// The budget may be used up while a step waits for its turn: then it does not begin.
func TestBudgetBehindSuspects(t *testing.T) {
	t.Parallel()
	s := killed(t, "crowd")
	var spent atomic.Int32
	_, err := run(t, s, func(ctx context.Context) (string, error) {
		return "done", crowd(ctx, 0, func(ctx context.Context, item string, _ func()) (string, error) {
			spent.Add(1)
			time.Sleep(10 * time.Millisecond) // all of them wait by now
			return item, meter.Add(ctx, "usd", 1)
		}, atMost3)
	}, meter.Budget("usd", 1))
	if !errors.Is(err, pawl.ErrBudget) || spent.Load() != 1 {
		t.Errorf("spent %d of 1: %v", spent.Load(), err)
	}
}

// lives reads what a witness saw of the work of items, process by process: which has ended. One
// that was under way at a death must not have had company since.
func lives(t *testing.T, dir string) (ended map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "witness"))
	ckNil(t, err)
	ended = map[string]bool{}
	suspects, under := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		event, err := strconv.Unquote(strings.TrimPrefix(strings.TrimSpace(line), "effect "))
		ckNil(t, err)
		switch item := event[1:]; event[0] {
		case '=': // a process begins
			maps.Copy(suspects, under)
			clear(under)
		case '-':
			delete(under, item)
			delete(suspects, item)
			ended[item] = true
		default:
			under[item] = true
			for it := range under {
				if len(under) > 1 && suspects[it] {
					t.Errorf("%s was under way at a death, and runs with others: %v", it, under)
				}
			}
		}
	}
	return ended
}

// TestPoisonInNestedMaps: of items in items too, each suspect runs alone, so that the poison is
// found soon and all that are innocent get their result.
func TestPoisonInNestedMaps(t *testing.T) {
	for _, outer := range []string{"plain", "watched"} {
		t.Run(outer, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, starts, said := restart(t, dir, "nested "+outer, 12)
			if deaths := starts - 1; deaths > 2*2+1 || !strings.Contains(said, "poison") || !strings.Contains(said, "o/o1/i/i2") {
				t.Fatalf("%d deaths, and it says %s", deaths, said)
			}
			for range 3 { // behind the poison
				restart(t, dir, "nested "+outer, 1)
			}
			if ended := lives(t, dir); len(ended) != 8 || ended["o1i2"] {
				t.Errorf("ended: %v", ended)
			}
			checkPoison(t, dir, "o/o1/i/i2")
		})
	}
}

// checkPoison checks that one step is poison and no other one.
func checkPoison(t *testing.T, dir, key string) {
	t.Helper()
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	steps, err := s.Steps(t.Context(), "r")
	ckNil(t, err)
	var poison []string
	for _, st := range steps {
		if st.Poison {
			poison = append(poison, st.Key)
		}
	}
	if !slices.Equal(poison, []string{key}) {
		t.Errorf("poison: %v, not %s", poison, key)
	}
}

// TestDeathsUntilPoison: one death in company, then as many alone as it takes.
func TestDeathsUntilPoison(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, starts, said := restart(t, dir, "sixteen", 20)
	if deaths := starts - 1; deaths < 3 || deaths > 4 || calls["+i3"] != deaths || !strings.Contains(said, "poison") {
		t.Fatalf("%d deaths, %d calls: %s", deaths, calls["+i3"], said)
	}
	restart(t, dir, "sixteen", 1)
	if ended := lives(t, dir); len(ended) != 15 {
		t.Errorf("%d ended: %v", len(ended), ended)
	}
	checkPoison(t, dir, "m/i3")
	if again, _, _ := restart(t, dir, "sixteen", 1); again["+i3"] != calls["+i3"] {
		t.Errorf("poison is called again: %v", again)
	}
}
