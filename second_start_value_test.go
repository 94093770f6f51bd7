package pawl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl"
)

// valueCells are the rows of Map, states and notes.
func valueCells() []cell {
	type item struct {
		Key string
		Sum int
	}
	keyOf := func(it item) string { return it.Key }
	// list does items one at a time; each has its key as its effect.
	list := func(p *program, ctx context.Context, items []item, fn func(key string) error, opts ...pawl.MapOption) (string, error) {
		vs, err := pawl.Map(ctx, "m", items, keyOf, func(_ context.Context, it item) (string, error) {
			p.effect(it.Key)
			if err := fn(it.Key); err != nil {
				return "", err
			}
			return p.value(it.Key), nil
		}, append(opts, pawl.Parallel(1))...)
		return fmt.Sprint(vs), err
	}
	fine := func(string) error { return nil }
	return []cell{
		{row: "Map", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				items := []item{{"x", 1}, {"y", 1}, {"z", 1}}
				if p.start > 1 { // in another order, one gone, one new
					items = []item{{"new", 1}, {"z", 1}, {"x", 1}}
				}
				return list(p, ctx, items, func(key string) error {
					if key == "z" {
						p.once(die)
					}
					return nil
				})
			})
		}, want: []string{"fn x y z killed", `fn new z = "[new@2 z@2 x@1]"`}},
		{row: "Map", name: "in parallel", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				items := []item{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}
				vs, err := pawl.Map(ctx, "m", items, keyOf, func(ctx context.Context, it item) (string, error) {
					return pawl.Step(ctx, "in", func(context.Context) (string, error) {
						p.effect("in") // in any order
						return p.value(it.Key), nil
					})
				}, pawl.Parallel(4))
				if err != nil {
					return "", err
				}
				p.once(die)
				if p.start == 2 && len(vs) == 4 {
					p.effect("all-answered")
				}
				return vs[3], nil
			})
		}, want: []string{"fn in in in in killed", `fn all-answered = "d@1"`}},
		{row: "Map, an item failed before", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				v, err := list(p, ctx, []item{{"bad", 1}, {"y", 1}, {"z", 1}}, func(key string) error {
					if key == "bad" && p.start < 3 {
						return errors.New("unreadable")
					}
					if p.start == 2 && key == "y" {
						die()
					}
					return nil
				})
				p.once(die)
				return v, err
			})
		}, want: []string{"fn bad killed", "fn y killed", `fn y z bad = "[bad@3 y@3 z@3]"`}},
		{row: "Map, an item is in doubt", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return list(p, ctx, []item{{"a", 1}, {"b", 1}, {"c", 1}}, func(string) error {
					p.once(die)
					return nil
				}, pawl.AtMostOnce())
			})
		}, want: []string{"fn a killed", "fn b c ! ErrInDoubt", "fn ! ErrInDoubt"}},
		{row: "Map, an item changed", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				sum := min(p.start, 2)
				var opts []pawl.MapOption
				if p.start > 2 {
					opts = append(opts, pawl.RerunOnChange())
				}
				v, err := list(p, ctx, []item{{"x", sum}, {"y", 1}, {"z", 1}}, func(key string) error {
					if key == "z" {
						p.once(die)
					}
					return nil
				}, opts...)
				if p.start == 3 {
					die()
				}
				return v, err
			})
		}, want: []string{"fn x y z killed", "fn ! ErrInputChanged", "fn x z killed", `fn = "[x@3 y@1 z@3]"`}},
		{row: "LoadState", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				n, found, err := pawl.LoadState[[]int](ctx)
				p.effect(fmt.Sprintf("%v-%v", n, found))
				for range 2 {
					n = append(n, len(n))
					if err == nil {
						err = pawl.SaveState(ctx, n)
					}
				}
				if p.start < 3 {
					die()
				}
				return fmt.Sprint(n), err
			})
		}, want: []string{"fn []-false killed", "fn [0 1]-true killed", `fn [0 1 2 3]-true = "[0 1 2 3 4 5]"`}},
		{row: "LoadState", name: "of a step", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "a", func(ctx context.Context) (string, error) {
					n, found, err := pawl.LoadState[int](ctx)
					p.effect(fmt.Sprintf("%v-%v", n, found))
					if err == nil {
						err = pawl.SaveState(ctx, 7)
					}
					p.once(die)
					return "", err
				})
			})
		}, want: []string{"fn 0-false killed", `fn 7-true = ""`}},
		{row: "SaveState before LoadState", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				if p.start == 3 {
					n, _, err := pawl.LoadState[int](ctx)
					p.effect(fmt.Sprint(n))
					if err != nil {
						return "", err
					}
				}
				err := pawl.SaveState(ctx, p.start)
				p.once(die)
				return "", err
			})
		}, want: []string{"fn killed", "fn ! ErrStateNotLoaded", `fn 1 = ""`}},
		{row: "SaveState before LoadState", name: "in a later try", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				fn := func(ctx context.Context) (string, error) {
					if pawl.Try(ctx) == 1 {
						return "", errors.Join(pawl.SaveState(ctx, 7), errors.New("failed"))
					}
					p.once(die)
					err := pawl.SaveState(ctx, 8)
					p.effect(fmt.Sprint("refused-", errors.Is(err, pawl.ErrStateNotLoaded)))
					n, _, err := pawl.LoadState[int](ctx)
					p.effect(fmt.Sprint("loaded-", n))
					return "", errors.Join(err, pawl.SaveState(ctx, n+1))
				}
				if _, err := pawl.Step(ctx, "a", fn); err == nil {
					return "", nil
				}
				return pawl.Step(ctx, "a", fn)
			})
		}, want: []string{"fn killed", `fn refused-true loaded-7 = ""`}},
		{row: "Note", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "submit", func(ctx context.Context) (string, error) {
					job, found, err := pawl.LoadNote[string](ctx)
					if err != nil || found {
						return job, err
					}
					for _, job := range []string{"job-1", "job-2"} {
						p.effect(job)
						if err := pawl.Note(ctx, job); err != nil {
							return "", err
						}
					}
					die()
					return "", nil
				})
			})
		}, want: []string{"fn job-1 job-2 killed", `fn = "job-2"`}},
		{row: "Step with a recorded result", name: "of a Map that was empty", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				v, err := list(p, ctx, nil, fine)
				p.once(die)
				return v, err
			})
		}, want: []string{"fn killed", `fn = "[]"`}},
	}
}
