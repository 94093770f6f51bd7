package adk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pawlgo/pawl"
)

// inRun reports whether ctx carries a run. Without one everything in this package lets the
// framework do what it would do anyway.
func inRun(ctx context.Context) bool { return pawl.Resumed(ctx).Attempt > 0 }

// numbered does a step of a kind that is asked for many times in a run: the first time its key
// is key, then "key #2", and so on. The count is pawl's own: a key that was asked for in this
// attempt is refused, so the first one that is not refused is the next one. Nothing has to be
// remembered here, and the numbers are those of the last start as long as calls of one key
// come in the same order, which their inputs check.
func numbered[T any](ctx context.Context, key string, fn func(ctx context.Context) (T, error), opts ...pawl.StepOption) (v T, n int, err error) {
	ctx = pawl.Scope(ctx, "adk")
	for n = 1; ; n++ {
		name := key
		if n > 1 {
			name = fmt.Sprintf("%s #%d", key, n)
		}
		called := false
		v, err = pawl.Step(ctx, name, func(ctx context.Context) (T, error) {
			called = true
			return fn(ctx)
		}, opts...)
		if err == nil || called || !isTaken(err) {
			return v, n, err
		}
	}
}

// isTaken reports whether a step was refused since its key was asked for before. An error of
// a function, which may have come to the same with a step of its own, is a StepError.
func isTaken(err error) bool {
	_, failed := errors.AsType[*pawl.StepError](err)
	return !failed && errors.Is(err, pawl.ErrDuplicateKey)
}

// isRuns reports whether err says something of the run rather than of the work in a step: the
// run was stopped, or could not record.
func isRuns(err error) bool {
	for _, target := range []error{pawl.ErrWaiting, pawl.ErrCancelled, pawl.ErrLeaseLost, pawl.ErrInDoubt, pawl.ErrPoison, pawl.ErrBudget} {
		if errors.Is(err, target) {
			return true
		}
	}
	_, ok := errors.AsType[*pawl.RunError](err)
	return ok
}

// stops has the errors that must end an invocation, by its ID. The framework turns whatever a
// tool returns as an error into a response that the model sees; a result that could not be
// recorded, or a run that was stopped, is none. The next call of the model in the invocation
// takes the error from here, and the plugin does before an event is stored.
var stops sync.Map

func stop(invocation string, err error) { stops.Store(invocation, err) }

func stopped(invocation string) error {
	if err, ok := stops.Load(invocation); ok {
		return fmt.Errorf("adk: the run stopped in a tool: %w", err.(error))
	}
	return nil
}

func stopOver(invocation string) { stops.Delete(invocation) }
