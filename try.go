package pawl

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// perform runs the function, again if it is to be retried, and records how it ended.
func (r *Run) perform(ctx context.Context, s *scope, key string, c stepConfig, input *value.Fingerprint, w work) error {
	sr, err := r.seriesOf(key, c)
	if err != nil {
		return err
	}
	for {
		if err := r.awaitTry(ctx, s, key, sr); err != nil {
			return err
		}
		again, err := r.try(ctx, s, key, c, input, w, sr)
		if !again {
			return err
		}
		r.mu.Lock()
		r.askAnew(key)
		r.mu.Unlock()
	}
}

// mayStart says why no function may be called now.
func (r *Run) mayStart(ctx context.Context, s *scope, key string) error {
	if s.base.Err() != nil {
		return r.stopped(s, key)
	}
	if ctx.Err() != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: r.store.ended(ctx), Hint: "fn was not called"}
	}
	return r.overBudget(key)
}

// try runs the function once, and reports whether it is to be run again.
func (r *Run) try(ctx context.Context, s *scope, key string, c stepConfig, input *value.Fingerprint, w work, sr *serial) (again bool, err error) {
	free, leave, err := r.admit(ctx, s, key, c)
	if err != nil {
		return false, err
	}
	defer leave()
	defer free() // also if it panics
	t, err := r.recordStart(s, key, c, input, w, sr)
	if err != nil {
		return false, err
	}
	defer r.over(key, t)
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	begin := time.Now()
	v, text, err, encodeErr := r.call(ctx, s, key, c, t, w)
	took := time.Since(begin)
	if err == nil {
		free() // others need not wait for a flush; behind an error they may have to wait longer
	}
	if err != nil {
		return r.failed(ctx, s, key, c, t, took, err, sr)
	}
	if encodeErr != nil {
		err = fmt.Errorf("%w: result: %w", ErrInvalid, encodeErr)
		if c.once { // it did happen
			return false, &RunError{Op: "record", RunID: r.id, Key: key, Err: err, Hint: "fn ran and its result was not recorded, so the step is in doubt; " + r.howToResolve(key)}
		}
		r.recordFailure(key, t, took, err, ending{}) //nolint:errcheck // logged
		return false, &RunError{Op: "record", RunID: r.id, Key: key, Err: err, Hint: "fn ran and its result was not recorded; it runs again on the next start"}
	}
	b := line.NewBody(journal.KindStep, key, r.store.now()).Int("try", t.n).Int("us", took.Microseconds())
	// The context is not asked: a finished step is never lost to a cancellation.
	err = r.record(withValue(b, text, reflect.TypeOf(v)), true, r.still(key, t), stepEnded(key, journal.StepDone))
	if err != nil {
		return false, r.writeError("record", key, err)
	}
	if err := w.decode(text); err != nil {
		return false, &RunError{Op: "return", RunID: r.id, Key: key, Err: fmt.Errorf("%w: %w", ErrMismatch, err), Hint: "the result is recorded"}
	}
	return false, nil
}

// call calls the function and records a panic or Goexit on its way out, but for a step that
// must not run twice: a panic behind a payment does not undo it, so that stays in doubt.
func (r *Run) call(ctx context.Context, s *scope, key string, c stepConfig, t tried, w work) (v any, text []byte, err, encodeErr error) {
	begin := time.Now()
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover()
		crash := &crashError{value: p, stack: debug.Stack()}
		if !c.once {
			r.recordFailure(key, t, time.Since(begin), crash, ending{}) //nolint:errcheck // logged
		}
		if p != nil {
			panic(p)
		}
	}()
	if v, err = w.call(s.within(ctx, key, t, c.gates)); err == nil {
		text, encodeErr = r.encode(v) // here, since a method of the value may panic
	}
	returned = true
	return v, text, err, encodeErr
}
