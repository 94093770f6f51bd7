package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/runs"
)

// newerJournal is a journal in a format of the future.
func newerJournal() []byte {
	text, _ := line.Append(nil, 0, 1, 0, []byte(`"kind":"run","format":99,"id":"r"}`))
	return text
}

func TestStepWithoutARun(t *testing.T) {
	_, err := pawl.Step(t.Context(), "s", func(context.Context) (int, error) { return 0, nil })
	wantErr(t, err, pawl.ErrNoRun)
	_, err = pawl.Map(t.Context(), "m", []int{1}, func(int) string { return "k" }, func(context.Context, int) (int, error) { return 0, nil })
	wantErr(t, err, pawl.ErrNoRun)
	if r := pawl.Resumed(pawl.Scope(t.Context(), "x")); r.Attempt != 0 || r.Steps != 0 || r.Saved != 0 || r.Units != nil {
		t.Errorf("Resumed without a run = %+v", r)
	}
}

func TestStepErrorsAreTriedAgain(t *testing.T) {
	s := openStore(t)
	boom := errors.New("boom")
	calls := 0
	flaky := func(context.Context) (string, error) {
		if calls++; calls < 4 {
			return "", fmt.Errorf("call %d: %w", calls, boom)
		}
		return "value", nil
	}
	for attempt := 1; attempt <= 2; attempt++ {
		v, err := run(t, s, func(ctx context.Context) (string, error) {
			v, err := pawl.Step(ctx, "flaky", flaky)
			if attempt == 1 {
				wantErr(t, err, boom)
				// The same key may be asked again once it has failed.
				v, err = pawl.Step(ctx, "flaky", flaky)
			}
			return v, err
		})
		var se *pawl.StepError
		if !errors.As(err, &se) || se.Key != "flaky" || se.Tries != attempt+1 || !errors.Is(err, boom) {
			t.Fatalf("start %d = %q, %v", attempt, v, err)
		}
	}
	if v, err := run(t, s, func(ctx context.Context) (string, error) { return pawl.Step(ctx, "flaky", flaky) }); v != "value" || err != nil {
		t.Fatalf("third start = %q, %v", v, err)
	}
}

