package pawl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// maxErrorText bounds what is recorded of an error, in bytes.
const maxErrorText = 4 << 10

// Result decodes the recorded result into *p, strictly, and returns true if the
// run is complete; a nil p only asks. If the result does not fit, the error matches [ErrMismatch] and
// *p is unchanged.
func (r *Run) Result(p any) (done bool, err error) {
	r.mu.Lock()
	text := r.result
	r.mu.Unlock()
	if text == nil || p == nil {
		return text != nil, nil
	}
	if err := value.Decode(text, p, r.lenient); err != nil {
		return true, &RunError{Op: "read the result of", RunID: r.id, Err: fmt.Errorf("%w: %w", ErrMismatch, err), Hint: "the recorded result is unchanged"}
	}
	return true, nil
}

// Complete records v as the run's result. When it returns nil the result is
// durable, no further step is taken, and every later start gets the result
// without running anything. Completing again with an equal value is nil, with
// another one [ErrComplete]. A value that cannot be stored is [ErrInvalid], and so is
// completing while a step is under way; the run then stays open.
func (r *Run) Complete(v any) error {
	text, err := r.encode(v)
	if err != nil {
		return &RunError{Op: "complete", RunID: r.id, Err: fmt.Errorf("%w: result: %w", ErrInvalid, err), Hint: "the run stays resumable"}
	}
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	ended, result, stopped := r.ended, r.result, r.cancelled
	r.mu.Unlock()
	switch {
	case ended == nil && stopped != nil:
		return stopped
	case result != nil && bytes.Equal(result, text):
		return nil
	case ended != nil:
		return &RunError{Op: "complete", RunID: r.id, Err: ended}
	}
	if keys := r.underWay(); len(keys) > 0 {
		return &RunError{Op: "complete", RunID: r.id, Key: keys[0], Err: fmt.Errorf("%w: %d steps are under way", ErrInvalid, len(keys)), Hint: "complete a run when its steps have ended"}
	}
	if key := r.openQuestion(); key != "" {
		return &RunError{Op: "complete", RunID: r.id, Key: key, Err: fmt.Errorf("%w: the question that this run has asked waits for an answer", ErrInvalid), Hint: "return the error of Await; the run stays resumable"}
	}
	b := line.NewBody(journal.KindComplete, "", r.store.now())
	if n := r.unasked(); n > 0 {
		b.Int("unasked", int64(n))
		r.store.log.Info("recorded steps that nobody asked for", "run", r.id, "steps", n)
	}
	if _, err := r.log.Append(withValue(b, text, reflect.TypeOf(v)), true); err != nil {
		return r.writeError("complete", "", err)
	}
	r.mu.Lock()
	r.result, r.ended = text, ErrComplete
	r.mu.Unlock()
	return nil
}

// withValue finishes a body with a value. Only raw JSON can hold bytes that must
// not stand in a line as they are; everything else was encoded clean.
func withValue(b *line.Body, text []byte, t reflect.Type) []byte {
	if value.IsRaw(t) {
		return b.Value(text).Bytes()
	}
	return b.CleanValue(text).Bytes()
}

// underWay returns the keys of the steps that have not ended.
func (r *Run) underWay() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active == 0 {
		return nil
	}
	var keys []string
	for key, st := range r.asked {
		if st == stepRunning {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}

// openQuestion returns the key of a question that this attempt has asked and that has no answer,
// "" if there is none.
func (r *Run) openQuestion() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := ""
	for _, key := range r.fold.Questions() {
		if _, asked := r.asked[key]; asked && (open == "" || key < open) {
			open = key
		}
	}
	return open
}

// drain lets no further step begin and waits for those under way.
func (r *Run) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
	for r.active > 0 {
		r.idle.Wait()
	}
}

// unasked counts recorded results that this attempt did not ask for, leaving out
// those inside a step that was answered from its record.
func (r *Run) unasked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for key, s := range r.fold.Steps {
		if s.Status == journal.StepDone && r.asked[key] == 0 && !r.insideAsked(key) {
			n++
		}
	}
	return n
}

func (r *Run) insideAsked(key string) bool {
	for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
		if r.asked[key[:i]] == stepAnswered {
			return true
		}
	}
	return false
}

// Fail records that this attempt ended with cause. The run is then failed and, like
// any other, resumable: the next start tries again what has no result. When it
// returns nil that is durable. Failing while a step is under way is [ErrInvalid], since
// its result could not be recorded any more; the run then stays open.
func (r *Run) Fail(cause error) error {
	if cause == nil {
		return &RunError{Op: "fail", RunID: r.id, Err: fmt.Errorf("%w: a failure needs an error", ErrInvalid)}
	}
	if keys := r.underWay(); len(keys) > 0 {
		return &RunError{Op: "fail", RunID: r.id, Key: keys[0], Err: fmt.Errorf("%w: %d steps are under way", ErrInvalid, len(keys)), Hint: "fail a run when its steps have ended; Close waits for them"}
	}
	return r.end(line.NewBody(journal.KindFailed, "", r.store.now()).Str("error", r.errorText(cause)), true)
}

