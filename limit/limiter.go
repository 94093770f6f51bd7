package limit

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawlgo/pawl"
)

// Limiter is a limit that all who know its name share. It is made by [New] and safe for
// concurrent use.
//
// It is an option of pawl.Step, and of pawl.Map for each item: each try of the function passes
// the limiter, and several of them in the order in which they are given. As long as a function
// runs it has its place. A step inside of it must not want another one of the same limiter: when
// all places are taken by outer steps, the inner ones would wait for good.
type Limiter struct {
	option

	name  string
	n     int
	rate  Rate
	where string         // New was called
	wrong *pawl.RunError // why it cannot be used

	mu      sync.Mutex
	times   schedule
	queue   list.List // of *waiter, first come first
	running int
	started int64
	alarm   *time.Timer // for the first of the queue; nil when nobody waits for a time
}

// waiter is who wants to begin.
type waiter struct {
	served chan struct{} // closed when it may
	undo   func()        // gives its place in the schedule back; set when it may
}

// Acquire waits until a call may begin, and returns what must be called when it has ended.
// Calling release again does nothing. Those who call Acquire begin in the order in which they
// called it.
//
// When ctx ends first, the error says so and wraps ctx.Err() and its cause; nothing is held
// then, and there is nothing to release. A limiter that cannot be used is pawl.ErrInvalid, see
// [New]. Both are a [pawl.RunError].
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if l.wrong != nil {
		return nil, l.wrong
	}
	if l.n == 0 {
		return nil, l.refusal("a limiter that limit.New did not make", "make it there")
	}
	w := &waiter{served: make(chan struct{})}
	l.mu.Lock()
	if ctx.Err() != nil {
		defer l.mu.Unlock()
		return nil, l.ended(ctx)
	}
	place := l.queue.PushBack(w)
	l.advance()
	l.mu.Unlock()
	select {
	case <-w.served:
		return sync.OnceFunc(l.release), nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.ended(ctx)
	if w.undo != nil { // served at the same moment: it does not begin, so others may
		l.running--
		l.started--
		w.undo()
	} else {
		l.queue.Remove(place)
	}
	l.advance()
	return nil, err
}

func (l *Limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.advance()
}

// Pause lets nobody begin for d from now; what runs goes on. It is for a service that said how
// long it wants to be left alone. A step whose error says so (see the package's documentation)
// calls it by itself.
//
// A pause only gets longer: one that ends before the present one changes nothing. A d of 0 or
// less is none, and more than 24 hours are 24 hours.
func (l *Limiter) Pause(d time.Duration) {
	if l.wrong != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.times.pause(now, d)
	l.advance()
}

// Stats is what a limiter does at a moment.
type Stats struct {
	Running     int       // calls that have begun and not ended
	Waiting     int       // those who wait for their turn
	Started     int64     // calls that have begun since the process did
	PausedUntil time.Time // when the pause ends; zero when there is none
}

// Stats returns what the limiter does now, for those who export it.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Running: l.running, Waiting: l.queue.Len(), Started: l.started}
	if l.times.until.After(l.now()) {
		s.PausedUntil = l.times.until
	}
	return s
}

// advance lets everybody begin who may, and sets the alarm for the next. The caller holds mu.
func (l *Limiter) advance() {
	if l.alarm != nil {
		l.alarm.Stop()
		l.alarm = nil
	}
	for l.queue.Len() > 0 && l.running < l.n {
		now := l.now()
		if wait := l.times.next().Sub(now); wait > 0 {
			l.alarm = time.AfterFunc(wait, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.advance()
			})
			return
		}
		w := l.queue.Remove(l.queue.Front()).(*waiter)
		w.undo = l.times.begin(now)
		l.running++
		l.started++
		close(w.served)
	}
}

// now tells the schedule the time. The caller holds mu, so that it does not seem to go back.
func (l *Limiter) now() time.Time {
	now := time.Now()
	l.times.tell(now)
	return now
}

func (l *Limiter) waiting() string { return fmt.Sprintf("wait for limiter %q", l.name) }

// ended returns the error of a context that ended before the call could begin, with what kept
// it. The caller holds mu.
func (l *Limiter) ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	} else {
		err = cause
	}
	hint := fmt.Sprintf("nothing was called; %d of %d run, %d wait", l.running, l.n, l.queue.Len())
	if pause := l.times.until.Sub(l.now()); pause > 0 {
		hint += fmt.Sprintf(", and nobody begins for %v", pause.Round(time.Millisecond))
	}
	return &pawl.RunError{Op: l.waiting(), Err: err, Hint: hint}
}