func TestDuplicateKeys(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		one := func(context.Context) (int, error) { return 1, nil }
		if _, err := pawl.Step(ctx, "call_0", one); err != nil {
			return 0, err
		}
		_, err := pawl.Step(ctx, "call_0", one)
		wantErr(t, err, pawl.ErrDuplicateKey)
		if !strings.Contains(err.Error(), "Scope") {
			t.Errorf("the message should propose Scope: %v", err)
		}
		if _, err := pawl.Step(pawl.Scope(ctx, "turn/1"), "call_0", one); err != nil {
			t.Errorf("in a scope of its own: %v", err)
		}
		// A key that is running.
		var ran atomic.Int32
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = pawl.Step(ctx, "raced", func(context.Context) (int, error) { ran.Add(1); return 1, nil })
			})
		}
		wg.Wait()
		refused := 0
		for _, err := range errs {
			if errors.Is(err, pawl.ErrDuplicateKey) {
				refused++
			}
		}
		if ran.Load() != 1 || refused != len(errs)-1 {
			t.Errorf("raced: ran %d times, refused %d", ran.Load(), refused)
		}
		_, err = pawl.Map(ctx, "m", []string{"p", "p"}, func(s string) string { return s }, func(context.Context, string) (int, error) {
			t.Error("an item with a duplicate key ran")
			return 0, nil
		})
		wantErr(t, err, pawl.ErrDuplicateKey) // C-55
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInvalidKeys(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		for _, key := range []string{"", "\xff", "a\x00b", strings.Repeat("k", 2000)} {
			_, err := pawl.Step(ctx, key, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
			wantErr(t, err, pawl.ErrInvalid)
		}
		for _, key := range []string{"a b", "ü/\u2028\n\t\"\\", "..", "/"} {
			if _, err := pawl.Step(ctx, key, func(context.Context) (int, error) { return 0, nil }); err != nil {
				t.Errorf("key %q: %v", key, err)
			}
		}
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a step cannot store is refused with its place, and the step is not done.
func TestC14C17C23ValuesThatCannotBeStored(t *testing.T) {
	s := openStore(t)
	nan := 0.0
	nan /= nan
	_, err := run(t, s, func(ctx context.Context) (int, error) {
		_, err := pawl.Step(ctx, "nan", func(context.Context) (map[string]float64, error) {
			return map[string]float64{"acc": 0.5, "agree": nan}, nil
		})
		wantErr(t, err, pawl.ErrInvalid)
		if !strings.Contains(err.Error(), "$.agree: NaN") {
			t.Errorf("NaN: %v", err)
		}
		_, err = pawl.Step(ctx, "utf8", func(context.Context) (string, error) { return "a\xffb", nil })
		wantErr(t, err, pawl.ErrInvalid)
		_, err = pawl.Step(ctx, "chan", func(context.Context) (chan int, error) { t.Error("ran"); return nil, nil })
		wantErr(t, err, pawl.ErrInvalid)
		_, err = pawl.Step(ctx, "error", func(context.Context) (struct{ Err error }, error) { t.Error("ran"); return struct{ Err error }{}, nil })
		wantErr(t, err, pawl.ErrInvalid)
		_, err = pawl.Step(ctx, "nan", func(context.Context) (map[string]float64, error) { return map[string]float64{"acc": 0.5}, nil })
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A value is the same live and replayed; raw JSON keeps its bytes.
func TestC15C18C19SameValueLiveAndReplayed(t *testing.T) {
	s := openStore(t)
	raw := json.RawMessage("{ \"b\": 1,\n \"a\":\"x\u2028\u0085\" , \"n\": 1.0e+5}")
	type lossy struct {
		Kept string
		lost string
	}
	var live, again []any
	fn := func(out *[]any) func(ctx context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			r, err := pawl.Step(ctx, "raw", func(context.Context) (json.RawMessage, error) { return raw, nil })
			if err != nil {
				return 0, err
			}
			a, err := pawl.Step(ctx, "any", func(context.Context) (any, error) { return map[string]any{"id": uint64(18446744073709551615)}, nil })
			if err != nil {
				return 0, err
			}
			l, err := pawl.Step(ctx, "lossy", func(context.Context) (lossy, error) { return lossy{"k", "l"}, nil })
			if err != nil {
				return 0, err
			}
			*out = []any{string(r), fmt.Sprint(a), l}
			return 0, errors.New("again, please")
		}
	}
	run(t, s, fn(&live))  //nolint:errcheck // on purpose
	run(t, s, fn(&again)) //nolint:errcheck // on purpose
	if fmt.Sprint(live) != fmt.Sprint(again) {
		t.Errorf("live     %v\nreplayed %v", live, again)
	}
	if live[0] != string(raw) {
		t.Errorf("raw JSON came back as %q", live[0])
	}
	if live[1] != "map[id:18446744073709551615]" {
		t.Errorf("untyped number came back as %v", live[1])
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(history(t, s), "\n"), "\n") {
		if strings.ContainsAny(l, "\u0085\u2028\u2029\n\r") || !json.Valid([]byte(l)) {
			t.Errorf("not one line of JSON: %q", l)
		}
	}
}

func TestRecordThatDoesNotFit(t *testing.T) { // C-51, C-52
	s := openStore(t)
	stop := errors.New("stop")
	run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // on purpose
		if _, err := pawl.Step(ctx, "s", func(context.Context) (map[string]any, error) {
			return map[string]any{"cursor": "7", "notes": []string{"x"}}, nil
		}); err != nil {
			t.Error(err)
		}
		return 0, stop
	})
	for range 2 {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Step(ctx, "s", func(context.Context) (struct {
				Cursor int `json:"cursor"`
			}, error,
			) {
				t.Error("ran")
				return struct {
					Cursor int `json:"cursor"`
				}{}, nil
			})
			return 0, err
		})
		wantErr(t, err, pawl.ErrMismatch)
		if !strings.Contains(err.Error(), "$.cursor") && !strings.Contains(err.Error(), "$.notes") {
			t.Errorf("the place is not named: %v", err)
		}
	}
}

