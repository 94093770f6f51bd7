package pawl

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// recordStart records that the function is about to be called. The record is with the
// kernel before it runs, so that a process that dies inside leaves a trace; it is not
// flushed, since a power cut that loses it loses only the trace. Where the trace decides
// whether the function may run again, it is.
func (r *Run) recordStart(s *scope, key string, c stepConfig, input *value.Fingerprint, w work, sr *serial) (t tried, err error) {
	r.mu.Lock()
	st := r.fold.Steps[key]
	inDoubt := st != nil && st.Status == journal.StepRunning && (c.once || st.Once)
	if st != nil {
		t.n = st.Tries
	}
	r.mu.Unlock()
	if inDoubt {
		return t, r.doubt(key)
	}
	t.n++
	b := line.NewBody(journal.KindStart, key, r.store.now()).Int("try", t.n)
	if w.mapKey != "" {
		b.Str("map", w.mapKey)
	}
	if c.once {
		b.Raw("once", []byte("true"))
	}
	if input != nil {
		withInput(b, input)
	}
	if sr.since.IsZero() {
		sr.since = r.store.now()
	}
	trouble := sr.onStart(b, c)
	err = r.record(b.Bytes(), c.once || c.maxCrashes > 0, s.alive, func(f *journal.Fold, span journal.Span) {
		st := f.Step(key, span.Seq)
		st.Status, st.Tries, st.Map, st.Once, st.Start = journal.StepRunning, t.n, w.mapKey, c.once, span
		st.Seq, st.Offset, st.Len = span.Seq, span.Offset, span.Len
		st.Final = false
		st.SetInput(input.Key())
		f.SetTrouble(key, false, trouble)
		f.Begin(key)
		t.live, t.idem = r.begun(key), r.idemNow(key)
	})
	if err != nil {
		return t, r.writeError("start", key, err)
	}
	return t, nil
}

// stepEnded keeps in memory what was just recorded of a step, as reading it would.
func stepEnded(key string, status journal.StepStatus) func(*journal.Fold, journal.Span) {
	return func(f *journal.Fold, span journal.Span) {
		st := f.Step(key, span.Seq)
		st.Status, st.Seq, st.Offset, st.Len = status, span.Seq, span.Offset, span.Len
		if status == journal.StepDone {
			delete(f.Trouble, key)
		}
	}
}

// record adds a record unless the run has ended or guard, which is called while mu is
// held, has something against it; and lets apply do to the fold, while mu is held too, what
// reading the record would do. No compaction comes in between: it moves records. And no
// epoch: what guard said holds until the record stands in its place.
func (r *Run) record(body []byte, durable bool, guard func() error, apply func(*journal.Fold, journal.Span)) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	span, gone, err := r.write(body, durable, guard, apply)
	if err != nil || !durable {
		return err
	}
	if err := r.log.Flush(span.Seq); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err = guard()
	if err == nil || r.gone == gone {
		// That a try has ended meanwhile does not take it out of the journal. An epoch does: it
		// stands in front of that.
		apply(r.fold, span)
	}
	return err
}

// write appends a record; gone tells epochs that come later from those in front of it.
func (r *Run) write(body []byte, durable bool, guard func() error, apply func(*journal.Fold, journal.Span)) (span journal.Span, gone uint64, err error) {
	r.order.Lock()
	defer r.order.Unlock()
	r.mu.Lock()
	gone, err = r.gone, r.ended
	if err == nil {
		err = guard()
	}
	r.mu.Unlock()
	if err != nil {
		return span, gone, err
	}
	span, err = r.log.Append(body, false)
	if err == nil && !durable {
		r.mu.Lock()
		defer r.mu.Unlock()
		apply(r.fold, span)
	}
	return span, gone, err
}

// still guards a record of a try: no epoch may have begun since.
func (r *Run) still(key string, t tried) func() error {
	return func() error {
		if r.live[key] != t.live {
			return fmt.Errorf("%w: the step was begun anew meanwhile", ErrInvalid)
		}
		return nil
	}
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
