package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// C-54: what items did that are not in the list any more stays: in the history, among the
// steps, through a compaction, and for a start that has them in its list again.
func TestC54ResultsOfRemovedItemsStay(t *testing.T) {
	s := openStore(t)
	ran := ""
	start := func(items, stopAt string) (string, error) {
		return run(t, s, func(ctx context.Context) (string, error) {
			out, err := pawl.Map(ctx, "m", strings.Split(items, ""), func(s string) string { return s }, func(_ context.Context, s string) (string, error) {
				if s == stopAt {
					return "", errors.New("stop")
				}
				ran += s
				return "result of " + s, nil
			}, pawl.Parallel(1))
			return strings.Join(out, ","), errors.Join(err, errors.New("once more"))
		})
	}
	stay := func(when string, keys ...string) {
		t.Helper()
		done := map[string]bool{}
		steps, err := s.Steps(t.Context(), "r")
		ckNil(t, err)
		for _, st := range steps {
			done[st.Key] = st.Status == "done"
		}
		h := history(t, s)
		for _, key := range keys {
			if !done["m/"+key] || strings.Count(h, `"result of `+key+`"`) != 1 {
				t.Errorf("%s: the result of %s is gone: steps %v", when, key, done)
			}
		}
	}
	for i, tt := range []struct{ items, stopAt, ran string }{
		{"abcd", "c", "ab"}, {"xabcd", "c", "xd"}, {"dcba", "c", ""}, {"cd", "-", "c"}, {"e", "-", "e"}, {"abcdex", "-", ""},
	} {
		ran = ""
		if _, err := start(tt.items, tt.stopAt); err == nil || ran != tt.ran {
			t.Errorf("%s: %v, ran %q", tt.items, err, ran)
		}
		stay(tt.items, strings.Split("abxdce"[:[]int{2, 4, 4, 5, 6, 6}[i]], "")...)
		if i%2 == 1 {
			_, _, err := s.Compact(t.Context(), "r")
			ckNil(t, err)
			stay(tt.items+", compacted", "a", "b", "x")
		}
	}
}

// C-65: of four steps at once one fails while another is still at work. The next start, two
// at once, does only that one again, and the results are those of the first start.
func TestC65OneOfFourFails(t *testing.T) {
	s := openStore(t)
	var calls atomic.Int32
	var mu sync.Mutex
	ran := map[int]int{}
	first := map[int]string{}
	failed := make(chan struct{})
	start := func(parallel int, fail bool) ([]string, error) {
		return run(t, s, func(ctx context.Context) ([]string, error) {
			return pawl.Map(ctx, "m", []int{1, 2, 3, 4}, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (string, error) {
				n := calls.Add(1)
				mu.Lock()
				ran[i]++
				mu.Unlock()
				switch {
				case i == 4 && fail:
					for calls.Load() < 4 { // the others are under way
						time.Sleep(time.Millisecond)
					}
					close(failed)
					return "", errors.New("the tool broke")
				case i == 3 && fail:
					<-failed
					time.Sleep(20 * time.Millisecond)
				}
				v := fmt.Sprint(i, " by call ", n)
				if fail {
					mu.Lock()
					first[i] = v
					mu.Unlock()
				}
				return v, nil
			}, pawl.Parallel(parallel))
		})
	}
	out, err := start(4, true)
	if e, ok := errors.AsType[*pawl.StepError](err); !ok || e.Key != "m/4" || out != nil {
		t.Fatalf("%v, %v", out, err)
	}
	if info := inspect(t, s); info.Done != 3 || info.Failed != 1 || info.Running != 0 {
		t.Errorf("info = %+v", info)
	}
	out, err = start(2, false)
	if err != nil || fmt.Sprint(ran) != "map[1:1 2:1 3:1 4:2]" {
		t.Errorf("%v, ran %v", err, ran)
	}
	if !slices.Equal(out, []string{first[1], first[2], first[3], "4 by call 5"}) {
		t.Errorf("results %q, those of the first start %v", out, first)
	}
}

