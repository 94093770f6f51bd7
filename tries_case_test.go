package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/pawltest/witness"
	"github.com/pawlgo/pawl/retry"
	"github.com/pawlgo/pawl/runs"
	"github.com/pawlgo/pawl/wait"
)

func init() {
	// Four items: a works, b fails, c dies mid-way, d is not begun.
	poisonPrograms["c58"] = func(ctx context.Context, w *witness.Log) (string, error) {
		attempt := pawl.Resumed(ctx).Attempt
		failed := make(chan struct{})
		_, err := pawl.Map(ctx, "m", []string{"a", "b", "c", "d"}, func(s string) string { return s }, func(ctx context.Context, item string) (string, error) {
			if err := w.Effect(item); err != nil {
				return "", err
			}
			switch {
			case attempt == 1 && item == "b":
				defer time.AfterFunc(50*time.Millisecond, func() { close(failed) }) // its record is written meanwhile
				return "", errors.New("no answer")
			case attempt == 1 && item == "c":
				<-failed
				killMyself()
			}
			return item, nil
		}, pawl.Parallel(3))
		return "done", err
	}
	// Steps of one dollar each, of which every third start dies between spending and recording.
	poisonPrograms["spender"] = func(ctx context.Context, w *witness.Log) (string, error) {
		attempt := pawl.Resumed(ctx).Attempt
		for i := range 10 {
			_, err := pawl.Step(ctx, fmt.Sprint(i), func(ctx context.Context) (int, error) {
				if err := errors.Join(w.Effect("dollar"), meter.Add(ctx, "usd", 1)); err != nil {
					return 0, err
				}
				if i == attempt {
					killMyself()
				}
				return i, nil
			})
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	}
	// A series of four tries that dies in its second, in its wait, and in its third.
	poisonPrograms["series"] = func(ctx context.Context, w *witness.Log) (string, error) {
		attempt := pawl.Resumed(ctx).Attempt
		if attempt == 2 {
			time.AfterFunc(150*time.Millisecond, killMyself)
		}
		return pawl.Step(ctx, "ask", func(ctx context.Context) (string, error) {
			if err := w.Effect("ask"); err != nil {
				return "", err
			}
			if try := pawl.Try(ctx); attempt == 1 && try == 2 || attempt == 3 && try == 4 {
				killMyself()
			}
			if attempt == 4 {
				return "worked", nil
			}
			return "", retry.After(errors.New("busy"), []time.Duration{0, 400 * time.Millisecond, 400 * time.Millisecond, 0}[attempt-1])
		}, retry.With(retry.Policy{Tries: 4, Base: time.Microsecond}))
	}
}

// TestC58AttemptedIsNotCompleted: what was begun, or has failed, is not taken for done.
func TestC58AttemptedIsNotCompleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, _, _ := restart(t, dir, "c58", 1)
	if calls["a"] != 1 || calls["b"] != 1 || calls["c"] != 1 || calls["d"] != 0 {
		t.Fatalf("calls %v", calls)
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	info := mustInspect(t, s, "r")
	if info.Done != 1 || info.Failed != 1 || info.Running != 1 || info.Owner != nil || info.Maps[0].Total != 4 || info.Status != runs.InProgress {
		t.Errorf("before: %+v", info)
	}
	calls, _, said := restart(t, dir, "c58", 1)
	if calls["a"] != 1 || calls["b"] != 2 || calls["c"] != 2 || calls["d"] != 1 || said != "" {
		t.Errorf("calls %v: %s", calls, said)
	}
	tries, err := s.Tries(t.Context(), "r", "m/b")
	ckNil(t, err)
	if len(tries) != 2 || tries[0].Error != "no answer" || !tries[1].Done {
		t.Errorf("the history of b: %+v", tries)
	}
	tries, err = s.Tries(t.Context(), "r", "m/c")
	ckNil(t, err)
	if len(tries) != 2 || !tries[0].Ended.IsZero() || !tries[1].Done {
		t.Errorf("the history of c: %+v", tries)
	}
}

// TestMoneyOfTheDead: what was spent before a death is counted, by the witness of what it bought.
func TestMoneyOfTheDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, starts, said := restart(t, dir, "spender", 20)
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	info := mustInspect(t, s, "r")
	if int(info.Spent["usd"]) != calls["dollar"] || calls["dollar"] != 10+starts-1 || info.Kept["usd"] != 10 || said != "" {
		t.Errorf("spent %v, kept %v; %d dollars in %d starts: %s", info.Spent, info.Kept, calls["dollar"], starts, said)
	}
}

// TestSeriesOfTheDead: deaths in a series neither begin it anew nor forget a wait.
func TestSeriesOfTheDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := time.Now()
	calls, starts, said := restart(t, dir, "series", 10)
	// It fails and dies; fails and dies in the wait; dies behind the rest of it; works.
	if starts != 4 || said != "" {
		t.Fatalf("calls %v in %d starts and %v: %s", calls, starts, time.Since(begin), said)
	}
	s, err := pawl.Open(filepath.Join(dir, "store"))
	ckNil(t, err)
	tries, err := s.Tries(t.Context(), "r", "ask")
	ckNil(t, err)
	for i, try := range tries {
		if i > 0 && try.Began.Before(tries[i-1].Next) {
			t.Errorf("try %d began %v too early", try.N, tries[i-1].Next.Sub(try.Began))
		}
	}
	if calls["ask"] != len(tries) {
		t.Errorf("%d calls, and the journal knows of %d", calls["ask"], len(tries))
	}
}

// TestCrashEverywhereInWaitsAndTries lets a program of tries, sleeps, money and questions die at
// each change of its store: its result and what its steps have done stay the same.
func TestCrashEverywhereInWaitsAndTries(t *testing.T) {
	pawltest.CrashEverywhere(t, func(ctx context.Context, s *pawl.Store) (string, error) {
		return pawl.Do(ctx, s, "r", func(ctx context.Context) (string, error) {
			a, err := pawl.Step(ctx, "flaky", func(ctx context.Context) (string, error) {
				if err := meter.Add(ctx, "usd", 1); err != nil {
					return "", err
				}
				if pawl.Try(ctx) < 3 {
					return "", errors.New("busy")
				}
				return "a", nil
			}, retry.With(retry.Policy{Tries: 10, Base: time.Microsecond}), retry.MaxCrashes(1000))
			if err != nil {
				return "", err
			}
			if err := wait.Sleep(ctx, "nap", time.Millisecond); err != nil {
				return "", err
			}
			_, err = pawl.Step(ctx, "no", func(context.Context) (string, error) { return "", retry.Permanent(errors.New("never")) })
			if se, ok := errors.AsType[*pawl.StepError](err); !ok || !se.Final || se.Message != "never" {
				return "", fmt.Errorf("a final failure: %w", err)
			}
			if err := s.Answer(ctx, "r", "ok", 7, "ann", ""); err != nil && !errors.Is(err, pawl.ErrConflict) {
				return "", err
			}
			n, err := pawl.Await[int](ctx, "ok", "how many?")
			return fmt.Sprint(a, n), err
		}, meter.Budget("usd", 1e9))
	})
}