// interrupt records that this attempt ended without a verdict. Nobody relies on
// it, so it does not wait for a flush of its own.
func (r *Run) interrupt(cause error) error {
	b := line.NewBody(journal.KindInterrupted, "", r.store.now())
	if cause != nil {
		b.Str("error", r.errorText(cause))
	}
	return r.end(b, false)
}

func (r *Run) end(b *line.Body, durable bool) error {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		return &RunError{Op: "end", RunID: r.id, Err: ended}
	}
	if _, err := r.log.Append(b.Bytes(), durable); err != nil {
		return r.writeError("end", "", err)
	}
	r.mu.Lock()
	r.ended = ErrClosed
	r.mu.Unlock()
	return nil
}

// Close lets go of the run: no further step begins, and when those under way have
// ended the run may be opened by others. Close waits for them, so it must not be called
// from inside a step. If the run was neither completed nor failed it stays in progress.
// Everything recorded is durable when Close returns nil. Closing again does nothing.
func (r *Run) Close() error {
	r.drain()
	r.unheed()
	if r.deaf != nil {
		r.deaf()
	}
	var err error
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended == nil {
		err = r.interrupt(nil)
	}
	r.endContexts(ErrClosed)
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	r.ended = cmp.Or(r.ended, ErrClosed)
	log, l := r.log, r.lock
	r.lock = nil
	r.mu.Unlock()
	if l == nil {
		return nil
	}
	// The lock goes last: the next owner must find everything written.
	if closeErr := errors.Join(log.Close(), l.Release()); closeErr != nil && err == nil {
		err = r.writeError("close", "", closeErr)
	}
	return err
}

// encode returns the text of a value as it may be written.
func (r *Run) encode(v any) ([]byte, error) {
	text, err := value.EncodeRedacted(v, r.store.redact)
	if err != nil {
		return nil, tell(r.store.redact, err)
	}
	return text, nil
}

// hide returns a text as it may be written.
func (r *Run) hide(text string) string {
	return hidden(r.store.redact, text)
}

// errorText is what is recorded of an error: its message, bounded. Of a step that failed
// because a step inside failed, the message is the inner one's.
func (r *Run) errorText(err error) (text string) {
	defer func() {
		if recover() != nil { // of a nil pointer in an error, most often; the run must be let go all the same
			text = fmt.Sprintf("an error of type %T, whose text cannot be told: its Error method, or Redact, panics", err)
		}
	}()
	text = err.Error()
	if inner, ok := err.(*StepError); ok {
		text = fmt.Sprintf("step %q: %s", inner.Key, inner.Message)
		if _, nested := inner.Err.(*StepError); nested {
			text = inner.Message
		}
	}
	return bounded(r.hide(strings.ToValidUTF8(text, "\ufffd"))) // before it is cut: half a secret is one too
}

// bounded cuts a text that is recorded of an error, a decision and the like.
func bounded(text string) string {
	if len(text) > maxErrorText {
		return strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

// wait records that this attempt ended since the run waits, until the first of what it waits
// for is due.
func (r *Run) wait() error {
	b := line.NewBody(journal.KindWaiting, "", r.store.now())
	r.mu.Lock()
	at := r.wakeAt
	r.mu.Unlock()
	if !at.IsZero() {
		b.Str("until", clockText(at))
	}
	return r.end(b, false)
}

// isStop reports whether err says that the run should stop here and go on later. That another
// run was cancelled is none of its business.
func (r *Run) isStop(err error) bool {
	return r.saysCancelled(err) || errors.Is(err, ErrLeaseLost) || waits(err)
}

// saysCancelled reports whether err, or one of those that it wraps, says that this run was
// cancelled.
func (r *Run) saysCancelled(err error) bool {
	if err == ErrCancelled { //nolint:errorlint // each layer is looked at
		return true
	}
	switch e := err.(type) { //nolint:errorlint // each layer is looked at
	case *RunError:
		return e.RunID == r.id && errors.Is(e, ErrCancelled)
	case interface{ Unwrap() error }:
		return r.saysCancelled(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), r.saysCancelled)
	}
	return false
}

// waits reports whether err says that the run waits, and nothing else: where something has
// failed beside a wait, the run has.
func waits(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if many, ok := joinedErrors(e); ok {
			return !slices.ContainsFunc(many, func(err error) bool { return !waits(err) })
		}
	}
	return errors.Is(err, ErrWaiting)
}