// C-74: the store is removed, or another run's journal is put in the place of a run's, while
// it is at work. Nothing is acknowledged from then on, nothing is made anew behind anybody's
// back, and no byte of the other's file changes.
func TestC74StoreRemovedOrJournalReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed on Windows")
	}
	for name, do := range map[string]func(dir, path string) error{
		"rm -r": func(dir, _ string) error { return os.RemoveAll(dir) },
		"rm -r of its runs": func(_, path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Mkdir(filepath.Dir(path), 0o700))
		},
		"another run": func(_, path string) error { return os.Rename(filepath.Join(filepath.Dir(path), "other.jsonl"), path) },
		"a link to another run": func(_, path string) error {
			return errors.Join(os.Remove(path), os.Symlink("other.jsonl", path))
		},
		"a copy of another run": func(_, path string) error {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "other.jsonl"))
			return errors.Join(err, os.WriteFile(path+".x", text, 0o600), os.Rename(path+".x", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "store")
			s, err := pawl.Open(dir)
			ckNil(t, err)
			_, err = pawl.Do(t.Context(), s, "other", func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "paid", func(context.Context) (int, error) { return 1, nil })
			})
			ckNil(t, err)
			var before map[string]string
			_, err = run(t, s, func(ctx context.Context) (int, error) {
				_, _, err := pawl.LoadState[int](ctx)
				ckNil(t, errors.Join(err, pawl.SaveState(ctx, 1)))
				ckNil(t, do(dir, inspect(t, s).Path))
				before = tree(t, parent)
				for i := range 3 { // every time, and in every way
					_, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (int, error) { t.Error("a step runs without a record"); return 0, nil })
					wantErr(t, err, pawl.ErrReplaced)
					wantErr(t, pawl.SaveState(ctx, 2+i), pawl.ErrReplaced)
					wantErr(t, pawl.SaveState(ctx, 1), pawl.ErrReplaced)
				}
				return 7, nil // nor can it be completed
			})
			wantErr(t, err, pawl.ErrReplaced)
			after := tree(t, parent)
			delete(before, "store/runs/r.lock") // which says who has it open
			delete(after, "store/runs/r.lock")
			if !maps.Equal(after, before) {
				t.Errorf("before\n%v\nafter\n%v", before, after)
			}
			if strings.HasPrefix(name, "rm") {
				return
			}
			_, err = run(t, s, func(context.Context) (int, error) { t.Error("it starts"); return 0, nil })
			if err == nil || errors.Is(err, pawl.ErrNotFound) {
				t.Errorf("the next start: %v", err)
			}
		})
	}
}

// C-75: the histories of a fork and of the run it comes from, and each without the other.
func TestC75HistoriesAndDeletions(t *testing.T) {
	keys := func(s *pawl.Store, id string) string {
		t.Helper()
		var keys []string
		for e, err := range s.History(t.Context(), id) {
			ckNil(t, err)
			if e.Kind == "step" {
				keys = append(keys, e.Key)
			}
		}
		return strings.Join(keys, ",")
	}
	for _, deleted := range []string{"r", "fork"} {
		s := openStore(t)
		var calls []string
		grow(t, s, "r", &calls, "1", "2", "3", "4")
		steps, err := s.Steps(t.Context(), "r")
		ckNil(t, err)
		ckNil(t, s.Fork(t.Context(), "r", steps[1].Seq, "fork"))
		grow(t, s, "fork", &calls, "1", "2", "3'", "4'")
		grow(t, s, "r", &calls, "1", "2", "3", "4", "5")
		if r, f := keys(s, "r"), keys(s, "fork"); r != "1,2,3,4,5" || f != "1,2,3',4'" {
			t.Errorf("histories %s and %s", r, f)
		}
		left := map[string]string{"r": "fork", "fork": "r"}[deleted]
		path := mustInspect(t, s, left).Path
		before := ckRead(t, path)
		ckNil(t, s.Delete(t.Context(), deleted))
		if ckRead(t, path) != before {
			t.Errorf("deleting %s changed %s", deleted, left)
		}
		for info, err := range s.Runs(t.Context()) {
			if err != nil || info.Err != nil || info.ID != left {
				t.Errorf("there is %+v, %v", info, err)
			}
		}
		n := len(calls)
		grow(t, s, left, &calls, "1", "2", "last")
		if len(calls) != n+1 {
			t.Errorf("without %s, %s did again: %v", deleted, left, calls[n:])
		}
		_, _, err = s.Compact(t.Context(), left)
		ckNil(t, err)
		grow(t, s, left, &calls, "1", "2", "last")
		if len(calls) != n+1 {
			t.Errorf("compacted, %s did again: %v", left, calls[n:])
		}
	}
}
