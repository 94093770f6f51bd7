package pawl

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// recordStart records that the function is about to be called. The record is with the
// kernel before it runs, so that a process that dies inside leaves a trace; it is not
// flushed, since a power cut that loses it loses only the trace. Where the trace decides
// whether the function may run again, it is.
func (r *Run) recordStart(key string, c stepConfig, input *value.Fingerprint, w work) (try int64, err error) {
	r.mu.Lock()
	st := r.fold.Steps[key]
	inDoubt := st != nil && st.Status == journal.StepRunning && (c.once || st.Once)
	if st != nil {
		try = st.Tries
	}
	r.mu.Unlock()
	if inDoubt {
		return 0, &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: try %d", ErrInDoubt, try), Hint: "fn was not called; " + r.howToResolve(key)}
	}
	try++
	b := line.NewBody(journal.KindStart, key, r.store.now()).Int("try", try)
	if w.mapKey != "" {
		b.Str("map", w.mapKey)
	}
	if c.once {
		b.Raw("once", []byte("true"))
	}
	if input != nil {
		withInput(b, input)
	}
	err = r.record(b.Bytes(), c.once, func(f *journal.Fold, span journal.Span) {
		st := f.Step(key, span.Seq)
		st.Status, st.Tries, st.Map, st.Once, st.Start = journal.StepRunning, try, w.mapKey, c.once, span
		st.Seq, st.Offset, st.Len = span.Seq, span.Offset, span.Len
		st.SetInput(input.Key())
	})
	if err != nil {
		return 0, r.writeError("start", key, err)
	}
	return try, nil
}

// stepEnded keeps in memory what was just recorded of a step, as reading it would.
func stepEnded(key string, status journal.StepStatus) func(*journal.Fold, journal.Span) {
	return func(f *journal.Fold, span journal.Span) {
		st := f.Step(key, span.Seq)
		st.Status, st.Seq, st.Offset, st.Len = status, span.Seq, span.Offset, span.Len
	}
}

// record adds a record unless the run has ended, and lets apply do to the fold, while mu
// is held, what reading the record would do. No compaction comes in between: it
// moves records.
func (r *Run) record(body []byte, durable bool, apply func(*journal.Fold, journal.Span)) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		return ended
	}
	span, err := r.log.Append(body, durable)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	apply(r.fold, span)
	return nil
}

// checkLog says why nothing could be recorded: the run has ended, or its journal is not the
// one that this process left.
func (r *Run) checkLog() error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		return ended
	}
	return r.log.Check()
}

// failed records an error of the function, or nothing if the run was interrupted, or if
// fn itself does not know whether a thing happened that must not happen twice.
func (r *Run) failed(s *scope, key string, c stepConfig, try int64, took time.Duration, err error) error {
	if s.interrupted(err) {
		return err
	}
	if !c.once || !errors.Is(err, ErrInDoubt) {
		r.recordFailure(key, try, took, err)
	}
	return &StepError{RunID: r.id, Key: key, Tries: int(try), Message: r.errorText(err), Err: err}
}

// recordFailure does not wait for a flush: a failure that a power cut forgets is
// tried again, as it would be anyway. A record that cannot be written must not
// hide the failure itself.
func (r *Run) recordFailure(key string, try int64, took time.Duration, cause error) {
	text, stack := r.errorText(cause), ""
	if crash, ok := cause.(*crashError); ok {
		text, stack = r.hide(crash.headline()), r.hide(string(crash.stack))
	}
	b := line.NewBody(journal.KindFail, key, r.store.now()).Int("try", try).Int("us", took.Microseconds()).Str("error", text)
	if stack != "" {
		b.Str("stack", stack[:min(len(stack), 4*maxErrorText)])
	}
	if err := r.record(b.Bytes(), false, stepEnded(key, journal.StepFailed)); err != nil {
		r.store.log.Warn("a failure was not recorded", "run", r.id, "step", key, "err", err)
	}
}
