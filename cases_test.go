package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/pawltest"
)

// twice runs fn until its step "v" is recorded and once more, and gives what the step
// returned each time.
func twice[T any](t *testing.T, s *pawl.Store, v T) [2]T {
	t.Helper()
	var got [2]T
	for i := range got {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			var err error
			got[i], err = pawl.Step(ctx, "v", func(context.Context) (T, error) { return v, nil })
			if err != nil {
				t.Fatal(err)
			}
			return 0, errors.New("once more")
		})
		if err == nil || err.Error() != "once more" {
			t.Fatal(err)
		}
	}
	return got
}

func TestC16Floats(t *testing.T) {
	want := []float64{0.1, 0.30000000000000004, 5e-324, math.Copysign(0, -1), 1e21}
	for _, got := range twice(t, openStore(t), want) {
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Errorf("%v came back as %v", want[i], got[i])
			}
		}
	}
	type offset struct {
		Offset int `json:"offset"`
	}
	s := openStore(t)
	twice(t, s, offset{1101769})
	if h := history(t, s); !strings.Contains(h, `"offset":1101769`) {
		t.Errorf("written as %s", h)
	}
	path := filepath.Join(t.TempDir(), "imported.json")
	if err := os.WriteFile(path, []byte(`{"state":{"offset":1.101769e+06},"status":"in_progress"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := pawl.OpenFile[offset](path)
	wantErr(t, err, pawl.ErrMismatch)
	if !strings.Contains(err.Error(), "$.offset") {
		t.Errorf("the message should name the field: %v", err)
	}
}

// C-20: far beyond the limit, where the JSON package has one of its own, ours is named too.
func TestC20Message(t *testing.T) {
	ck := ckOpen[any](t, filepath.Join(t.TempDir(), "a.json"))
	var v any
	for range 10_001 {
		v = []any{v}
	}
	ckWant(t, ck.Save(v), pawl.ErrInvalid, "$[0][0]", "nested deeper than 500 levels")
}

func TestC20Nesting(t *testing.T) {
	nested := func(depth int, open, inner, end string) json.RawMessage {
		return json.RawMessage(strings.Repeat(open, depth-1) + inner + strings.Repeat(end, depth-1))
	}
	for _, kind := range []struct{ open, inner, end, place string }{{"[", "[]", "]", "$[0][0]"}, {`{"a":`, "{}", "}", "$.a.a"}} {
		s := openStore(t)
		want := nested(500, kind.open, kind.inner, kind.end)
		for _, got := range twice(t, s, want) {
			if !bytes.Equal(got, want) {
				t.Errorf("came back changed")
			}
		}
		for _, k := range keepers[json.RawMessage](t.TempDir()) { // a state, in each envelope
			o := k.mustOpen(t)
			ckNil(t, o.save(want))
			wantSays(t, o.save(nested(501, kind.open, kind.inner, kind.end)), pawl.ErrInvalid, kind.place, "nested deeper than 500 levels")
			wantSays(t, o.save(nested(10_001, kind.open, kind.inner, kind.end)), pawl.ErrInvalid, kind.place, "nested deeper than 500 levels")
			ckNil(t, o.close())
			o = k.mustOpen(t)
			if got, err := o.load(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: came back changed, %v", k.name, err)
			}
			ckNil(t, o.close())
		}
		for _, levels := range []int{501, 10_001} {
			before := history(t, s)
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				deep := nested(levels, kind.open, kind.inner, kind.end)
				_, err := pawl.Step(ctx, "deep", func(context.Context) (json.RawMessage, error) { return deep, nil })
				wantSays(t, err, pawl.ErrInvalid, `"deep"`, kind.place)
				_, _, stateErr := pawl.LoadState[json.RawMessage](ctx)
				wantSays(t, errors.Join(stateErr, pawl.SaveState(ctx, deep)), pawl.ErrInvalid, kind.place)
				return 0, err
			})
			wantErr(t, err, pawl.ErrInvalid)
			if h := history(t, s); !strings.HasPrefix(h, before) || strings.Contains(h, strings.Repeat(kind.open, 501)) {
				t.Error("it is in the history, or what was there before is not")
			}
		}
		if got := twice(t, s, json.RawMessage("null")); !bytes.Equal(got[0], want) {
			t.Error("what was recorded before is gone")
		}
	}
}

func TestC22NUL(t *testing.T) {
	const want = "tool \x00 output"
	for _, got := range twice(t, openStore(t), want) {
		if got != want {
			t.Errorf("%q came back", got)
		}
	}
}

// hostileIDs are those of cases C-25 to C-30: every one a run of its own.
var hostileIDs = []string{
	"org/model.v1", "a b", "a_b", "a--b", "a/b", "a%2Fb", ".hidden", "x.json", "x", // C-25
	strings.Repeat("a", 300), strings.Repeat("b", 299) + "1", strings.Repeat("b", 299) + "2", strings.Repeat("\U0001F600", 100), // C-26
	"../../outside", "/etc/x", "..", ".", `..\x`, `C:\x`, "a/../../b", // C-27
	"CON", "nul", "aux.v1", "COM1", "run.", "run ", "a:b", "a|b", "a?b", // C-28
	"Run-A", "run-a", // C-29
	"caf\u00e9", "cafe\u0301", // C-30
}

func TestC25toC30RunIDs(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "store")
	s, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	do := func(s *pawl.Store, id, v string) (string, error) {
		return pawl.Do(t.Context(), s, id, func(ctx context.Context) (string, error) {
			return pawl.Step(ctx, "v", func(context.Context) (string, error) { return v, nil })
		})
	}
	for _, id := range hostileIDs {
		if v, err := do(s, id, "value of "+id); err != nil || v != "value of "+id {
			t.Errorf("%q: %q, %v", id, v, err)
		}
	}
	again, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range hostileIDs { // each is still itself, whoever opens it
		if v, err := do(again, id, "of another"); err != nil || v != "value of "+id {
			t.Errorf("opened again, %q has %q, %v", id, v, err)
		}
	}
	for _, id := range []string{"", "a\x00b", strings.Repeat("a", 513), "\xff"} {
		_, err := do(s, id, "")
		wantErr(t, err, pawl.ErrInvalid)
		wantErr(t, s.Delete(t.Context(), id), pawl.ErrInvalid)
	}
	var listed []string
	for id, err := range s.IDs(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, id)
	}
	want := slices.Clone(hostileIDs)
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("listed %q", listed)
	}
	// What a file system that folds case, or normalises, would make one.
	names := map[string]string{}
	for _, id := range hostileIDs {
		info := mustInspect(t, s, id)
		name := strings.ToLower(filepath.Base(info.Path))
		if filepath.Dir(info.Path) != filepath.Join(dir, "runs") || names[name] != "" || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
			t.Errorf("%q is in %s, like %q", id, info.Path, names[name])
		}
		names[name] = id
	}
	if outside, err := os.ReadDir(parent); err != nil || len(outside) != 1 {
		t.Errorf("outside of the store: %v, %v", outside, err)
	}
	// An ID that stands in a file is checked like one from a user.
	victim := mustInspect(t, s, "x").Path
	if err := os.Rename(mustInspect(t, s, "..").Path, victim); err != nil {
		t.Fatal(err)
	}
	_, err = do(s, "x", "")
	wantErr(t, err, pawl.ErrCorrupt)
}

// C-48: order is the record's number, whatever the clock says; no duration is negative.
func TestC48ClockMovedBack(t *testing.T) {
	clock := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
	s := pawltest.NewStore(t, pawltest.Clock(func() time.Time { return clock }))
	for i := range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			if n, found, err := pawl.LoadState[int](ctx); err != nil || found != (i > 0) || n != 7*i {
				t.Errorf("state %d, %v, %v", n, found, err)
			}
			if err := pawl.SaveState(ctx, 7+i); err != nil {
				return 0, err
			}
			_, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (int, error) { clock = clock.Add(-time.Hour); return 0, nil })
			if err != nil {
				return 0, err
			}
			return 0, errors.New("once more")
		})
		if err.Error() != "once more" {
			t.Fatal(err)
		}
	}
	last := int64(0)
	for e, err := range s.History(t.Context(), "r") {
		if err != nil || e.Seq != last+1 {
			t.Errorf("record %d follows %d, %v", e.Seq, last, err)
		}
		last = e.Seq
	}
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || len(steps) != 2 || steps[0].Took < 0 || steps[1].Took < 0 || steps[0].Key != "0" {
		t.Errorf("steps = %+v, %v", steps, err)
	}
}

// C-59: nothing counts as done that has no result.
func TestC59NoMarkBeforeTheWork(t *testing.T) {
	s := openStore(t)
	calls := 0
	for want := 1; want <= 3; want++ {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Map(ctx, "ingest", []string{"doc"}, func(d string) string { return d }, func(context.Context, string) (int, error) {
				calls++
				return 0, errors.New("a later stage failed")
			})
			return 0, err
		})
		if err == nil || calls != want {
			t.Fatalf("start %d: %v, %d calls", want, err, calls)
		}
		if info := inspect(t, s); info.Done != 0 || info.Failed != 1 {
			t.Errorf("info = %+v", info)
		}
	}
}

// C-60: items that were only fetched are not done, and a helper value is kept by the state.
func TestC60CountedWhenFinished(t *testing.T) {
	s := openStore(t)
	items := make([]string, 20)
	for i := range items {
		items[i] = fmt.Sprint("item-", i)
	}
	var mu sync.Mutex
	done := map[string]int{}
	fn := func(kill bool) (float64, error) {
		return pawl.Do(t.Context(), s, "r", func(ctx context.Context) (float64, error) {
			best, _, err := pawl.LoadState[float64](ctx)
			if err != nil {
				return 0, err
			}
			_, err = pawl.Map(ctx, "train", items, func(i string) string { return i }, func(ctx context.Context, item string) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				if kill && len(done) == 5 {
					return 0, pawl.ErrWaiting // the run stops here, with what is under way
				}
				done[item]++
				best = max(best, 0.9)
				return 0, nil
			}, pawl.Parallel(16))
			return best, errors.Join(err, pawl.SaveState(ctx, best))
		})
	}
	if _, err := fn(true); !errors.Is(err, pawl.ErrWaiting) {
		t.Fatal(err)
	}
	best, err := fn(false)
	if err != nil || best != 0.9 || len(done) != 20 {
		t.Errorf("best %v, %d items, %v", best, len(done), err)
	}
	for item, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", item, n)
		}
	}
}

// C-77: a result that is not there any more is an error, never a nil or an older value.
func TestC77StoredResultIsGone(t *testing.T) {
	s := openStore(t)
	step := func(ctx context.Context, key string) (string, error) {
		return pawl.Step(ctx, key, func(context.Context) (string, error) { return "result of " + key, nil })
	}
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		for _, key := range []string{"1", "2", "3"} {
			if _, err := step(ctx, key); err != nil {
				return 0, err
			}
		}
		return 0, errors.New("once more")
	}); err.Error() != "once more" {
		t.Fatal(err)
	}
	path := inspect(t, s).Path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(text, []byte("result of 2"))
	for _, change := range []func() []byte{
		func() []byte { return slices.Concat(text[:i], []byte("result of X"), text[i+11:]) },
		func() []byte { // the whole line
			begin, end := bytes.LastIndexByte(text[:i], '\n')+1, i+bytes.IndexByte(text[i:], '\n')+1
			return slices.Concat(text[:begin], text[end:])
		},
	} {
		if err := os.WriteFile(path, change(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := run(t, s, func(ctx context.Context) (string, error) { t.Error("it goes on"); return "", nil })
		wantErr(t, err, pawl.ErrCorrupt)
	}
}

// C-77: a record that says "done" and has no value is damage, and which step it is about is said.
func TestC77VerifyNamesTheStep(t *testing.T) {
	s := openStore(t)
	var calls []string
	grow(t, s, "r", &calls, "step-1", "step-2", "step-3")
	path := inspect(t, s).Path
	rewriteJournal(t, path, recordWith(t, path, `"kind":"step","key":"step-2"`), `"value":`, `"valeu":`)
	text := ckRead(t, path)
	_, _, err := journal.Verify(strings.NewReader(text), int64(len(text)), nil)
	wantErr(t, err, pawl.ErrCorrupt)
	if !strings.Contains(err.Error(), `a step without a value: "step-2"`) {
		t.Errorf("Verify says: %v", err)
	}
}

// C-79: when saving fails the loop is told, at once and every time, and everybody else can
// see how far it really came.
func TestC79SaveFailuresAreLoud(t *testing.T) {
	s := openStore(t)
	calls := 0
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for i := 1; ; i++ {
			if i == 11 {
				if err := os.Truncate(inspect(t, s).Path, 0); err != nil { // whatever it is that makes saves fail
					return 0, err
				}
			}
			if _, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (int, error) { calls++; return i, nil }); err != nil {
				_, again := pawl.Step(ctx, "next", func(context.Context) (int, error) { calls++; return i, nil })
				wantErr(t, again, pawl.ErrReplaced)
				return 0, err
			}
		}
	})
	wantErr(t, err, pawl.ErrReplaced)
	if calls != 10 {
		t.Errorf("%d calls", calls)
	}
}

// There is no stale copy to save: whoever is not the owner is refused.
func TestC46NoStaleCopies(t *testing.T) {
	s := openStore(t)
	a := begin(t, s)
	if err := pawl.SaveState(a.Context(t.Context()), 5); err != nil {
		t.Fatal(err)
	}
	_, err := s.Begin(t.Context(), "r")
	wantErr(t, err, pawl.ErrLocked)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := begin(t, s)
	defer b.Close()
	if _, _, err := pawl.LoadState[int](b.Context(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := pawl.SaveState(b.Context(t.Context()), 6); err != nil {
		t.Fatal(err)
	}
	wantErr(t, pawl.SaveState(a.Context(t.Context()), 7), pawl.ErrClosed)
	if n, _, err := pawl.LoadState[int](b.Context(t.Context())); n != 6 || err != nil {
		t.Errorf("state %d, %v", n, err)
	}
	before := inspect(t, s).Records
	if err := pawl.SaveState(b.Context(t.Context()), 6); err != nil || inspect(t, s).Records != before {
		t.Errorf("an unchanged save wrote: %v", err)
	}
}
