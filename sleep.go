package pawl

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/journal"
)

// waitError says that a run waits, and until when. It matches [ErrWaiting].
type waitError struct{ at time.Time }

func (e *waitError) Error() string {
	if e.at.IsZero() {
		return ErrWaiting.Error() + " for an answer"
	}
	return fmt.Sprintf("%v until %s", ErrWaiting, e.at.UTC().Format(time.RFC3339))
}
func (e *waitError) Unwrap() error     { return ErrWaiting }
func (e *waitError) WakeAt() time.Time { return e.at }

// waits says that the run waits until at.
func (r *Run) waits(key string, at time.Time) error {
	r.mu.Lock()
	if !at.IsZero() && (r.wakeAt.IsZero() || at.Before(r.wakeAt)) {
		r.wakeAt = at
	}
	question := r.fold.Steps[key] != nil && r.fold.Steps[key].Status == journal.StepWaiting
	r.mu.Unlock()
	hint := "start the run again then, what is done stays done"
	if question {
		hint = fmt.Sprintf("answer with: pawl answer %s %s JSON, and start the run again; what is done stays done", quoteArg(r.id), quoteArg(key))
	}
	return &RunError{Op: "wait", RunID: r.id, Key: key, Err: &waitError{at}, Hint: hint}
}

// sleep is a step that waits, for d or until a time.
func sleep(ctx context.Context, key string, until time.Time, d time.Duration) error {
	s, err := scopeOf(ctx)
	if err != nil {
		return err
	}
	r := s.run
	full, err := s.join(key)
	if err != nil {
		return err
	}
	if err := r.claim(s, full); err != nil {
		return err
	}
	end := stepFailed
	defer func() { r.settle(full, end) }()
	r.mu.Lock()
	done := false
	if st := r.fold.Steps[full]; st != nil {
		done = st.Status == journal.StepDone
	}
	r.mu.Unlock()
	if done {
		end = stepAnswered
		return nil
	}
	if err := r.dream(ctx, s, full, until, d); err != nil {
		return err
	}
	end = stepDone
	return nil
}

// dream records when the sleep ends, unless that is recorded already, waits, and records that
// it is over.
func (r *Run) dream(ctx context.Context, s *scope, key string, until time.Time, d time.Duration) error {
	if s.base.Err() != nil {
		return r.stopped(s, key)
	}
	if ctx.Err() != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: r.store.ended(ctx), Hint: "the wait has not begun"}
	}
	at, rest, err := r.recordSleep(s, key, until, d)
	if err != nil {
		return err
	}
	if rest > 0 {
		if err := r.pause(ctx, s, key, rest, at); err != nil {
			return err
		}
	}
	b := line.NewBody(journal.KindStep, key, r.store.now()).Int("try", 1).Int("us", 0) // nothing that a resume would save
	// Not flushed: who forgets that it is over waits for nothing.
	err = r.record(b.CleanValue([]byte("null")).Bytes(), false, s.alive, stepEnded(key, journal.StepDone))
	if err != nil {
		return r.writeError("record", key, err)
	}
	return nil
}

// recordSleep returns when a sleep ends, and how long that is from now.
func (r *Run) recordSleep(s *scope, key string, until time.Time, d time.Duration) (at time.Time, rest time.Duration, err error) {
	now := r.store.now()
	r.mu.Lock()
	t, st := r.fold.Trouble[key], r.fold.Steps[key]
	if st != nil && st.Status == journal.StepRunning && t != nil && !t.Until.IsZero() {
		at, rest = t.Until, t.Until.Sub(now)
		if t.Wait > 0 { // of a length of time: no clock makes it longer
			rest = series.Rest(now, t.Until, t.Wait)
		}
		again := *t
		r.mu.Unlock()
		// Recorded anew: a death in this attempt is one in a sleep.
		b := line.NewBody(journal.KindStart, key, now).Int("try", 1)
		if again.Wait > 0 {
			b.Int("wait", again.Wait.Microseconds())
		}
		b.Str("until", clockText(at))
		err = r.record(b.Bytes(), false, s.alive, func(f *journal.Fold, span journal.Span) {
			st := f.Step(key, span.Seq)
			st.Start, st.Seq, st.Offset, st.Len = span, span.Seq, span.Offset, span.Len
		})
		if err != nil {
			return at, 0, r.writeError("start", key, err)
		}
		return at, rest, nil
	}
	r.mu.Unlock()
	trouble := journal.Trouble{Until: until}
	b := line.NewBody(journal.KindStart, key, now).Int("try", 1)
	if rest = until.Sub(now); until.IsZero() {
		rest = min(max(d, 0), series.MaxWait)
		trouble.Until, trouble.Wait = now.Add(rest), rest
		b.Int("wait", rest.Microseconds())
	}
	b.Str("until", clockText(trouble.Until))
	// Flushed: a power cut must not make it longer.
	err = r.record(b.Bytes(), true, s.alive, func(f *journal.Fold, span journal.Span) {
		st := f.Step(key, span.Seq)
		st.Status, st.Tries, st.Start = journal.StepRunning, 1, span
		st.Seq, st.Offset, st.Len = span.Seq, span.Offset, span.Len
		f.SetTrouble(key, true, trouble)
	})
	if err != nil {
		return at, 0, r.writeError("start", key, err)
	}
	return trouble.Until, rest, nil
}

func init() {
	hook.Sleep = sleep
	hook.Yield = func(d time.Duration) any { return runOption(func(c *runConfig) { c.yield = &d }) }
	hook.Deadline = func(d time.Duration) any { return runOption(func(c *runConfig) { c.deadline = d }) }
}
