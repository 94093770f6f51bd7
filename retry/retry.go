// Package retry says how a step, or each item of a Map, is tried again when its function
// fails, and when it is not.
//
//	pawl.Step(ctx, "fetch", fetch, retry.With(retry.Policy{Tries: 8, Timeout: 30 * time.Second}))
//
// The tries of a series are counted in the run's journal, and so is the time of the next one:
// a process that dies between two tries, or while it waits, goes on with the same series and
// waits only for the rest. A try that a death or an interruption cut short has not failed and is
// not counted; [MaxCrashes] is for those.
//
// A function tells more by its error: [Permanent] ends the series, and the step with it;
// [After], or any error with a method RetryAfter() time.Duration, says when the next try may
// be. When a series is over the step has failed, and the next start of the run begins a new one,
// unless the failure is final: then every later start gets the same [*pawl.StepError], and the
// function is called again only after [pawl.Store.Retry], or the command: pawl retry.
package retry

import (
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/series"
)

// Policy is how a step is tried again. The zero value is 5 tries, a second apart, then two,
// four and so on up to a minute, each wait evenly drawn between nothing and that ("full
// jitter": M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
type Policy struct {
	// Tries bounds how often the function is called in a series, the first time included;
	// 0 is 5, and 1 is no retry.
	Tries int
	// Base is the longest wait behind the first failure; it doubles with each further one.
	// 0 is a second.
	Base time.Duration
	// Cap bounds that wait; 0 is a minute, or Base if that is more. What an error asks for
	// with [After] is not bounded by it, but by a year.
	Cap time.Duration
	// Elapsed bounds a series in time: no try is planned for later than this after the first one
	// began, over all starts; 0 is no bound. One that is planned runs, however late its process comes
	// to it.
	Elapsed time.Duration
	// Timeout bounds each try, see [Timeout]; 0 is no bound.
	Timeout time.Duration
	// If says which errors are worth another try; nil is all that are not permanent. Errors
	// of pawl itself, such as a duplicate key or a budget that is used up, and steps inside that
	// have failed finally, are never tried again. It must be safe for concurrent use.
	If func(error) bool
	// Final makes the failure final when the series is over.
	//
	// Series multiply: a step with 3 tries, each of which asks for a step with 3 tries inside, may
	// call that one's function 9 times.
	Final bool
}

// With tries a step again by a policy.
func With(p Policy) pawl.StepOption {
	return hook.Retry(series.Policy{Tries: p.Tries, Base: p.Base, Cap: p.Cap, Elapsed: p.Elapsed, If: p.If, Final: p.Final}, p.Timeout).(pawl.StepOption)
}

// Tries is [With] of a policy with so many tries.
func Tries(n int) pawl.StepOption { return With(Policy{Tries: max(n, 1)}) }

// Timeout bounds each try of a step: the function's context is done after d. The function must
// heed that; what it returns all the same counts. An error after that time is a failure of the
// step, in contrast to one after the end of the run's own context, and wraps
// [context.DeadlineExceeded]; context.Cause tells the function which one it is. A try of a
// step with [pawl.AtMostOnce] that ran into its timeout leaves the step in doubt. A d of 0 or
// less is no bound.
func Timeout(d time.Duration) pawl.StepOption { return hook.Timeout(d).(pawl.StepOption) }

// KeepError makes a failure final at once if pred says so of the function's error, as
// [Permanent] does from within. It is not asked of errors of pawl itself, such as [pawl.ErrBudget]. It must be safe for concurrent use.
func KeepError(pred func(error) bool) pawl.StepOption {
	return hook.KeepError(pred).(pawl.StepOption)
}

// MaxCrashes makes a step poison, [pawl.ErrPoison], when n processes in a row have died while it
// was under way alone: its failure is final then, and its function is not called. Of steps inside
// each other the innermost one with this option is meant. After a death those with it that were
// under way run with no other step of their scope beside them, so that the next death shows which one it
// was: they wait for the others to end, sleeps too, and the others for them; steps that wait for each
// other otherwise than by asking for each other would hang then, and so would a step whose function asks
// for steps with another context than its own. Deaths are counted in the journal before the function is called
// again, and that it is about to be called is durable before it is. A run that ended
// because its context was done, or that was cancelled, did not die. A step with [pawl.AtMostOnce] is in doubt
// instead. An n below 1 is 1.
func MaxCrashes(n int) pawl.StepOption { return hook.MaxCrashes(max(n, 1)).(pawl.StepOption) }

// Permanent returns an error with the text of err that no try will mend: the step fails finally.
// [errors.Is] and [errors.As] see err through it, inside of the function and in the predicates of
// this package; the [*pawl.StepError] of a final failure has only its text, live and later. Nil
// stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &series.Permanent{Err: err}
}

// After returns an error with the text of err that asks for the next try not before d from now,
// as a service does by its Retry-After. Every other user of the limits that the step has (package
// limit) is held back as long. Nil stays nil.
func After(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &series.Later{Err: err, D: d}
}
