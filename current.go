package pawl

import (
	"context"
	"fmt"
	"reflect"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// Try returns which try of the step around ctx this is: 1 for the first, more if earlier
// ones failed or were cut short, counted over all starts. A step that was deliberately begun
// anew ([RerunOnChange], [Store.ResolveRerun], another input after a failure) begins with 1
// again. Outside of a step it is 0.
func Try(ctx context.Context) int {
	s, err := scopeOf(ctx)
	if err != nil {
		return 0
	}
	return int(s.try)
}

// IdempotencyKey returns a key for services that do a thing only once for each key, such
// as payment providers: 32 hexadecimal digits, equal over all tries and starts of the step
// around ctx, and another one for every other step, for a run of another ID or
// one that began again, and for a step that was deliberately begun anew ([RerunOnChange],
// [Store.ResolveRerun]). Outside of a step it is "". The context of a try that has ended keeps
// the key of that try.
//
// It is an HMAC-SHA256 of the step's key and epochs under the run's random UID; see
// spec/journal-v1.md.
func IdempotencyKey(ctx context.Context) string {
	s, err := scopeOf(ctx)
	if err != nil || s.step == "" {
		return ""
	}
	if s.idem != "" {
		return s.idem
	}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	// As it was when the try began: nothing had been begun anew then.
	return (&journal.Fold{Header: s.run.fold.Header}).IdempotencyKey(s.step)
}

// Note records v for the next try of the step around ctx: the ID of a job that was
// submitted and must be waited for, say. When it returns nil the note is durable; the
// newest one counts. It is read with [LoadNote].
//
// Errors: [ErrNoRun]; [ErrInvalid] outside of a step, after its end, or if v cannot be
// stored; and those of writing. It is safe for concurrent use.
func Note(ctx context.Context, v any) error {
	s, err := stepOf(ctx, "note")
	if err != nil {
		return err
	}
	r := s.run
	text, err := r.encode(v)
	if err != nil {
		return &RunError{Op: "note", RunID: r.id, Key: s.step, Err: fmt.Errorf("%w: note: %w", ErrInvalid, err), Hint: "nothing was recorded"}
	}
	body := withValue(line.NewBody(journal.KindNote, s.step, r.store.now()), text, reflect.TypeOf(v))
	err = r.record(body, true, s.alive, func(f *journal.Fold, span journal.Span) { f.Note(s.step, span) })
	if err != nil {
		return r.writeError("note", s.step, err)
	}
	return nil
}

// LoadNote returns the newest note of the step around ctx, and false if there is none.
// Errors: [ErrNoRun], [ErrInvalid] outside of a step or after its end, [ErrMismatch] if the note
// does not fit T, [ErrComplete], [ErrClosed], and those of reading.
func LoadNote[T any](ctx context.Context) (T, bool, error) {
	var v T
	s, err := stepOf(ctx, "read the note of")
	if err != nil {
		return v, false, err
	}
	text, err := s.run.readNote(s)
	if err != nil || text == nil {
		return v, false, err
	}
	if err := value.Decode(text, &v, s.run.lenient); err != nil {
		return *new(T), false, &RunError{Op: "read the note of", RunID: s.run.id, Key: s.step, Err: mismatch(err, value.Missing(text, reflect.TypeFor[T]())), Hint: "the note is unchanged"}
	}
	return v, true, nil
}

// readNote returns the text of the newest note of the step around, nil if there is none.
func (r *Run) readNote(s *scope) ([]byte, error) {
	key := s.step
	// A compaction moves records: look up and read in one.
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	span, ok := r.fold.Notes[key]
	err := r.ended
	if err == nil {
		err = s.alive() // the newest note may be that of a step that was begun anew
	}
	r.mu.Unlock()
	if err != nil {
		return nil, &RunError{Op: "read the note of", RunID: r.id, Key: key, Err: err, Hint: "nothing was read"}
	}
	if !ok {
		return nil, nil
	}
	rec, err := r.log.Record(span)
	if err != nil {
		return nil, r.readError(key, err)
	}
	text, ok := rec.Value()
	if !ok {
		return nil, r.readError(key, &journal.CorruptError{Path: r.log.Path(), Offset: span.Offset, Seq: span.Seq, Reason: "a note without a value"})
	}
	return text, nil
}

// stepOf returns the scope of ctx if a step is around it.
func stepOf(ctx context.Context, op string) (*scope, error) {
	s, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if s.step == "" {
		return nil, &RunError{Op: op, RunID: s.run.id, Err: fmt.Errorf("%w: no step is under way in this context", ErrInvalid), Hint: "call it in the function of a Step or a Map, with that function's context"}
	}
	return s, nil
}
