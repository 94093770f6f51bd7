package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// Items in doubt, or with a step inside that is, hold nobody up: they come last, and that they are
// in doubt stops no other, of which nobody knows yet either.
func TestItemsInDoubtHoldNobodyUp(t *testing.T) {
	for _, inside := range []bool{false, true} {
		s := openStore(t)
		ran, asked, stop, refuse := "", "", false, true
		start := func() error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ran, asked = "", ""
			pay := func(ctx context.Context, it string) (string, error) {
				switch ran += it; {
				case stop:
					cancel()
					return "", context.Canceled
				case it == "c" && refuse:
					return "", errors.New("refused")
				}
				return it, nil
			}
			item, opts := pay, []pawl.MapOption{pawl.Parallel(1), pawl.AtMostOnce()}
			if inside {
				opts = opts[:1]
				item = func(ctx context.Context, it string) (string, error) {
					asked += it
					v, err := pawl.Step(ctx, "pay", func(ctx context.Context) (string, error) { return pay(ctx, it) }, pawl.AtMostOnce())
					if err != nil {
						return "", fmt.Errorf("paying: %w", err)
					}
					return v, nil
				}
			}
			_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
				_, err := pawl.Map(ctx, "m", strings.Split("abcdef", ""), func(s string) string { return s }, item, opts...)
				return 0, err
			})
			return err
		}
		stop = true
		for _, it := range []string{"a", "b"} { // each start leaves one in doubt, and goes on with the next
			wantErr(t, start(), context.Canceled)
			if ran != it {
				t.Fatalf("inside %v: ran %q, want %q", inside, ran, it)
			}
		}
		stop = false
		if err := start(); ran != "c" || errors.Is(err, pawl.ErrInDoubt) {
			t.Errorf("inside %v: ran %q, %v: a failure stops the others", inside, ran, err)
		}
		refuse = false
		err := start()
		wantErr(t, err, pawl.ErrInDoubt)
		if ran != "defc" {
			t.Errorf("inside %v: ran %q", inside, ran)
		}
		for _, it := range []string{"a", "b"} {
			if !strings.Contains(err.Error(), `"m/`+it) {
				t.Errorf("inside %v: nothing is said of item %s: %v", inside, it, err)
			}
		}
		if inside && asked != "defcab" {
			t.Errorf("asked %q", asked)
		}
	}
}

// That a step in doubt has another input by now holds nobody up either.
func TestChangedItemInDoubtHoldsNobodyUp(t *testing.T) {
	s := openStore(t)
	ran := ""
	start := func(sum int, stop bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
			_, err := pawl.Map(ctx, "m", []item{{"a", sum}, {"b", 1}}, func(i item) string { return i.ID }, func(ctx context.Context, i item) (int, error) {
				ran += i.ID
				if stop {
					cancel()
					return 0, context.Canceled
				}
				return i.Sum, nil
			}, pawl.AtMostOnce(), pawl.Parallel(1))
			return 0, err
		})
		return err
	}
	wantErr(t, start(1, true), context.Canceled)
	err := start(2, false)
	wantErr(t, err, pawl.ErrInDoubt)
	if ran != "ab" {
		t.Errorf("ran %q", ran)
	}
}
