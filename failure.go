package pawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/journal"
)

// timeoutError says that a try took too long. It is the cause of the end of its context.
type timeoutError struct{ d time.Duration }

func (e *timeoutError) Error() string   { return fmt.Sprintf("the try took longer than its %v", e.d) }
func (e *timeoutError) Unwrap() error   { return context.DeadlineExceeded }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// failed records an error of the function, or nothing if the run was interrupted, or if
// nobody knows whether a thing happened that must not happen twice. Ctx is that of the try.
func (r *Run) failed(ctx context.Context, s *scope, key string, c stepConfig, t tried, took time.Duration, err error, sr *serial) (again bool, _ error) {
	if s.interrupted(err) || c.once && isLate(s.base) {
		return false, err
	}
	// What a step inside was told is for that one's limits.
	if _, inner := errors.AsType[*StepError](err); !inner && len(c.gates) > 0 {
		after, _ := series.After(err)
		for _, g := range c.gates {
			if after > 0 {
				g.Pause(after)
			}
		}
	}
	if timeout, ok := context.Cause(ctx).(*timeoutError); ok {
		err = timedOut{timeout, err}
		if c.once && !errors.Is(err, ErrInDoubt) {
			err = joined{ErrInDoubt, err}
		}
	}
	failure := &StepError{RunID: r.id, Key: key, Tries: int(t.n), Message: r.errorText(err), Err: err}
	if c.once && errors.Is(err, ErrInDoubt) {
		return false, failure
	}
	e := r.verdict(s, c, err, sr)
	if recordErr := r.recordFailure(key, t, took, err, e); recordErr != nil {
		if e.final { // what is not durable is not final
			return false, joined{failure, r.writeError("record", key, recordErr)}
		}
	}
	if e.final {
		failure.Err, failure.Final = nil, true
	}
	return e.again, failure
}

// timedOut is the error of a function whose time was over.
type timedOut struct {
	timeout *timeoutError
	err     error
}

func (e timedOut) Error() string   { return e.timeout.Error() + ": " + e.err.Error() }
func (e timedOut) Unwrap() []error { return []error{e.timeout, e.err} }

// verdict decides what follows a failed try, and takes that into the series.
func (r *Run) verdict(s *scope, c stepConfig, err error, sr *serial) ending {
	var cut timedOut
	timeout := errors.As(err, &cut) // by us: whatever it was doing then
	switch {
	case series.IsPermanent(err):
		return ending{final: true}
	case s.halted(), !timeout && r.ours(err):
		return ending{} // no word of fn's
	case c.keep != nil && c.keep(err):
		return ending{final: true}
	case c.retry == nil:
		return ending{}
	}
	sr.fails++
	now := r.store.now()
	wait, again := c.retry.Next(err, sr.fails, now.Sub(sr.since))
	if !again {
		return ending{final: c.retry.Final}
	}
	sr.wait, sr.next = wait, now.Add(wait)
	return ending{again: true, serial: sr}
}

// ours reports whether an error is this run's own word, which another try would hear again: of
// several errors, whether all are.
func (r *Run) ours(err error) bool {
	if many, ok := joinedErrors(err); ok {
		return !slices.ContainsFunc(many, func(err error) bool { return !r.ours(err) })
	}
	switch e := err.(type) { //nolint:errorlint // each layer is looked at
	case nil:
		return false
	case *RunError:
		// The end of a context that fn made itself is fn's word.
		return e.RunID == r.id && !errors.Is(e, context.Canceled) && !errors.Is(e, context.DeadlineExceeded)
	case *StepError:
		if e.RunID == r.id && e.Final {
			return true
		}
	}
	return r.ours(errors.Unwrap(err))
}

// joinedErrors returns the errors that [errors.Join] has joined into err.
func joinedErrors(err error) ([]error, bool) {
	if reflect.TypeOf(err) != joinType {
		return nil, false
	}
	return err.(interface{ Unwrap() []error }).Unwrap(), true
}

var joinType = reflect.TypeOf(errors.Join(errors.New("")))

// ending is what is recorded of a failure beside its error.
type ending struct {
	final  bool
	poison bool
	again  bool
	serial *serial // of a failure behind which there is another try
}

// recordFailure does not wait for a flush, unless it is final: a failure that a power cut
// forgets is tried again, as it would be anyway. A record that cannot be written must not
// hide the failure itself.
func (r *Run) recordFailure(key string, t tried, took time.Duration, cause error, e ending) error {
	text, stack := r.errorText(cause), ""
	if crash, ok := cause.(*crashError); ok {
		text, stack = bounded(r.hide(crash.headline())), r.hide(string(crash.stack))
	}
	b := line.NewBody(journal.KindFail, key, r.store.now()).Int("try", t.n).Int("us", took.Microseconds()).Str("error", text)
	if stack != "" {
		b.Str("stack", stack[:min(len(stack), 4*maxErrorText)])
	}
	trouble := e.write(b)
	ended := stepEnded(key, journal.StepFailed)
	err := r.record(b.Bytes(), e.final, r.still(key, t), func(f *journal.Fold, span journal.Span) {
		ended(f, span)
		f.Steps[key].Final = e.final
		f.SetTrouble(key, !e.poison, trouble)
	})
	if err != nil {
		r.store.log.Warn("a failure was not recorded", "run", r.id, "step", key, "err", err)
	}
	return err
}

func (e ending) write(b *line.Body) journal.Trouble {
	var t journal.Trouble
	if e.final {
		b.Raw("final", []byte("true"))
	}
	if e.poison {
		b.Raw("poison", []byte("true"))
		t.Poison = true
	}
	if sr := e.serial; sr != nil {
		b.Int("fails", sr.fails).Str("since", clockText(sr.since)).Str("next", clockText(sr.next)).Int("wait", sr.wait.Microseconds())
		t.Fails, t.Since, t.Next, t.Wait = sr.fails, sr.since, sr.next, sr.wait
	}
	return t
}

// finally is the error of a step that has failed finally.
func (r *Run) finally(key string, st *journal.Step, rec *journal.Record) error {
	e := &StepError{RunID: r.id, Key: key, Tries: int(st.Tries), Message: rec.Str("error"), Final: true}
	if string(rec.Member("poison")) == "true" {
		e.Err = ErrPoison
	}
	return e
}
