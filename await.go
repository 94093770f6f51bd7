package pawl

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/series"
	"github.com/pawlgo/pawl/internal/shape"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// AwaitOption configures [Await]. Package wait has them.
type AwaitOption interface{ applyAwait(*awaitConfig) }

type awaitConfig struct {
	within   time.Duration // 0 is for ever
	fallback any           // the answer then, if hasDefault
	hasElse  bool
	block    time.Duration // how long to wait here
	stepConfig
}

type awaitOption func(*awaitConfig)

func (o awaitOption) applyAwait(c *awaitConfig) { o(c) }

// Await asks somebody something, and returns the answer. Question, any value, is shown to people
// by pawl waiting and pawl show; they, or a program, answer with pawl answer, pawl approve or
// [Store.Answer], in another process and at any time, also before Await is called. Key is unique
// within its scope, as that of a [Step].
//
// The question is recorded, durable, and so is the answer, with who gave it, when and why;
// from then on Await returns it on every start. Until then Await returns an error that matches
// [ErrWaiting]: a function that returns it makes [Do] return it too, and the run is waiting. That
// is neither a failure nor tried again; other steps, and other questions, may go on meanwhile.
// An option of package wait makes Await wait for the answer here, others bound the time in
// which it may come.
//
// An answer is for the question that it was given to: a later start that asks something else
// under the key asks anew as long as there is no answer, and gets [ErrInputChanged] when there is
// one. What does not fit T is refused when it is given. A run cannot be completed while a
// question that it has asked waits ([ErrInvalid]).
//
// Errors: those of a [Step]; [ErrWaiting]; a final [*StepError] if the time is over. It is safe for concurrent use
// with different keys.
func Await[T any](ctx context.Context, key string, question any, opts ...AwaitOption) (T, error) {
	var out, zero T
	var c awaitConfig
	for _, o := range opts {
		o.applyAwait(&c)
	}
	s, err := scopeOf(ctx)
	if err != nil {
		return zero, err
	}
	full, err := s.join(key)
	if err != nil {
		return zero, err
	}
	w := work{typ: reflect.TypeFor[T](), decode: func(text []byte) error { return value.Decode(text, &out, s.run.lenient) }}
	if err := s.run.await(ctx, s, full, question, c, w); err != nil {
		return zero, err
	}
	return out, nil
}

// question is what is asked.
type question struct {
	text  []byte
	typ   reflect.Type
	print value.Fingerprint
	shape []byte // of the answer
}

func (r *Run) await(ctx context.Context, s *scope, key string, asked any, c awaitConfig, w work) error {
	refuse := func(what string, err error) error {
		return &RunError{Op: "ask", RunID: r.id, Key: key, Err: fmt.Errorf("%w: %s: %w", ErrInvalid, what, err), Hint: "nothing was asked"}
	}
	if err := value.Check(w.typ); err != nil {
		return refuse("answer type", err)
	}
	text, err := r.encode(asked)
	if err != nil {
		return refuse("question", err)
	}
	q := question{text: text, typ: reflect.TypeOf(asked), shape: shape.Of(w.typ)}
	if q.print, err = value.FingerprintOf(asked, r.store.redact); err != nil {
		return refuse("question", err)
	}
	if c.hasElse {
		fallback, err := r.encode(c.fallback)
		if err == nil {
			err = w.decode(fallback)
		}
		if err != nil {
			return refuse("default answer", err)
		}
	}
	if err := r.claim(s, key); err != nil {
		return err
	}
	end := stepFailed
	defer func() { r.settle(key, end) }()
	for {
		answered, err := r.answerTo(s, key, q, c, w)
		if err != nil {
			return err
		}
		if answered {
			end = stepAnswered
			return nil
		}
		if err := r.awaitAnswer(ctx, s, key, q, c); err != nil {
			return err
		}
	}
}

// answerTo decodes the recorded answer, if there is one.
func (r *Run) answerTo(s *scope, key string, q question, c awaitConfig, w work) (bool, error) {
	if r.waiting(key) {
		return false, nil
	}
	return r.answer(s, key, c.stepConfig, &q.print, w)
}

// waiting reports whether a question has been asked and has no answer.
func (r *Run) waiting(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.fold.Steps[key]
	return st != nil && st.Status == journal.StepWaiting
}

