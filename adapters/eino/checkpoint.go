package eino

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/pawlgo/pawl"
)

// CheckPoints keeps eino's checkpoints in a pawl store; [NewCheckPoints] returns one.
//
// When the context carries a run, a checkpoint is a part of that run: it is seen by it alone, and is
// over when the run is complete. Without one, each checkpoint is a run of its own in the
// store, with the ID "eino-checkpoint/" and eino's.
//
// Eino itself resumes a checkpoint as often as it is asked to, and runs the interrupted tools and
// everything behind them each time. Here a checkpoint is resumed once:
//
//   - in a run, once in each attempt. A later attempt resumes it again, and what is recorded by
//     then, as [Durable] does, does not run again;
//   - without a run, once. Nobody would know what that has done when its process dies, so that the
//     second time is [pawl.ErrInDoubt], until somebody looks and says [CheckPoints.Reopen].
//
// An interrupt that comes behind it saves another checkpoint with the ID, which can be resumed again.
//
// It is safe for concurrent use; use one for a store in a process.
type CheckPoints struct {
	store *pawl.Store
	mu    sync.Mutex // two goroutines must not both be first
	start string     // tells the attempts of this process from those of others
}

var (
	_ adk.CheckPointStore   = (*CheckPoints)(nil)
	_ adk.CheckPointDeleter = (*CheckPoints)(nil)
)

// NewCheckPoints returns a CheckPointStore for [adk.RunnerConfig], or compose.WithCheckPointStore,
// on a store. It may be nil if every context carries a run.
func NewCheckPoints(store *pawl.Store) *CheckPoints {
	return &CheckPoints{store: store, start: rand.Text()}
}

// checkPoint is the state that is recorded.
type checkPoint struct {
	Data    []byte `json:"data"`
	Resumed string `json:"resumed,omitempty"` // by which attempt, or by which process
	Deleted bool   `json:"deleted,omitempty"`
}

// Get returns a checkpoint to resume it, and false if there is none. That it was asked for is
// durable when Get returns.
//
// Errors: [pawl.ErrDuplicateKey] if this attempt of the run has resumed it; [pawl.ErrInDoubt] if,
// without a run, somebody has; those of pawl's states, and without a run those of [pawl.Store.Begin].
func (c *CheckPoints) Get(ctx context.Context, id string) (data []byte, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err = c.in(ctx, id, pawl.MustExist(), func(ctx context.Context, own bool) error {
		cp, found, err := pawl.LoadState[checkPoint](ctx)
		if err != nil || !found || cp.Deleted {
			return err
		}
		by := c.start
		if !own {
			by = fmt.Sprint(c.start, " attempt ", pawl.Resumed(ctx).Attempt)
		}
		switch {
		case own && cp.Resumed != "":
			return fmt.Errorf("pawl: eino: checkpoint %q: %w: it was resumed before, and nobody knows what that has done; CheckPoints.Reopen allows it once more", id, pawl.ErrInDoubt)
		case cp.Resumed == by:
			return fmt.Errorf("pawl: eino: checkpoint %q: %w: it was resumed in this attempt; let the run end, and resume it at its next start", id, pawl.ErrDuplicateKey)
		}
		cp.Resumed = by
		if err := pawl.SaveState(ctx, cp); err != nil {
			return err
		}
		data, ok = cp.Data, true
		return nil
	})
	if errors.Is(err, pawl.ErrNotFound) {
		err = nil
	}
	return data, ok, err
}

// Saved reports whether there is a checkpoint that was not deleted, without resuming it: whether a
// start of a run must resume its agent or ask it. Errors are those of [CheckPoints.Get] but for its
// first two.
func (c *CheckPoints) Saved(ctx context.Context, id string) (ok bool, err error) {
	err = c.in(ctx, id, pawl.MustExist(), func(ctx context.Context, _ bool) error {
		cp, found, err := pawl.LoadState[checkPoint](ctx)
		ok = found && !cp.Deleted
		return err
	})
	if errors.Is(err, pawl.ErrNotFound) {
		err = nil
	}
	return ok && err == nil, err
}

// Set saves a checkpoint, in the place of the one before it; it is that or the other, whatever happens.
// When it returns nil it is durable. A context that is done does not keep it from being saved.
// Errors are those of [pawl.SaveState], and without a run those of [pawl.Store.Begin].
func (c *CheckPoints) Set(ctx context.Context, id string, data []byte) error {
	return c.replace(ctx, id, nil, func(cp *checkPoint) { *cp = checkPoint{Data: data} })
}

// Delete removes a checkpoint; one that is not there is no error. When it returns nil that is
// durable. Errors are those of [CheckPoints.Set], and without a run those of [pawl.Store.Delete].
// Without a run checkpoints stay until they are deleted.
func (c *CheckPoints) Delete(ctx context.Context, id string) error {
	if inRun(ctx) || c.store == nil {
		return c.replace(ctx, id, nil, func(cp *checkPoint) { *cp = checkPoint{Deleted: true} })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.store.Delete(context.WithoutCancel(ctx), ownRun(id))
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	return err
}

// Reopen allows a checkpoint that was resumed to be resumed once more: somebody has looked at what
// the first time has done. Errors: [pawl.ErrNotFound] without a run, if there is none, and those of
// [CheckPoints.Set].
func (c *CheckPoints) Reopen(ctx context.Context, id string) error {
	return c.replace(ctx, id, pawl.MustExist(), func(cp *checkPoint) { cp.Resumed = "" })
}

func (c *CheckPoints) replace(ctx context.Context, id string, opt pawl.RunOption, change func(*checkPoint)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.in(context.WithoutCancel(ctx), id, opt, func(ctx context.Context, _ bool) error {
		cp, _, err := pawl.LoadState[checkPoint](ctx)
		if err != nil {
			return err
		}
		change(&cp)
		return pawl.SaveState(ctx, cp)
	})
}

// in calls fn where the checkpoint id is kept: in the run of ctx, or in one of its own.
func (c *CheckPoints) in(ctx context.Context, id string, opt pawl.RunOption, fn func(ctx context.Context, own bool) error) error {
	if inRun(ctx) {
		return fn(pawl.Scope(ctx, "checkpoint/"+fitting(id)), false)
	}
	if c.store == nil {
		return fmt.Errorf("pawl: eino: checkpoint %q: %w, and the CheckPoints have no store", id, pawl.ErrNoRun)
	}
	opts := []pawl.RunOption{pawl.RunKind("eino-checkpoint")}
	if opt != nil {
		opts = append(opts, opt)
	}
	var own error
	_, err := pawl.Do(ctx, c.store, ownRun(id), func(ctx context.Context) (struct{}, error) {
		own = fn(ctx, true)
		return struct{}{}, pawl.ErrWaiting // for somebody who resumes it, whatever own says
	}, opts...)
	if errors.Is(err, pawl.ErrWaiting) {
		return own
	}
	return err
}

// ownRun is the ID of the run of a checkpoint that has one of its own.
func ownRun(id string) string { return "eino-checkpoint/" + id }

// inRun reports whether ctx carries a run.
func inRun(ctx context.Context) bool {
	// An attempt begins with 1.
	return pawl.Resumed(ctx).Attempt > 0
}

// fitting makes a checkpoint's ID fit to be a part of a scope's name; two IDs never share one.
func fitting(id string) string {
	if l := label(id); id != "" && l == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return label(id) + "#" + hex.EncodeToString(sum[:12])
}
