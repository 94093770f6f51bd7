package pawl

import (
	"context"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/journal"
)

// Context returns ctx carrying the run, for [Step], [Map] and everything below
// them. The end of ctx is an interruption of the run, never a failure. What it returns ends
// with ctx; when the run is cancelled ([ErrCancelled] is the cause), at the deadline that
// package wait sets, which is a failure; and when the run is closed.
func (r *Run) Context(ctx context.Context) context.Context {
	if at := r.terms.deadline; !at.IsZero() {
		// The rest of it is measured by a clock that nobody sets.
		rest := series.Rest(r.store.now(), at, r.terms.within)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, rest, &deadlineError{at})
		r.endWith(func(error) { cancel() })
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r.endWith(cancel)
	r.heed(ctx)
	return context.WithValue(ctx, scopeKey{}, &scope{run: r, base: ctx})
}

// endWith lets end be called when the run is closed.
func (r *Run) endWith(end context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, end)
}

// heed lets it be recorded when the last context that carries the run ends.
func (r *Run) heed(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.carriers++
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		r.mu.Lock()
		r.carriers--
		last := r.carriers == 0
		r.mu.Unlock()
		if last {
			r.askedToStop(r.store.ended(ctx))
		}
	})
	r.heeding = append(r.heeding, func() {
		if !stop() {
			<-over
		}
	})
}

// unheed ends that, before the run's own end is recorded.
func (r *Run) unheed() {
	r.mu.Lock()
	stops := r.heeding
	r.heeding = nil
	r.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// endContexts ends all contexts that carry the run.
func (r *Run) endContexts(cause error) {
	r.mu.Lock()
	ends := r.ends
	r.mu.Unlock()
	for _, end := range ends {
		end(cause)
	}
}

// askedToStop records, while steps are under way, that the run's context has ended: if the
// process is ended before they are, by somebody whose patience is over, that is no crash.
func (r *Run) askedToStop(cause error) {
	r.mu.Lock()
	idle := r.active == 0 || r.ended != nil
	r.mu.Unlock()
	if idle {
		return
	}
	body := line.NewBody(journal.KindInterrupted, "", r.store.now()).Str("error", r.errorText(cause)).Bytes()
	none := func() error { return nil }
	if err := r.record(body, false, none, func(*journal.Fold, journal.Span) {}); err != nil {
		r.store.log.Warn("an interruption was not recorded", "run", r.id, "err", err)
	}
}