func TestStepInputChanged(t *testing.T) {
	s := openStore(t)
	calls := map[string]int{}
	ask := func(prompt string, opts ...pawl.StepOption) (string, error) {
		return run(t, s, func(ctx context.Context) (string, error) {
			v, err := pawl.Step(ctx, "ask", func(ctx context.Context) (string, error) {
				calls["ask"]++
				return pawl.Step(ctx, "inner", func(context.Context) (string, error) {
					calls["inner"]++
					return "answer to " + prompt, nil
				})
			}, append(opts, pawl.WithInput(map[string]string{"prompt": prompt, "model": "m"}))...)
			if err != nil {
				return "", err
			}
			return "", fmt.Errorf("got %s", v)
		})
	}
	if _, err := ask("p1"); !strings.Contains(fmt.Sprint(err), "answer to p1") {
		t.Fatal(err)
	}
	_, err := ask("p2")
	wantErr(t, err, pawl.ErrInputChanged)
	if !strings.Contains(err.Error(), "$.prompt") || strings.Contains(err.Error(), "$.model") {
		t.Errorf("the differing path is not named: %v", err)
	}
	// A new epoch: neither the old result nor what was recorded inside it.
	for range 2 {
		if _, err := ask("p2", pawl.RerunOnChange()); !strings.Contains(fmt.Sprint(err), "answer to p2") {
			t.Fatal(err)
		}
	}
	if calls["ask"] != 2 || calls["inner"] != 2 {
		t.Errorf("calls %v, want 2 each", calls)
	}
	if !strings.Contains(history(t, s), "answer to p1") {
		t.Error("the older result is not in the history")
	}
}

func TestC54MapFindsItsItemsByKey(t *testing.T) { // C-60
	for _, second := range []string{"xabcd", "dcba", "cd", "abcd"} {
		s := openStore(t)
		var mu sync.Mutex
		ran := ""
		do := func(items, stopAt string) ([]string, error) {
			var out []string
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				var err error
				out, err = pawl.Map(ctx, "m", strings.Split(items, ""), func(s string) string { return s }, func(_ context.Context, s string) (string, error) {
					if s == stopAt {
						return "", errors.New("stop")
					}
					mu.Lock()
					defer mu.Unlock()
					ran += s
					return strings.ToUpper(s), nil
				}, pawl.Parallel(1))
				return 0, err
			})
			return out, err
		}
		if _, err := do("abcd", "c"); err == nil || ran != "ab" {
			t.Fatalf("first start: %v, ran %q", err, ran)
		}
		ran = ""
		out, err := do(second, "")
		if err != nil || strings.Join(out, "") != strings.ToUpper(second) {
			t.Errorf("%s: %q, %v", second, out, err)
		}
		for _, r := range second {
			want := 1
			if r == 'a' || r == 'b' {
				want = 0
			}
			if strings.Count(ran, string(r)) != want {
				t.Errorf("%s: ran %q", second, ran)
			}
		}
	}
}

func TestMapItemChanged(t *testing.T) {
	type doc struct{ ID, Sum string }
	s := openStore(t)
	var mu sync.Mutex
	var ran []string
	do := func(sum string, opts ...pawl.MapOption) error {
		ran = nil
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Map(ctx, "m", []doc{{"a", "1"}, {"b", sum}, {"c", "1"}}, func(d doc) string { return d.ID }, func(_ context.Context, d doc) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, d.ID)
				return d.Sum, nil
			}, opts...)
			if err != nil {
				return 0, err
			}
			return 0, errors.New("not yet")
		})
		return err
	}
	do("1") //nolint:errcheck // on purpose
	err := do("2")
	wantErr(t, err, pawl.ErrInputChanged)
	if !strings.Contains(err.Error(), `"m/b"`) || len(ran) > 0 {
		t.Errorf("error %v, ran %v", err, ran)
	}
	if err := do("2", pawl.RerunOnChange()); errors.Is(err, pawl.ErrInputChanged) || !slices.Equal(ran, []string{"b"}) {
		t.Errorf("with RerunOnChange: %v, ran %v", err, ran)
	}
	if err := do("2"); errors.Is(err, pawl.ErrInputChanged) || len(ran) > 0 {
		t.Errorf("after it ran anew: %v, ran %v", err, ran)
	}
}

