package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// An input too large to be kept still says which member differs, or how long it was.
func TestLargeInputs(t *testing.T) {
	s := openStore(t)
	type request struct {
		Model    string   `json:"model"`
		Messages []string `json:"messages"`
	}
	big := slices.Repeat([]string{strings.Repeat("x", 100)}, 100)
	ask := func(key string, in any) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Step(ctx, key, func(context.Context) (int, error) { return 0, nil }, pawl.WithInput(in))
			if err != nil {
				return 0, err
			}
			return 0, errors.New("not yet")
		})
		return err
	}
	ask("object", request{"m1", big}) //nolint:errcheck // on purpose
	err := ask("object", request{"m2", big})
	wantErr(t, err, pawl.ErrInputChanged)
	if !strings.Contains(err.Error(), "$.model") || strings.Contains(err.Error(), "$.messages") {
		t.Errorf("object: %v", err)
	}
	ask("array", big) //nolint:errcheck // on purpose
	err = ask("array", append(big, "one more"))
	wantErr(t, err, pawl.ErrInputChanged)
	if !strings.Contains(err.Error(), "array of 101") {
		t.Errorf("array: %v", err)
	}
	for range 2 { // the input of a step's newest start counts, none included
		ask("none", 1) //nolint:errcheck // on purpose
	}
}

// A start that is to stop leaves the old result in sight.
func TestRerunWhileStopping(t *testing.T) {
	s := openStore(t)
	calls := 0
	ask := func(ctx context.Context, in int) error {
		_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
			v, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { calls++; return in, nil }, pawl.WithInput(in), pawl.RerunOnChange())
			if err != nil {
				return 0, err
			}
			return 0, fmt.Errorf("got %d", v)
		})
		return err
	}
	ask(t.Context(), 1) //nolint:errcheck // on purpose
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
		cancel()
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { calls++; return 2, nil }, pawl.WithInput(2), pawl.RerunOnChange())
	})
	wantErr(t, err, context.Canceled)
	if err := ask(t.Context(), 1); err == nil || err.Error() != "got 1" || calls != 1 {
		t.Errorf("back at the first input: %v, %d calls", err, calls)
	}
}

type item struct {
	ID  string
	Sum int
}

// An item that failed and was mended, with a result inside, is refused before any
// other item runs.
func TestMendedItem(t *testing.T) {
	s := openStore(t)
	ran := ""
	do := func(sum int, opts ...pawl.MapOption) error {
		ran = ""
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Map(ctx, "m", []item{{"a", 1}, {"b", sum}, {"c", 1}}, func(i item) string { return i.ID }, func(ctx context.Context, i item) (int, error) {
				ran += i.ID
				if _, err := pawl.Step(ctx, "fetch", func(context.Context) (int, error) { return i.Sum, nil }); err != nil {
					return 0, err
				}
				if i.ID == "b" && i.Sum == 1 {
					return 0, errors.New("bad document")
				}
				return i.Sum, nil
			}, append(opts, pawl.Parallel(1))...)
			return 0, err
		})
		return err
	}
	if err := do(1); err == nil || ran != "ab" {
		t.Fatal(err, ran)
	}
	err := do(2)
	wantErr(t, err, pawl.ErrInputChanged)
	var changed *pawl.InputChangedError
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), `"m/b"`) || ran != "" {
		t.Errorf("%v, ran %q", err, ran)
	}
	if err := do(2, pawl.RerunOnChange()); err != nil || ran != "cb" { // what failed before comes last
		t.Errorf("with RerunOnChange: %v, ran %q", err, ran)
	}
}

