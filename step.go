package pawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// StepError says that a step's function returned an error. It wraps that error.
type StepError struct {
	RunID   string
	Key     string // full key
	Tries   int    // tries so far, over all starts
	Message string // text of the function's error
	Err     error  // the function's error
}

// Error returns `run "id" step "key" failed (try n): message`, of the innermost step.
func (e *StepError) Error() string {
	if inner, ok := e.Err.(*StepError); ok && inner.RunID == e.RunID {
		return inner.Error() // its key begins with this one's
	}
	return fmt.Sprintf("pawl: run %q step %q failed (try %d): %s", e.RunID, e.Key, e.Tries, e.Message)
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
// that dies while fn runs leaves the step in doubt: the next start runs it again.
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
	input  *value.Fingerprint // set when the caller has it already
}

// step answers from the record or does the work.
func (r *Run) step(ctx context.Context, s *scope, key string, c stepConfig, w work) error {
	if err := value.Check(w.typ); err != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: result type: %w", ErrInvalid, err), Hint: "fn was not called"}
	}
	input := w.input
	if c.hasInput && input == nil && !c.ignoreInput {
		f, err := value.FingerprintOf(c.input, r.store.redact)
		if err != nil {
			return &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: input: %w", ErrInvalid, err), Hint: "fn was not called"}
		}
		input = &f
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

// claim marks key as running in this attempt.
func (r *Run) claim(s *scope, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.ended
	if why == nil && r.closing {
		why = ErrClosed
	}
	if why == nil {
		why = s.alive()
	}
	if why != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: why, Hint: "fn was not called"}
	}
	switch r.asked[key] {
	case stepRunning, stepAnswered, stepDone:
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: ErrDuplicateKey, Hint: "fn was not called; give equal names a scope of their own: pawl.Scope(ctx, \"turn/3\")"}
	case stepFailed:
		r.askAnew(key) // a new try asks for its nested keys again
	default:
		if i := strings.LastIndexByte(key, '/'); i > 0 {
			r.nest(key[:i], key)
		}
	}
	r.asked[key] = stepRunning
	r.active++
	return nil
}

// nest notes under which keys and scopes a key is asked. The caller holds mu.
func (r *Run) nest(parent, key string) {
	kids, known := r.nested[parent]
	r.nested[parent] = append(kids, key)
	if i := strings.LastIndexByte(parent, '/'); !known && i > 0 {
		r.nest(parent[:i], parent)
	}
}

// askAnew lets the keys inside key be asked again, but for those still running. The
// caller holds mu.
func (r *Run) askAnew(key string) {
	kids := r.nested[key]
	slices.Sort(kids) // each try adds what it asks: it must not be walked once for each
	kids = slices.Compact(kids)
	if len(kids) > 0 {
		r.nested[key] = kids
	}
	for _, k := range kids {
		if r.asked[k] != stepRunning {
			delete(r.asked, k)
		}
		r.askAnew(k)
	}
}

func (r *Run) settle(key string, st stepState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[key] = st
	if r.active--; r.active == 0 {
		r.idle.Broadcast()
	}
}

// answer decodes the recorded result, if there is one that answers the question.
func (r *Run) answer(s *scope, key string, c stepConfig, input *value.Fingerprint, w work) (bool, error) {
	st, rec, err := r.recorded(key, input)
	if err != nil {
		return false, r.readError(key, err)
	}
	if st == nil {
		return false, nil
	}
	if differs(st, input) {
		return false, r.inputDiffers(s, key, *st, rec, c, input)
	}
	if st.Status != journal.StepDone {
		return false, nil
	}
	text, ok := rec.Value()
	if !ok {
		return false, r.readError(key, &journal.CorruptError{Path: r.log.Path(), Offset: st.Offset, Seq: st.Seq, Reason: "a step without a value"})
	}
	if err := w.decode(text); err != nil {
		return false, &RunError{Op: "return", RunID: r.id, Key: key, Seq: st.Seq, Err: fmt.Errorf("%w: %w", ErrMismatch, err), Hint: "the recorded result is unchanged; read it with the type it was written with, or give the step another key"}
	}
	return true, nil
}

// recorded returns what is recorded of a step, and the record that matters: that of
// its start if its input differs, else that of its result. Nil means nothing.
func (r *Run) recorded(key string, input *value.Fingerprint) (*journal.Step, *journal.Record, error) {
	// A compaction moves records: look up and read in one.
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	s := r.fold.Steps[key]
	if s == nil {
		r.mu.Unlock()
		return nil, nil, nil
	}
	st := *s
	r.mu.Unlock()
	var span journal.Span
	switch {
	case differs(&st, input):
		span = st.Start
	case st.Status == journal.StepDone:
		span = journal.Span{Seq: st.Seq, Offset: st.Offset, Len: st.Len}
	default:
		return &st, nil, nil
	}
	rec, err := r.log.Record(span)
	return &st, rec, err
}

// differs reports whether a step was recorded with another input than this one.
func differs(st *journal.Step, input *value.Fingerprint) bool {
	return input != nil && st.InputDiffers(input.Digest)
}

func (r *Run) readError(key string, err error) error {
	e := &RunError{Op: "read", RunID: r.id, Key: key, Path: r.log.Path(), Err: err}
	if errors.Is(err, ErrCorrupt) {
		e.Hint = fmt.Sprintf("fn was not called; look with: pawl repair --dry-run %s", quoteArg(r.log.Path()))
	}
	return e
}

// perform runs the function and records how it ended.
func (r *Run) perform(ctx context.Context, s *scope, key string, c stepConfig, input *value.Fingerprint, w work) error {
	if s.base.Err() != nil {
		return r.stopped(s, key)
	}
	if ctx.Err() != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: ended(ctx), Hint: "fn was not called"}
	}
	t, err := r.recordStart(s, key, c, input, w)
	if err != nil {
		return err
	}
	defer r.over(key, t)
	begin := time.Now()
	v, text, err, encodeErr := r.call(ctx, s, key, c, t, w)
	took := time.Since(begin)
	if err != nil {
		return r.failed(s, key, c, t, took, err)
	}
	if encodeErr != nil {
		err = fmt.Errorf("%w: result: %w", ErrInvalid, encodeErr)
		if c.once { // it did happen
			return &RunError{Op: "record", RunID: r.id, Key: key, Err: err, Hint: "fn ran and its result was not recorded, so the step is in doubt; " + r.howToResolve(key)}
		}
		r.recordFailure(key, t, took, err)
		return &RunError{Op: "record", RunID: r.id, Key: key, Err: err, Hint: "fn ran and its result was not recorded; it runs again on the next start"}
	}
	b := line.NewBody(journal.KindStep, key, r.store.now()).Int("try", t.n).Int("us", took.Microseconds())
	// The context is not asked: a finished step is never lost to a cancellation.
	err = r.record(withValue(b, text, reflect.TypeOf(v)), true, r.still(key, t), stepEnded(key, journal.StepDone))
	if err != nil {
		return r.writeError("record", key, err)
	}
	if err := w.decode(text); err != nil {
		return &RunError{Op: "return", RunID: r.id, Key: key, Err: fmt.Errorf("%w: %w", ErrMismatch, err), Hint: "the result is recorded"}
	}
	return nil
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
			r.recordFailure(key, t, time.Since(begin), crash)
		}
		if p != nil {
			panic(p)
		}
	}()
	if v, err = w.call(s.within(ctx, key, t)); err == nil {
		text, encodeErr = r.encode(v) // here, since a method of the value may panic
	}
	returned = true
	return v, text, err, encodeErr
}
