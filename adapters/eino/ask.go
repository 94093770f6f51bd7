package eino

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/compose"

	"github.com/pawlgo/pawl"
)

// ask does one call as a step, and returns which of equal names it has got: one that is done or
// running in this attempt belongs to an equal call before it, of a loop that asks the same thing
// again say. Calls one after the other get the same numbers at every start.
//
// Where says the scope and key of the nth. The error is that of fn as it was, unless it is
// pawl's own: then refused is true.
func ask[T any](ctx context.Context, where func(ctx context.Context, nth int) (context.Context, string), opts []pawl.StepOption, fn func(context.Context) (T, error)) (out T, nth int, refused bool, err error) {
	for nth = 1; ; nth++ {
		at, key := where(ctx, nth)
		var own error
		called := false
		out, err = pawl.Step(at, key, func(ctx context.Context) (T, error) {
			called = true
			v, err := fn(ctx)
			own = err
			return v, stopped(err)
		}, opts...)
		if err == nil {
			return out, nth, false, nil
		}
		if !called && errors.Is(err, pawl.ErrDuplicateKey) {
			continue
		}
		refused, err = judge(err, own)
		return out, nth, refused, err
	}
}

// judge tells the errors of calls from those of pawl.
func judge(err, own error) (refused bool, _ error) {
	if failure, ok := errors.AsType[*pawl.StepError](err); ok && failure.Final {
		return false, failure // the same error now and at every later start
	}
	if own == nil {
		return true, err
	}
	return stops(own), own
}

// stops reports whether an error, of a step inside a tool say, ends the run for now and is no result
// that a model should see.
func stops(err error) bool {
	for _, e := range []error{pawl.ErrWaiting, pawl.ErrCancelled, pawl.ErrLeaseLost, pawl.ErrInDoubt, pawl.ErrBudget, pawl.ErrInputChanged, pawl.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// stopped hides an interrupt of eino, and a stream that broke, behind pawl's own: the step has not
// failed, is not tried again by a policy, and is begun anew when it is asked for again.
func stopped(err error) error {
	if err == nil {
		return nil
	}
	_, interrupt := compose.IsInterruptRerunError(err)
	_, broken := errors.AsType[*brokenError](err)
	if interrupt || broken {
		return &stopError{err}
	}
	return err
}

type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

// Unwrap leaves out err itself, which the caller of ask gets as it is: for pawl this is a wait and
// nothing else.
func (e *stopError) Unwrap() error { return pawl.ErrWaiting }