// awaitAnswer asks, and returns nil when there may be an answer.
func (r *Run) awaitAnswer(ctx context.Context, s *scope, key string, q question, c awaitConfig) error {
	if s.base.Err() != nil {
		return r.stopped(s, key)
	}
	if ctx.Err() != nil {
		return &RunError{Op: "ask", RunID: r.id, Key: key, Err: r.store.ended(ctx), Hint: "nothing was asked"}
	}
	until, err := r.ask(s, key, q, c)
	if err != nil {
		return err
	}
	news := r.answers.listen()
	if err := r.takeMail(); err != nil { // it may have been answered before it was asked
		return err
	}
	if !r.waiting(key) {
		return nil
	}
	var expire <-chan time.Time
	if !until.IsZero() {
		rest := until.Sub(r.store.now()) // what was recorded holds, also for a start that sets no time
		if c.within > 0 {
			rest = series.Rest(r.store.now(), until, c.within)
		}
		if rest <= 0 {
			return r.expire(s, key, c)
		}
		t := time.NewTimer(rest)
		defer t.Stop()
		expire = t.C
	}
	if c.block <= 0 {
		return r.waits(key, until)
	}
	patience := time.NewTimer(c.block)
	defer patience.Stop()
	for r.waiting(key) {
		select {
		case <-news:
			news = r.answers.listen()
		case <-expire:
			return r.expire(s, key, c)
		case <-patience.C:
			return r.waits(key, until)
		case <-s.base.Done():
			return r.stopped(s, key)
		case <-ctx.Done():
			if s.base.Err() != nil {
				return r.stopped(s, key)
			}
			return &RunError{Op: "wait", RunID: r.id, Key: key, Err: r.store.ended(ctx), Hint: "the question stays open"}
		}
	}
	return nil
}

// ask records the question, unless it is, and returns until when it may be answered.
func (r *Run) ask(s *scope, key string, q question, c awaitConfig) (until time.Time, err error) {
	now := r.store.now()
	r.mu.Lock()
	if st := r.fold.Steps[key]; st != nil && st.Status == journal.StepWaiting && !differs(st, &q.print) {
		if t := r.fold.Trouble[key]; t != nil {
			until = t.Until
		}
		r.mu.Unlock()
		return until, nil
	}
	r.mu.Unlock()
	b := line.NewBody(journal.KindAwait, key, now)
	withInput(b, &value.Fingerprint{Digest: q.print.Digest})
	b.Raw("shape", q.shape)
	if c.within > 0 {
		until = now.Add(min(c.within, series.MaxWait))
		b.Str("until", clockText(until))
	}
	err = r.record(withValue(b, q.text, q.typ), true, s.alive, func(f *journal.Fold, span journal.Span) {
		f.Ask(key, span, q.print.Digest, journal.Trouble{Until: until})
	})
	if err != nil {
		return until, r.writeError("ask", key, err)
	}
	return until, nil
}

// expire ends a question that nobody has answered in time.
func (r *Run) expire(s *scope, key string, c awaitConfig) error {
	if !c.hasElse {
		why := fmt.Errorf("nobody answered in time: %w", context.DeadlineExceeded)
		if err := r.recordFailure(key, tried{}, c.within, why, ending{final: true}); err != nil {
			return r.writeError("record", key, err)
		}
		return nil // answerTo finds it
	}
	text, err := r.encode(c.fallback)
	if err != nil {
		return &RunError{Op: "answer", RunID: r.id, Key: key, Err: fmt.Errorf("%w: default answer: %w", ErrInvalid, err), Hint: "the question stays open"}
	}
	now := r.store.now()
	b := line.NewBody(journal.KindAnswer, key, now).Str("by", "").Str("reason", "nobody answered in time")
	err = r.record(withValue(b, text, reflect.TypeOf(c.fallback)), true, s.alive, func(f *journal.Fold, span journal.Span) {
		f.Answer(key, span, now.UnixMicro())
	})
	if err != nil {
		return r.writeError("answer", key, err)
	}
	return nil
}

func init() {
	hook.Within = func(d time.Duration) any { return awaitOption(func(c *awaitConfig) { c.within = d }) }
	hook.Default = func(v any) any {
		return awaitOption(func(c *awaitConfig) { c.fallback, c.hasElse = v, true })
	}
	hook.Block = func(d time.Duration) any { return awaitOption(func(c *awaitConfig) { c.block = d }) }
}
