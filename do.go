package pawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/pawlgo/pawl/internal/value"
)

// Do runs fn as the run id of store s, or goes on with it where its last process
// stopped. Fn runs from the top on every start; each [Step] and each item of a
// [Map] inside it that has a recorded result returns that instead of running. When
// fn returns a value, that is recorded as the run's result, and what Do returns is
// decoded from the record. Once the run is complete, Do returns the recorded
// result and does not call fn.
//
// How fn ends decides what the run is: a value makes it complete. An error makes it
// failed: the error's text is recorded, Do returns the error, and the next start
// tries again. If ctx is done, or the error is [ErrWaiting], [ErrCancelled] or
// [ErrLeaseLost], the run was interrupted and stays in progress. A panic, or
// runtime.Goexit, is recorded as a failure with its stack, the run is let go, and
// the panic goes on. Steps that goroutines of fn still have under way are waited for;
// no further one begins.
//
// Errors of opening are those of [Store.Begin]. A result that cannot be stored is
// [ErrInvalid]; a recorded one that does not fit R is [ErrMismatch].
func Do[R any](ctx context.Context, s *Store, id string, fn func(ctx context.Context) (R, error), opts ...RunOption) (R, error) {
	var out, zero R
	if err := value.Check(reflect.TypeFor[R]()); err != nil {
		return zero, &RunError{Op: "run", RunID: id, Err: fmt.Errorf("%w: result type: %w", ErrInvalid, err)}
	}
	r, err := s.Begin(ctx, id, opts...)
	if err != nil {
		return zero, err
	}
	if done, err := r.Result(&out); done || err != nil {
		return out, errors.Join(err, r.Close())
	}
	err = r.drive(ctx, func(ctx context.Context) error {
		v, err := fn(ctx)
		if err == nil {
			r.drain() // what fn left behind may finish, and nothing new begins
			err = r.Complete(v)
		}
		return err
	})
	if err == nil {
		_, err = r.Result(&out)
	}
	if err != nil {
		return zero, err
	}
	return out, nil
}

// drive calls fn with the run in its context, records how it ended and closes the
// run.
func (r *Run) drive(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx = r.Context(ctx)
	returned := false
	defer func() {
		if returned {
			return
		}
		defer r.Close() //nolint:errcheck // whatever else goes wrong here, the run is let go
		// Nil means Goexit: a panic with nil is a *runtime.PanicNilError.
		p := recover()
		crash := &crashError{value: p, stack: debug.Stack()}
		r.drain()
		if err := errors.Join(r.Fail(crash), r.Close()); err != nil {
			r.store.log.Error("recording a panic failed", "run", r.id, "err", err)
		}
		if p != nil {
			panic(p)
		}
	}()
	err := fn(ctx)
	returned = true
	r.drain()
	r.unheed()
	if r.deaf != nil {
		r.deaf() // what has come is in the journal before the end is
	}
	if why := r.stoppedBy(); err != nil && why != nil && !errors.Is(err, ErrCancelled) {
		err = joined{err, why}
	}
	defer r.Close() //nolint:errcheck // for the second time, unless something below panics
	var endErr error
	switch {
	case err == nil:
	case isLate(ctx):
		if !errors.Is(err, context.DeadlineExceeded) {
			err = joined{context.DeadlineExceeded, err}
		}
		endErr = r.Fail(err)
	case ctx.Err() == nil && waits(err):
		endErr = r.wait()
	case ctx.Err() != nil || r.isStop(err):
		endErr = r.interrupt(ended(ctx))
	default:
		endErr = r.Fail(err)
	}
	// What fn returned matters more than a failure to note it, and a result that
	// was acknowledged cannot be lost by closing.
	if endErr = errors.Join(endErr, r.Close()); endErr != nil {
		r.store.log.Warn("the end of an attempt was not recorded", "run", r.id, "err", endErr)
	}
	return err
}

// crashError is what is recorded of a panic or a Goexit.
type crashError struct {
	value any // nil for Goexit
	stack []byte
}

func (e *crashError) Error() string {
	if e.value == nil {
		return "the function ended by runtime.Goexit\n\n" + string(e.stack)
	}
	return fmt.Sprintf("panic: %v\n\n%s", e.value, e.stack)
}

// headline is the error without its stack.
func (e *crashError) headline() string {
	if e.value == nil {
		return "the function ended by runtime.Goexit"
	}
	return strings.ToValidUTF8(fmt.Sprintf("panic: %v", e.value), "\ufffd")
}
