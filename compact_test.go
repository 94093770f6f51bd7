package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// meaning is what a run is, whatever its journal looks like.
func meaning(t *testing.T, s *pawl.Store) string {
	t.Helper()
	info := inspect(t, s)
	steps, err := s.Steps(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s attempts %d, %d done, %d failed, %d running, took %v, error %q, input %s, maps %v\n",
		info.ID, info.UID, info.Status, info.Attempts, info.Done, info.Failed, info.Running, info.Took, info.Error, info.Input, info.Maps)
	var lines []string
	for _, st := range steps {
		lines = append(lines, fmt.Sprintf("%s %s item %v tries %d took %v ended %v error %q", st.Key, st.Status, st.Item, st.Tries, st.Took, st.Ended, st.Error))
	}
	sort.Strings(lines)
	return b.String() + strings.Join(lines, "\n")
}

// A run with everything in it means the same after a compaction, also of a run that
// is at work, and goes on as it would have.
func TestCompactKeepsTheMeaning(t *testing.T) {
	s := openStore(t)
	effects := map[string]int{}
	step := func(ctx context.Context, key string, input any, opts ...pawl.StepOption) (string, error) {
		return pawl.Step(ctx, key, func(context.Context) (string, error) {
			effects[key]++
			return fmt.Sprint(key, " for ", input), nil
		}, append(opts, pawl.WithInput(input), pawl.RerunOnChange())...)
	}
	attempt := 0
	fn := func(ctx context.Context) (string, error) {
		attempt++
		a, err := step(ctx, "a", attempt/4) // another input, so another epoch, in the fourth attempt
		if err != nil {
			return "", err
		}
		_, err = pawl.Map(ctx, "m", []int{1, 2, 3}, func(i int) string { return fmt.Sprint(i) }, func(ctx context.Context, i int) (string, error) {
			if i == 2 && attempt < 5 {
				return "", fmt.Errorf("attempt %d", attempt)
			}
			return step(ctx, "inner", i)
		}, pawl.Parallel(1))
		if err != nil {
			return "", err
		}
		b, err := step(ctx, "b", nil)
		return a + b, err
	}
	for range 4 {
		if _, err := run(t, s, fn, pawl.RunInput("in"), pawl.RunKind("k")); err == nil {
			t.Fatal("no error")
		}
		before := meaning(t, s)
		was, now, err := s.Compact(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if after := meaning(t, s); after != before {
			t.Fatalf("before\n%s\nafter\n%s", before, after)
		}
		if attempt > 1 && now >= was {
			t.Errorf("attempt %d: %d bytes became %d", attempt, was, now)
		}
	}
	// While the run is at work, between and inside steps.
	result, err := run(t, s, func(ctx context.Context) (string, error) {
		r, err := s.Begin(ctx, "other")
		if err != nil {
			return "", err
		}
		defer r.Close()
		oc := r.Context(ctx)
		for i := range 50 {
			if _, err := step(oc, fmt.Sprint("other/", i), i); err != nil {
				return "", err
			}
			if i%10 == 3 {
				if err := r.Compact(); err != nil {
					return "", err
				}
			}
		}
		if err := r.Complete("x"); err != nil {
			return "", err
		}
		return fn(ctx)
	}, pawl.RunInput("in"))
	if err != nil || result != "a for 1b for <nil>" {
		t.Fatal(result, err)
	}
	if _, _, err := s.Compact(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if again, err := run(t, s, fn, pawl.RunInput("in")); again != result || err != nil {
		t.Errorf("the result after a compaction: %q, %v", again, err)
	}
	if effects["a"] != 2 || effects["inner"] != 3 || effects["b"] != 1 {
		t.Errorf("effects %v", effects)
	}
}

func TestCompactRefusals(t *testing.T) {
	s := openStore(t)
	_, _, err := s.Compact(t.Context(), "r")
	wantErr(t, err, pawl.ErrNotFound)
	r, err := s.Begin(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Compact(t.Context(), "r")
	wantErr(t, err, pawl.ErrLocked)
	r.Close()
	wantErr(t, r.Compact(), pawl.ErrClosed)
	path := inspect(t, s).Path
	if err := overwrite(path, func(b []byte) { b[20] ^= 1 }); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	_, _, err = s.Compact(t.Context(), "r")
	wantErr(t, err, pawl.ErrCorrupt)
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the damaged journal was changed")
	}
}

func TestCompactState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	ck := openState[agentState](t, path)
	st := agentState{Raw: map[string]any{"n": json.Number("1e5")}}
	for i := range 300 {
		st.Cursor = i
		st.Messages = append(st.Messages, strings.Repeat("m", i%30))
		if err := ck.Save(st); err != nil {
			t.Fatal(err)
		}
		if i%70 == 9 {
			if err := ck.Compact(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(ck.Compact(), ck.Close()); err != nil {
		t.Fatal(err)
	}
	ck = openState[agentState](t, path)
	if got := ck.State(); !reflect.DeepEqual(got, st) {
		t.Errorf("after compactions: %+v", got)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Size() > 10_000 {
		t.Errorf("the file has %d bytes, %v", fi.Size(), err)
	}
	if err := errors.Join(ck.Complete("done"), ck.Compact(), ck.Close()); err != nil {
		t.Fatal(err)
	}
	ck = openState[agentState](t, path)
	var done string
	if ok, err := ck.Result(&done); !ok || err != nil || done != "done" {
		t.Errorf("Result = %v %v %q", ok, err, done)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 { // the journal and its lock
		t.Errorf("left over: %v, %v", left, err)
	}
}