// One of four fails: the others keep their results, and only that one runs again.
func TestC58C65MapKeepsWhatFinished(t *testing.T) {
	s := openStore(t)
	var mu sync.Mutex
	ran := map[int]int{}
	gate := make(chan struct{})
	fail := true
	fn := func(ctx context.Context) ([]int, error) {
		return pawl.Map(ctx, "m", []int{1, 2, 3, 4}, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (int, error) {
			mu.Lock()
			ran[i]++
			mu.Unlock()
			if i == 4 && fail {
				close(gate)
				return 0, errors.New("four")
			}
			if fail {
				<-gate // still at work when the fourth fails
			}
			return i * i, nil
		}, pawl.Parallel(4))
	}
	if _, err := run(t, s, fn); err == nil || !strings.Contains(err.Error(), "four") {
		t.Fatal(err)
	}
	if info := inspect(t, s); len(info.Maps) != 1 || info.Maps[0].Done != 3 || info.Maps[0].Total != 4 || info.Maps[0].Failed != 1 {
		t.Errorf("progress in the journal: %+v", info.Maps)
	}
	fail = false
	if v, err := run(t, s, fn); err != nil || fmt.Sprint(v) != "[1 4 9 16]" {
		t.Fatal(v, err)
	}
	if fmt.Sprint(ran) != "map[1:1 2:1 3:1 4:2]" {
		t.Errorf("ran %v", ran)
	}
}

func TestMapBeginsWithWhatHasNotFailedYet(t *testing.T) {
	s := openStore(t)
	var order []string
	fn := func(ctx context.Context) (int, error) {
		_, err := pawl.Map(ctx, "m", []string{"bad", "a", "b"}, func(s string) string { return s }, func(_ context.Context, s string) (int, error) {
			order = append(order, s)
			if s == "bad" {
				return 0, errors.New("bad")
			}
			return 0, nil
		}, pawl.Parallel(1))
		return 0, err
	}
	run(t, s, fn) //nolint:errcheck // on purpose
	run(t, s, fn) //nolint:errcheck // on purpose
	if got := strings.Join(order, " "); got != "bad a b bad" {
		t.Errorf("order %q", got)
	}
}

func TestMapBoundsAndProgress(t *testing.T) {
	s := openStore(t)
	var now, most atomic.Int32
	var seen []runs.Progress
	failing := true
	items := make([]int, 40)
	for i := range items {
		items[i] = i
	}
	fn := func(ctx context.Context) (int, error) {
		_, err := pawl.Map(ctx, "m", items, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (int, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if i == 30 && failing {
				return 0, errors.New("not yet")
			}
			return i, nil
		}, pawl.Parallel(3))
		return 0, err
	}
	progress := pawl.OnProgress(func(p runs.Progress) { seen = append(seen, p) })
	if _, err := run(t, s, fn, progress); err == nil {
		t.Fatal("no error")
	}
	first := len(seen)
	if p := seen[0]; p.Done != 0 || p.Total != 40 || p.Key != "m" || p.RunID != "r" {
		t.Errorf("first report %+v", p)
	}
	done := seen[first-1].Done
	from := len(seen)
	failing = false
	if _, err := run(t, s, fn, progress); err != nil {
		t.Fatal(err)
	}
	if p := seen[from]; p.Done != done || p.Skipped != done {
		t.Errorf("first report of the second start %+v, want %d done", p, done)
	}
	if p := seen[len(seen)-1]; p.Done != 40 || p.Skipped != done {
		t.Errorf("last report %+v", p)
	}
	if most.Load() > 3 {
		t.Errorf("%d items at once", most.Load())
	}
}

