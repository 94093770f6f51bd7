package interrupt_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func init() {
	children["steps"] = stepsProgram
	children["map"] = mapProgram
}

// stepsProgram is a run of three steps, the second of which does with the context what the
// mode says.
func stepsProgram(c *child) error {
	store, err := pawl.Open("store")
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = pawl.Do(c.ctx, store, "run", func(ctx context.Context) (string, error) {
		for i := 1; i <= 3; i++ {
			key := fmt.Sprint("step-", i)
			v, err := pawl.Step(ctx, key, func(ctx context.Context) (string, error) {
				c.at(key)
				if i == 2 {
					if err := c.second(ctx); err != nil {
						return "", err
					}
				}
				c.effect(key)
				// Another value on each call: only the acknowledged one may come back.
				return fmt.Sprint(key, " by ", os.Getpid()), nil
			})
			if err != nil {
				return "", err
			}
			c.acked(key, v)
		}
		return "report", nil
	})
	return err
}

// second is what step 2 does before its effect.
func (c *child) second(ctx context.Context) error {
	switch c.mode {
	case "obeys":
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Minute):
		}
	case "ignores":
		c.effect("step-2")
		time.Sleep(time.Minute)
	case "finishes":
		<-ctx.Done()
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

const mapItems = 24

// mapProgram maps over 24 items, 8 at once. An item has its effect as the last thing that it
// does, so that one with an effect in a process that was not killed has ended. With a mode,
// the items from the ninth on wait for the end of the context; every other one goes on then.
func mapProgram(c *child) error {
	store, err := pawl.Open("store")
	if err != nil {
		return err
	}
	defer store.Close()
	items := make([]int, mapItems)
	for i := range items {
		items[i] = i
	}
	keyOf := func(i int) string { return fmt.Sprintf("item-%02d", i) }
	_, err = pawl.Do(c.ctx, store, "run", func(ctx context.Context) (int, error) {
		out, err := pawl.Map(ctx, "items", items, keyOf, func(ctx context.Context, i int) (string, error) {
			if c.mode != "" && i >= 8 {
				c.at("waiting")
				<-ctx.Done()
				if i%2 == 1 {
					return "", ctx.Err()
				}
				time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			}
			c.effect(keyOf(i))
			return keyOf(i), nil
		}, pawl.Parallel(8))
		return len(out), err
	})
	return err
}

// found compares what the store says of the run with what is known from outside.
func (h *history) found(done int) {
	h.t.Helper()
	info, err := h.store().Inspect(h.t.Context(), "run")
	check(h.t, err)
	if info.Status != runs.InProgress || info.Owner != nil || info.Done != done || info.Failed != 0 {
		h.t.Errorf("found %s, owner %v, %d done, %d failed, want in_progress, nobody, %d, 0", info.Status, info.Owner, info.Done, info.Failed, done)
	}
}

// lastKind returns the kind of the run's newest record.
func (h *history) lastKind() (kind string) {
	h.t.Helper()
	for e, err := range h.store().History(h.t.Context(), "run") {
		check(h.t, err)
		kind = e.Kind
	}
	return kind
}

// finish starts the program once more and lets it come to its end.
func (h *history) finish() {
	h.t.Helper()
	if says := h.start("", time.Minute).ends(0, 10*time.Second); says != "" {
		h.t.Errorf("the next start said %q", says)
	}
}

// TestC64KilledBehindStepThree: SIGKILL right after the acknowledgement of the third of five
// items. The run is in progress and owned by nobody, three of five; the next start does the
// others only.
func TestC64KilledBehindStepThree(t *testing.T) {
	h := newHistory(t, "five")
	p := h.start("dies", time.Minute)
	p.at("three")
	check(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait()
	h.saw("effect 1", "effect 2", "effect 3")
	h.found(3)
	info, err := h.store().Inspect(t.Context(), "run")
	check(t, err)
	if len(info.Maps) != 1 || info.Maps[0].Done != 3 || info.Maps[0].Total != 5 {
		t.Errorf("progress %+v, want 3 of 5", info.Maps)
	}
	h.finish()
	h.saw("effect 4", "effect 5")
}

func init() {
	children["five"] = func(c *child) error {
		store, err := pawl.Open("store")
		if err != nil {
			return err
		}
		defer store.Close()
		name := func(i int) string { return fmt.Sprint(i) }
		_, err = pawl.Do(c.ctx, store, "run", func(ctx context.Context) (int, error) {
			out, err := pawl.Map(ctx, "five", []int{1, 2, 3, 4, 5}, name, func(_ context.Context, i int) (int, error) {
				c.effect(name(i))
				return i, nil
			}, pawl.Parallel(1))
			return len(out), err
		}, pawl.OnProgress(func(p runs.Progress) {
			if c.mode == "dies" && p.Done == 3 { // it is told of what is recorded
				c.at("three")
				select {}
			}
		}))
		return err
	}
}
