// Package series decides what follows a try that failed: another one, and when, or none.
package series

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// Policy is how a step is tried again. The zero value of each member means what retry.Policy
// says of it.
type Policy struct {
	Tries   int
	Base    time.Duration
	Cap     time.Duration
	Elapsed time.Duration
	If      func(error) bool
	Final   bool
	Jitter  func() float64 // in [0, 1); nil is math/rand
}

// Defaults of a Policy.
const (
	DefaultTries = 5
	DefaultBase  = time.Second
	DefaultCap   = time.Minute
)

// MaxWait bounds every wait: what is longer is a mistake in somebody's units.
const MaxWait = 365 * 24 * time.Hour

// Normal returns p with defaults in the place of what is not set.
func (p Policy) Normal() Policy {
	if p.Tries <= 0 {
		p.Tries = DefaultTries
	}
	if p.Base <= 0 {
		p.Base = DefaultBase
	}
	if p.Cap <= 0 {
		p.Cap = max(DefaultCap, p.Base)
	}
	p.Base, p.Cap = min(p.Base, MaxWait), min(p.Cap, MaxWait)
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return p
}

// Next returns how long to wait before the next try, after fails tries of a series that
// began elapsed ago have failed, the last one with err; and false if there is no next one.
//
// The wait is "full jitter": evenly drawn between 0 and the exponential backoff
// min(Cap, Base·2^(fails−1)) (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture
// Blog, 2015), and not less than what err asks for.
func (p Policy) Next(err error, fails int64, elapsed time.Duration) (time.Duration, bool) {
	p = p.Normal()
	if fails >= int64(p.Tries) || IsPermanent(err) || p.If != nil && !p.If(err) {
		return 0, false
	}
	wait := time.Duration(p.Jitter() * float64(p.backoff(fails)))
	if after, ok := After(err); ok {
		wait = max(wait, after)
	}
	if p.Elapsed > 0 && max(elapsed, 0)+wait > p.Elapsed {
		return 0, false
	}
	return wait, true
}

// backoff doubles Base with every failure, up to Cap.
func (p Policy) backoff(fails int64) time.Duration {
	d := math.Ldexp(float64(p.Base), int(min(max(fails, 1)-1, 1<<10)))
	if d >= float64(p.Cap) { // +Inf too
		return p.Cap
	}
	return time.Duration(d)
}

// Rest returns how much is left of a wait that ends at next by the clock, whose hands may
// have been moved meanwhile: never less than 0, nor more than the whole wait.
func Rest(now, next time.Time, wait time.Duration) time.Duration {
	return min(max(next.Sub(now), 0), max(wait, 0))
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Permanent is an error that no further try will mend.
type Permanent struct{ Err error }

// Error returns the text of the error inside.
func (e *Permanent) Error() string { return e.Err.Error() }

// Unwrap returns the error inside.
func (e *Permanent) Unwrap() error { return e.Err }

// IsPermanent reports whether err, or one that it wraps, is permanent.
func IsPermanent(err error) bool {
	_, ok := errors.AsType[*Permanent](err)
	return ok
}

// Later is an error that says when to try again.
type Later struct {
	Err error
	D   time.Duration
}

// Error returns the text of the error inside.
func (e *Later) Error() string { return e.Err.Error() }

// Unwrap returns the error inside.
func (e *Later) Unwrap() error { return e.Err }

// RetryAfter returns how long to wait.
func (e *Later) RetryAfter() time.Duration { return e.D }

// After returns how long err, or one that it wraps, asks to wait, and false if none does.
func After(err error) (time.Duration, bool) {
	var says interface{ RetryAfter() time.Duration }
	if !errors.As(err, &says) {
		return 0, false
	}
	return min(max(says.RetryAfter(), 0), MaxWait), true
}
