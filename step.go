package pawl

import (
	"context"
	"fmt"
	"reflect"

	"github.com/pawlgo/pawl/internal/value"
)

// StepError says that a step's function returned an error. It wraps that error.
type StepError struct {
	RunID   string
	Key     string // full key
	Tries   int    // tries so far, over all starts
	Message string // text of the function's error
	Err     error  // the function's error; of a final failure nil, or [ErrPoison]
	Final   bool   // failed for good: later starts get the same error, until [Store.Retry]
}

// Error returns `run "id" step "key" failed (try n): message`, of the innermost step.
func (e *StepError) Error() string {
	if inner, ok := e.Err.(*StepError); ok && inner.RunID == e.RunID {
		return inner.Error() // its key begins with this one's
	}
	how := "failed"
	if e.Final {
		how = "failed finally"
	}
	text := fmt.Sprintf("pawl: run %q step %q %s (try %d): %s", e.RunID, e.Key, how, e.Tries, e.Message)
	if e.Final && e.Err != nil {
		text += " (" + errorDocs + anchor(e.Err) + ")"
	}
	return text
}

// Unwrap returns the function's error.
func (e *StepError) Unwrap() error { return e.Err }

// Step does a unit of work once. The first time, fn runs and its value is recorded
// under key; from then on, in this process and every later one, Step returns the
// recorded value and fn does not run. When Step returns nil the value is durable,
// and what it returns was decoded from the record, so that a type which loses
// something on the way shows it on the first day.
//
// Key is unique within its scope, see [Scope]; it must come from data or recorded
// results. With its scope it is at most 1,024 bytes long. A key that is running or done in
// this attempt is [ErrDuplicateKey]. Fn's context carries the key as scope: a Step inside
// fn is "key/inner".
//
// An error of fn is recorded and returned as a [*StepError] that wraps it; the step
// may be asked again, and its new try may ask for the keys inside it again; the next start
// tries again. If the run was interrupted
// (see [Do]) nothing is recorded and fn's error is returned as it is. A process
// that dies while fn runs leaves the step in doubt: the next start runs it again. Package
// retry has options for more tries within one start, and for failures that are final: the
// error of such a step does not wrap fn's, since a later start could not.
//
// Errors: [ErrNoRun], [ErrInvalid] (key; a value that cannot be stored, with its
// place), [ErrInputChanged] (see [WithInput]), [ErrMismatch] (the record does not
// fit T), [ErrComplete], [ErrClosed], and those of writing. It is safe for
// concurrent use with different keys.
func Step[T any](ctx context.Context, key string, fn func(ctx context.Context) (T, error), opts ...StepOption) (T, error) {
	var out, zero T
	var c stepConfig
	for _, o := range opts {
		o.applyStep(&c)
	}
	s, err := scopeOf(ctx)
	if err != nil {
		return zero, err
	}
	w := work{
		typ:    reflect.TypeFor[T](),
		decode: func(text []byte) error { return value.Decode(text, &out, s.run.lenient) },
		call: func(ctx context.Context) (any, error) {
			return fn(ctx)
		},
	}
	full, err := s.join(key)
	if err != nil {
		return zero, err
	}
	if err := s.run.step(ctx, s, full, c, w); err != nil {
		return zero, err
	}
	return out, nil
}

// work is a step without its type: what Step and Map give to the run.
type work struct {
	typ    reflect.Type
	call   func(ctx context.Context) (any, error)
	decode func(text []byte) error
	mapKey string             // of the Map that the step is an item of
	input  *value.Fingerprint // of an item of a Map
}

// step answers from the record or does the work.
func (r *Run) step(ctx context.Context, s *scope, key string, c stepConfig, w work) error {
	if err := value.Check(w.typ); err != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: result type: %w", ErrInvalid, err), Hint: "fn was not called"}
	}
	input := w.input
	if c.hasInput && w.mapKey == "" {
		var err error
		if input, err = r.store.inputOf(c.input, c.ignoreInput); err != nil {
			return &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: input: %w", ErrInvalid, err), Hint: "fn was not called"}
		}
	}
	if err := r.claim(s, key); err != nil {
		return err
	}
	end := stepFailed
	defer func() { r.settle(key, end) }() // also after a panic: the key may be asked again
	if c.alias != "" {
		if err := r.adopt(s, key, c.alias); err != nil {
			return err
		}
	}
	answered, err := r.answer(s, key, c, input, w)
	if err != nil {
		return err
	}
	if answered {
		end = stepAnswered
		return nil
	}
	if err := r.perform(ctx, s, key, c, input, w); err != nil {
		return err
	}
	end = stepDone
	return nil
}
