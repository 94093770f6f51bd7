package pawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/journal"
)

// tries is how a step is tried, as the packages retry and limit say.
type tries struct {
	retry      *series.Policy
	timeout    time.Duration
	keep       func(error) bool
	maxCrashes int
	gates      []hook.Gate
}

// serial is the series of tries that a step is in.
type serial struct {
	fails int64
	since time.Time     // when it began, zero if it has not
	wait  time.Duration // before the next try
	next  time.Time     // when that is due, by the clock
}

// seriesOf returns the series that the record leaves a step in, or the error of a step that
// must not be tried any more.
func (r *Run) seriesOf(key string, c stepConfig) (*serial, error) {
	r.mu.Lock()
	st, t := r.fold.Steps[key], r.fold.Trouble[key]
	if st == nil || t == nil {
		r.mu.Unlock()
		return &serial{}, nil
	}
	status, trouble, tries := st.Status, *t, st.Tries
	r.mu.Unlock()
	doubtful := c.once || st.Once // it may have happened: nobody but a person can tell
	if c.maxCrashes > 0 && trouble.Deaths >= int64(c.maxCrashes) && status == journal.StepRunning && !doubtful {
		return nil, r.poison(key, tries, trouble.Deaths)
	}
	sr := &serial{}
	// Another start may have other options: without a policy there is no series, and what failed
	// is tried at once.
	if c.retry == nil || status == journal.StepFailed && trouble.Next.IsZero() {
		return sr, nil
	}
	sr.fails, sr.since = trouble.Fails, trouble.Since
	if status == journal.StepFailed {
		sr.next, sr.wait = trouble.Next, series.Rest(r.store.now(), trouble.Next, trouble.Wait)
	}
	return sr, nil
}

// onStart records in which series a try is, and whether deaths in it are counted.
func (sr *serial) onStart(b *line.Body, c stepConfig) (t journal.Trouble) {
	if c.maxCrashes > 0 {
		t.Limit = int64(c.maxCrashes)
		b.Int("max_crashes", t.Limit)
	}
	if sr.fails > 0 {
		t.Fails = sr.fails
		b.Int("fails", sr.fails)
	}
	if sr.fails > 0 || c.retry != nil && c.retry.Elapsed > 0 {
		t.Since = sr.since
		b.Str("since", clockText(sr.since))
	}
	return t
}

// clockText is a time as records have it.
func clockText(t time.Time) string { return t.UTC().Format(line.TimeFormat) }

// parsedTime is the time that a record's text says, zero if it says none.
func parsedTime(text string) time.Time {
	t, err := time.Parse(line.TimeFormat, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// awaitTry waits until the next try of a series is due.
func (r *Run) awaitTry(ctx context.Context, s *scope, key string, sr *serial) error {
	if sr.wait > 0 {
		if err := r.pause(ctx, s, key, sr.wait, sr.next); err != nil {
			return err
		}
		sr.wait = 0
	}
	return r.mayStart(ctx, s, key)
}

// pause waits for d, which ends at the time at by the clock, or says that the run waits if
// that is too long for it.
func (r *Run) pause(ctx context.Context, s *scope, key string, d time.Duration, at time.Time) error {
	if r.yield != nil && d > *r.yield {
		return r.waits(key, at)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.base.Done():
		return r.stopped(s, key)
	case <-ctx.Done():
		if s.base.Err() != nil {
			return r.stopped(s, key)
		}
		return &RunError{Op: "wait", RunID: r.id, Key: key, Err: r.store.ended(ctx), Hint: "the next start waits for the rest"}
	}
}

// bounded returns ctx with the timeout of a try.
func (c stepConfig) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.timeout, &timeoutError{c.timeout})
}

// admit waits until a try may begin: suspects run alone, and limits have their turn. Free
// gives back what limits have given, when the function has returned; leave says that the try is
// over and recorded.
func (r *Run) admit(ctx context.Context, s *scope, key string, c stepConfig) (free, leave func(), err error) {
	out, err := r.ward.enter(ctx, s, key)
	if err != nil {
		return nil, nil, r.notAdmitted(ctx, s, key, err)
	}
	// What was true before those waits need not be any more.
	err = r.mayStart(ctx, s, key)
	if err == nil && len(c.gates) > 0 {
		if free, err = r.pass(ctx, s, key, c.gates); err == nil {
			if err = r.mayStart(ctx, s, key); err != nil {
				free()
			}
		}
	}
	if err != nil {
		out()
		return nil, nil, err
	}
	if free == nil {
		free = func() {}
	}
	return free, out, nil
}

// pass passes the gates of a step, one after the other.
func (r *Run) pass(ctx context.Context, s *scope, key string, gates []hook.Gate) (free func(), err error) {
	var opened []func()
	free = func() {
		for i := len(opened) - 1; i >= 0; i-- {
			opened[i]()
		}
		opened = nil
	}
	for _, g := range gates {
		for sc := s; sc != nil; sc = sc.outer {
			if slices.Contains(sc.gates, g) {
				free()
				return nil, &RunError{
					Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: step %q around this one has a place of the same limit, and would keep it while this one waits for another", ErrInvalid, sc.step),
					Hint: "fn was not called; give the limit to the inner steps alone",
				}
			}
		}
		one, err := g.Acquire(ctx)
		if err != nil {
			free()
			return nil, r.notAdmitted(ctx, s, key, err)
		}
		opened = append(opened, one)
	}
	return free, nil
}

func (r *Run) notAdmitted(ctx context.Context, s *scope, key string, err error) error {
	if s.base.Err() != nil {
		return r.stopped(s, key)
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = r.store.ended(ctx)
	}
	return &RunError{Op: "start", RunID: r.id, Key: key, Err: err, Hint: "fn was not called"}
}

func init() {
	hook.Retry = func(p series.Policy, timeout time.Duration) any {
		return stepOption(func(c *stepConfig) {
			c.retry = &p
			if timeout > 0 {
				c.timeout = timeout
			}
		})
	}
	hook.Timeout = func(d time.Duration) any { return stepOption(func(c *stepConfig) { c.timeout = d }) }
	hook.KeepError = func(pred func(error) bool) any { return stepOption(func(c *stepConfig) { c.keep = pred }) }
	hook.MaxCrashes = func(n int) any { return stepOption(func(c *stepConfig) { c.maxCrashes = n }) }
	hook.StepGate = func(g hook.Gate) any {
		return stepOption(func(c *stepConfig) {
			if !slices.Contains(c.gates, g) {
				c.gates = append(c.gates[:len(c.gates):len(c.gates)], g)
			}
		})
	}
}