// Progress and the count of unasked steps follow the present list.
func TestRemovedItems(t *testing.T) {
	s := openStore(t)
	do := func(ids string, fail bool) {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // on purpose
			_, err := pawl.Map(ctx, "m", strings.Split(ids, ""), func(s string) string { return s }, func(context.Context, string) (int, error) { return 0, nil })
			if err == nil && fail {
				err = errors.New("not yet")
			}
			return 0, err
		})
	}
	do("abcd", true)
	do("ab", false)
	info := inspect(t, s)
	if len(info.Maps) != 1 || info.Maps[0].Done != 2 || info.Maps[0].Total != 2 {
		t.Errorf("progress %+v", info.Maps)
	}
	if h := history(t, s); !strings.Contains(h, `"unasked":2`) {
		t.Errorf("unasked items are not reported:\n%s", h)
	}
}

// The input of all items at once, and what is skipped under it.
func TestMapWithInput(t *testing.T) {
	s := openStore(t)
	calls := 0
	var last runs.Progress
	do := func(model string, opts ...pawl.MapOption) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) {
			_, err := pawl.Map(ctx, "m", []string{"a", "b"}, func(s string) string { return s }, func(context.Context, string) (int, error) { calls++; return 0, nil },
				append(opts, pawl.WithInput(model), pawl.Parallel(1))...)
			if err != nil {
				return 0, err
			}
			return 0, errors.New("not yet")
		}, pawl.OnProgress(func(p runs.Progress) { last = p }))
		return err
	}
	do("m1") //nolint:errcheck // on purpose
	do("m1") //nolint:errcheck // on purpose
	if calls != 2 || last.Skipped != 2 {
		t.Errorf("%d calls, progress %+v", calls, last)
	}
	wantErr(t, do("m2"), pawl.ErrInputChanged)
	do("m2", pawl.RerunOnChange()) //nolint:errcheck // on purpose
	if calls != 4 {
		t.Errorf("%d calls", calls)
	}
}

// What a step that failed has saved and noted does not go out of sight unasked.
func TestChangedInputKeepsStateAndNote(t *testing.T) {
	for _, what := range []string{"state", "note", "state inside", "note inside"} {
		s := openStore(t)
		var found bool
		start := func(in int, opts ...pawl.StepOption) error {
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				return pawl.Step(ctx, "train", func(ctx context.Context) (int, error) {
					keep := func(ctx context.Context) (err error) {
						if strings.HasPrefix(what, "state") {
							_, found, err = pawl.LoadState[int](ctx)
							return errors.Join(err, pawl.SaveState(ctx, 7))
						}
						_, found, err = pawl.LoadNote[string](ctx)
						return errors.Join(err, pawl.Note(ctx, "job-7"))
					}
					if !strings.HasSuffix(what, "inside") {
						return 0, errors.Join(keep(ctx), errors.New("failed"))
					}
					return pawl.Step(ctx, "in", func(ctx context.Context) (int, error) { return 0, errors.Join(keep(ctx), errors.New("failed")) })
				}, append(opts, pawl.WithInput(in))...)
			})
			return err
		}
		start(1) //nolint:errcheck // it fails on purpose
		wantErr(t, start(2), pawl.ErrInputChanged)
		start(2, pawl.IgnoreInput()) //nolint:errcheck // it fails on purpose
		if !found {
			t.Errorf("%s: not there with IgnoreInput", what)
		}
		start(3, pawl.RerunOnChange()) //nolint:errcheck // it fails on purpose
		if found {
			t.Errorf("%s: there with RerunOnChange", what)
		}
	}
	t.Run("an item of a Map", func(t *testing.T) {
		s := openStore(t)
		start := func(sum int) error {
			_, err := run(t, s, func(ctx context.Context) (int, error) {
				_, err := pawl.Map(ctx, "m", []item{{"a", sum}}, func(i item) string { return i.ID }, func(ctx context.Context, i item) (int, error) {
					_, _, err := pawl.LoadState[int](ctx)
					return 0, errors.Join(err, pawl.SaveState(ctx, i.Sum), errors.New("failed"))
				})
				return 0, err
			})
			return err
		}
		start(1) //nolint:errcheck // it fails on purpose
		wantErr(t, start(2), pawl.ErrInputChanged)
	})
}
