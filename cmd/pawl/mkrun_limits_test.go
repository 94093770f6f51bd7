package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/wait"
)

// limits are more kinds of runs for mkrun, which wait, are limited, or end for good:
//
//	work       two steps of three are done; the third goes on until its context ends, whose
//	           cause is written to the file "stopped"; the file "ready" says that it has begun
//	final      money spent, three steps fail, two of them finally, unless the file "mended" exists
//	series     a step has failed twice, and its third try is due in hours
//	dies       the process dies within the step that is poison after two deaths
//	sleeping   a step is done, and the run waits for tomorrow
//	nap        the same, but the process dies while it sleeps
//	metered    money and tokens, a budget, a deadline; the process dies in the third step
//	ignores    the inputs of the run, a step and an item, which are others on each start, are let pass
//	spent      the same, with so small a budget that the third step does not begin
var limits = map[string]limited{
	"work":     {fn: work},
	"final":    {fn: final},
	"series":   {fn: series, opts: []pawl.RunOption{wait.Yield(time.Minute)}},
	"dies":     {fn: dies},
	"sleeping": {fn: sleeping, opts: []pawl.RunOption{wait.Yield(0)}},
	"nap":      {fn: nap},
	"metered":  {fn: metered, opts: []pawl.RunOption{meter.Budget("usd", 20), wait.Deadline(48 * time.Hour)}},
	"ignores":  {fn: ignores, opts: []pawl.RunOption{pawl.RunInput(os.Getpid()), pawl.IgnoreInput()}},
	"spent":    {fn: metered, opts: []pawl.RunOption{meter.Budget("usd", 12), meter.Budget("searches", 5)}},
}

type limited struct {
	fn   func(ctx context.Context) (map[string]int, error)
	opts []pawl.RunOption
}

// mklimited makes one of them. How it ends is seen by looking at the run.
func mklimited(ctx context.Context, s *pawl.Store, id, what string) (known bool) {
	l, known := limits[what]
	if !known {
		return false
	}
	_, err := pawl.Do(ctx, s, id, l.fn, l.opts...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkrun:", err)
	}
	return true
}

func work(ctx context.Context) (map[string]int, error) {
	for _, key := range []string{"one", "two"} {
		if _, err := pawl.Step(ctx, key, func(context.Context) (int, error) { return 1, nil }); err != nil {
			return nil, err
		}
	}
	return pawl.Step(ctx, "three", func(ctx context.Context) (map[string]int, error) {
		if exists("release") {
			return map[string]int{"ok": 1}, nil
		}
		os.WriteFile("ready", nil, 0o666)
		<-ctx.Done()
		os.WriteFile("stopped", []byte(context.Cause(ctx).Error()), 0o666)
		return nil, ctx.Err()
	})
}

func final(ctx context.Context) (map[string]int, error) {
	var all []error
	for _, key := range []string{"a", "b\x1b[31m", "c"} {
		_, err := pawl.Step(ctx, key, func(ctx context.Context) (int, error) {
			if exists("mended") {
				return 1, nil
			}
			if err := meter.Add(ctx, "usd", 0.25); err != nil {
				return 0, err
			}
			if key == "c" {
				return 0, errors.New("not now")
			}
			return 0, retry.Permanent(errors.New("no such model\x1b"))
		})
		all = append(all, err)
	}
	return map[string]int{"ok": 1}, errors.Join(all...)
}

func series(ctx context.Context) (map[string]int, error) {
	policy := retry.With(retry.Policy{Tries: 5, If: func(error) bool { return true }})
	return pawl.Step(ctx, "fetch", func(ctx context.Context) (map[string]int, error) {
		switch {
		case exists("mended"):
			return map[string]int{"ok": 1}, nil
		case pawl.Try(ctx) == 1:
			return nil, retry.After(errors.New("busy"), time.Millisecond)
		}
		return nil, retry.After(errors.New("still\nbusy"), 5*time.Hour)
	}, policy)
}

func dies(ctx context.Context) (map[string]int, error) {
	return pawl.Step(ctx, "parse", func(context.Context) (map[string]int, error) {
		if !exists("mended") {
			os.Exit(0)
		}
		return map[string]int{"ok": 1}, nil
	}, retry.MaxCrashes(2))
}

func sleeping(ctx context.Context) (map[string]int, error) {
	if _, err := pawl.Step(ctx, "before", func(context.Context) (int, error) { return 1, nil }); err != nil {
		return nil, err
	}
	return nil, wait.Sleep(ctx, "until tomorrow", 24*time.Hour)
}

func nap(ctx context.Context) (map[string]int, error) {
	time.AfterFunc(100*time.Millisecond, func() { os.Exit(0) })
	return sleeping(ctx)
}

func metered(ctx context.Context) (map[string]int, error) {
	for i := 1; i <= 3; i++ {
		_, err := pawl.Step(ctx, strings.Repeat("x", i), func(ctx context.Context) (int, error) {
			err := errors.Join(meter.Add(ctx, "usd", 6.2), meter.Add(ctx, "input_tokens", 123456))
			if i == 3 {
				os.Exit(0)
			}
			return i, err
		})
		if err != nil {
			return nil, err
		}
	}
	return map[string]int{"ok": 1}, nil
}

func ignores(ctx context.Context) (map[string]int, error) {
	one := func(context.Context) (int, error) { return 1, nil }
	_, err := pawl.Step(ctx, "step", one, pawl.WithInput(os.Getpid()), pawl.IgnoreInput())
	key := func(int) string { return "item" }
	_, mapErr := pawl.Map(ctx, "map", []int{os.Getpid()}, key, func(ctx context.Context, _ int) (int, error) { return one(ctx) }, pawl.IgnoreInput())
	return nil, errors.Join(err, mapErr, errors.New("once more"))
}
