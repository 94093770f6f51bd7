package pawl

import (
	"errors"
	"fmt"

	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// answer decodes the recorded result, if there is one that answers the question.
func (r *Run) answer(s *scope, key string, c stepConfig, input *value.Fingerprint, w work) (bool, error) {
	asked := c.compared(input)
	st, rec, err := r.recorded(key, asked)
	if err != nil {
		return false, r.readError(key, err)
	}
	if st == nil {
		return false, nil
	}
	if differs(st, asked) {
		return false, r.inputDiffers(s, key, *st, rec, c, input)
	}
	if w.mapKey == "" && differs(st, input) {
		r.letPass(key, input.Digest, 0, s.alive) // a Map says so of all its items at once
	}
	if st.Status == journal.StepFailed && st.Final {
		return false, r.finally(key, st, rec)
	}
	if st.Status != journal.StepDone {
		return false, nil
	}
	text, ok := rec.Value()
	if !ok {
		return false, r.readError(key, &journal.CorruptError{Path: r.log.Path(), Offset: st.Offset, Seq: st.Seq, Reason: "a step without a value"})
	}
	if err := w.decode(text); err != nil {
		return false, &RunError{Op: "return", RunID: r.id, Key: key, Seq: st.Seq, Err: fmt.Errorf("%w: %w", ErrMismatch, err), Hint: "the recorded result is unchanged; read it with the type it was written with, or " + r.insteadOf(key, st.Once || c.once, rec)}
	}
	return true, nil
}

// insteadOf says what else can be done about a result that does not fit.
func (r *Run) insteadOf(key string, once bool, rec *journal.Record) string {
	switch {
	case rec.Kind == journal.KindStep && rec.Member("by") != nil:
		return "say anew what it is: " + r.resolveCommand(key)
	case once:
		return "a type that fits it: under another key the step would happen a second time"
	}
	return "give the step another key"
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
	case st.Status == journal.StepDone, st.Status == journal.StepFailed && st.Final:
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