func TestReplacedUnderTheOwner(t *testing.T) { // rule 17, C-74
	for name, do := range map[string]func(path string) error{
		"deleted": os.Remove,
		"replaced": func(p string) error {
			return errors.Join(os.WriteFile(p+".x", []byte("foreign\n"), 0o600), os.Rename(p+".x", p))
		},
		"truncated": func(p string) error { return os.Truncate(p, 100) },
		"appended": func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			var path string
			var before []byte
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				path = inspect(t, s).Path
				if err := do(path); err != nil {
					t.Fatal(err)
				}
				before, _ = os.ReadFile(path)
				return pawl.Step(ctx, "s", func(context.Context) (int, error) { t.Error("ran without a record"); return 0, nil })
			})
			wantErr(t, err, pawl.ErrReplaced)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Errorf("the foreign file was changed: %q", after)
			}
		})
	}
}

func TestUnaskedSteps(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (int, error) { return 1, nil }
	run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // on purpose
		pawl.Step(ctx, "old name", one)                                                                        //nolint:errcheck // on purpose
		pawl.Step(ctx, "kept", func(ctx context.Context) (int, error) { return pawl.Step(ctx, "inner", one) }) //nolint:errcheck // on purpose
		return 0, errors.New("deploy a new version")
	})
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		pawl.Step(ctx, "new name", one) //nolint:errcheck // on purpose
		return pawl.Step(ctx, "kept", func(ctx context.Context) (int, error) { return pawl.Step(ctx, "inner", one) })
	}); err != nil {
		t.Fatal(err)
	}
	if h := history(t, s); !strings.Contains(h, `"unasked":1`) || !strings.Contains(h, "old name") {
		t.Errorf("the step that nobody asked for is not reported or not kept:\n%s", h)
	}
}

func TestAllowUnknown(t *testing.T) {
	s := openStore(t)
	type old struct{ A, B int }
	type now struct{ A int }
	if _, err := run(t, s, func(ctx context.Context) (old, error) {
		return pawl.Step(ctx, "s", func(context.Context) (old, error) { return old{1, 2}, nil })
	}); err != nil {
		t.Fatal(err)
	}
	fn := func(context.Context) (now, error) { t.Error("ran"); return now{}, nil }
	_, err := run(t, s, fn)
	wantErr(t, err, pawl.ErrMismatch)
	if v, err := run(t, s, fn, pawl.AllowUnknown()); v.A != 1 || err != nil {
		t.Errorf("with AllowUnknown: %+v, %v", v, err)
	}
}

// Rule 11, invariant 10: a torn tail is cut, kept, and said.
func TestTornTailIsSaid(t *testing.T) { // C-04
	var log strings.Builder
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	one := func(ctx context.Context) (int, error) {
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
	}
	run(t, s, func(ctx context.Context) (int, error) { one(ctx); return 0, errors.New("stop") }) //nolint:errcheck // on purpose
	path := inspect(t, s).Path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := `{"crc":"00000000","len":4711,"prev":"half a rec`
	write(t, path, string(text)+torn)
	if info := inspect(t, s); info.Torn != int64(len(torn)) {
		t.Errorf("before: %d torn bytes", info.Torn)
	}
	if v, err := run(t, s, one); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	if !strings.Contains(log.String(), "interrupted write") {
		t.Errorf("nothing was said: %s", log.String())
	}
	kept, err := filepath.Glob(path + ".torn-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if b, _ := os.ReadFile(kept[0]); string(b) != torn {
		t.Errorf("kept %q", b)
	}
	log.Reset()
	if err := errors.Join(func() error { _, err := run(t, s, one); return err }()); err != nil || log.Len() > 0 {
		t.Errorf("a second start: %v, %s", err, log.String())
	}
}
