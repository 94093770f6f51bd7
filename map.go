package pawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Map does the work of fn for every item, each as a step of its own with the key
// "key/<keyOf(item)>", several at once (see [Parallel]), and returns the results in
// the order of items. On a later start only items without a result run, found by
// their key: items may be added, removed and reordered in between.
//
// Each item's fingerprint is recorded, of the item as [Redact] leaves it. An item whose
// content changed since its result was recorded is [ErrInputChanged] before any item runs,
// or runs anew with [RerunOnChange]; one that failed too, if a result, a state or a note is
// recorded in it (see [WithInput]). Items are therefore best small: a path and a digest
// rather than a document. Two items with one key are [ErrDuplicateKey].
//
// When an item fails, no further item is started, those under way finish, and their
// results are kept (an item that waits, see [ErrWaiting], has not failed); what Map returns
// beside an error is nil. The error joins the failures in the order of items. The next
// start begins with the items that have not failed yet, so that a bad one does not
// hold up the rest. Items that are in doubt (see [AtMostOnce]), or have such a step inside,
// come last, and that they are [ErrInDoubt] stops no other. A panic of fn is recorded, the
// others finish, and Map panics in the caller with an error that has the panic's value and stack in its text and unwraps to
// the value if that is an error. After a runtime.Goexit in an item the others finish too, and
// the caller's goroutine ends as that one did. Otherwise everything is as for [Step].
func Map[In, Out any](ctx context.Context, key string, items []In, keyOf func(In) string, fn func(ctx context.Context, item In) (Out, error), opts ...MapOption) ([]Out, error) {
	c := mapConfig{parallel: defaultParallel}
	for _, o := range opts {
		o.applyMap(&c)
	}
	s, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	full, err := s.join(key)
	if err != nil {
		return nil, err
	}
	var shared *value.Fingerprint
	if c.hasInput {
		if shared, err = s.run.store.inputOf(c.input, c.ignoreInput); err != nil {
			return nil, &RunError{Op: "start", RunID: s.run.id, Key: full, Err: fmt.Errorf("%w: input: %w", ErrInvalid, err), Hint: "no item was started"}
		}
	}
	outs := make([]Out, len(items))
	inside := *s
	inside.prefix = full
	m := &mapping{run: s.run, scope: &inside, outer: s, key: full, c: c}
	for i, item := range items {
		k, err := m.scope.join(keyOf(item))
		if err != nil {
			return nil, fmt.Errorf("item %d of %d: %w", i+1, len(items), err)
		}
		it := mapItem{key: k, work: work{
			mapKey: full,
			typ:    reflect.TypeFor[Out](),
			call: func(ctx context.Context) (any, error) {
				return fn(ctx, item)
			},
			decode: func(text []byte) error { return value.Decode(text, &outs[i], s.run.lenient) },
		}}
		if it.work.input = shared; !c.hasInput {
			f, err := s.run.store.inputOf(item, c.ignoreInput)
			if err != nil {
				return nil, &RunError{Op: "start", RunID: s.run.id, Key: k, Err: fmt.Errorf("%w: item: %w", ErrInvalid, err), Hint: "no item was started; WithInput replaces the fingerprint of items, IgnoreInput does without"}
			}
			if f != nil {
				f.Text, f.Outline = nil, nil // an item may be large, and there are many
			}
			it.work.input = f
		}
		m.items = append(m.items, it)
	}
	if err := m.do(ctx); err != nil {
		return nil, err
	}
	return outs, nil
}

// mapping is one call of Map.
type mapping struct {
	run   *Run
	scope *scope // of the items
	outer *scope
	key   string
	c     mapConfig
	items []mapItem

	mu       sync.Mutex
	progress runs.Progress
	errs     []error // by item
	crash    *mapCrash
	stop     bool
}

type mapItem struct {
	key  string
	work work
}

func (m *mapping) do(ctx context.Context) error {
	if err := m.run.claim(m.outer, m.key); err != nil {
		return err
	}
	ok := false
	defer func() {
		if ok {
			m.run.settle(m.key, stepDone)
		} else {
			m.run.settle(m.key, stepFailed)
		}
	}()
	if err := m.checkKeys(); err != nil {
		return err
	}
	if m.c.alias != "" {
		if err := m.run.adopt(m.outer, m.key, m.c.alias); err != nil {
			return err
		}
		m.c.alias = "" // the items moved with it
	}
	if err := m.checkInputs(); err != nil {
		return err
	}
	done, todo := m.plan()
	body := line.NewBody(journal.KindMap, m.key, m.run.store.now()).Int("total", int64(len(m.items))).Int("done", int64(len(done))).Bytes()
	err := m.run.record(body, false, m.outer.alive, func(f *journal.Fold, span journal.Span) {
		f.BeginMap(m.key, int64(len(m.items)), int64(len(done)), span.Seq)
	})
	if err != nil {
		return m.run.writeError("start", m.key, err)
	}
	m.errs = make([]error, len(m.items))
	m.progress = runs.Progress{RunID: m.run.id, Key: m.key, Total: len(m.items)}
	if err := m.replay(ctx, done); err != nil {
		return err
	}
	m.report(func(*runs.Progress) {})
	m.work(ctx, todo)
	if m.crash != nil {
		m.crash.raise()
	}
	if err := m.failure(); err != nil {
		return err
	}
	ok = true
	return nil
}

// failure joins the errors of the items, in their order. Of a run that is to stop,
// one error says so, not one for each item under way.
func (m *mapping) failure() error {
	var errs []error
	stopped := -1 // the index of that
	for _, err := range m.errs {
		if err == nil {
			continue
		}
		if _, failed := err.(*StepError); !failed && m.scope.interrupted(err) {
			if stopped >= 0 {
				// Of several waits the first that is over counts.
				if a, b := wakeAt(errs[stopped]), wakeAt(err); waits(errs[stopped]) && waits(err) && !b.IsZero() && (a.IsZero() || b.Before(a)) {
					errs[stopped] = err
				}
				continue
			}
			stopped = len(errs)
		}
		errs = append(errs, err)
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

func (m *mapping) checkKeys() error {
	seen := make(map[string]bool, len(m.items))
	for _, it := range m.items {
		if seen[it.key] {
			return &RunError{Op: "start", RunID: m.run.id, Key: it.key, Err: fmt.Errorf("%w: two items have it", ErrDuplicateKey), Hint: "no item was started; let keyOf tell them apart"}
		}
		seen[it.key] = true
	}
	return nil
}

// checkInputs finds changed items before anything runs, and all of them at once.
func (m *mapping) checkInputs() error {
	var first error
	changed, ignored := 0, 0
	for _, it := range m.items {
		differs, open, doubtful := m.run.differsFrom(it.key, it.work.input)
		if differs && m.c.ignoreInput {
			ignored++
			continue
		}
		if !differs || !open || doubtful || m.c.rerun {
			continue // nearly all: for that, their records need not be read
		}
		st, rec, err := m.run.recorded(it.key, it.work.input)
		if err != nil {
			return m.run.readError(it.key, err)
		}
		if st == nil {
			continue
		}
		if changed++; first == nil {
			first = fmt.Errorf("item %q: %w", it.key, inputChanged(rec.Member("input"), rec.Member("outline"), *it.work.input))
		}
	}
	if ignored > 0 {
		m.run.letPass(m.key, "", ignored, m.outer.alive)
	}
	if changed == 0 {
		return nil
	}
	return &RunError{
		Op: "start", RunID: m.run.id, Key: m.key,
		Err:  fmt.Errorf("%d of %d items changed, first %w", changed, len(m.items), first),
		Hint: "no item was started and the run stays resumable; with RerunOnChange they run anew",
	}
}

// differsFrom reports whether a step was recorded with another input than this one, whether
// something there must not get out of sight by that, and whether something is in doubt there.
func (r *Run) differsFrom(key string, input *value.Fingerprint) (different, open, doubtful bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.fold.Steps[key]
	if st == nil || !differs(st, input) {
		return false, false, false
	}
	return true, r.openAt(key), inDoubtAt(r.fold, key) != ""
}

// plan tells the items that have a result from the others: those never tried or cut
// short come first, those that failed before behind them, and last those that nobody can
// go on with before a step in doubt is resolved.
func (m *mapping) plan() (done, todo []int) {
	var failed, doubtful []int
	m.run.mu.Lock()
	defer m.run.mu.Unlock()
	for i, it := range m.items {
		switch rec := m.run.fold.Steps[it.key]; {
		case rec != nil && rec.Status == journal.StepDone && !differs(rec, m.c.compared(it.work.input)):
			done = append(done, i)
		case rec != nil && rec.Status == journal.StepRunning && m.c.once, inDoubtAt(m.run.fold, it.key) != "":
			doubtful = append(doubtful, i)
		case rec != nil && rec.Status == journal.StepFailed:
			failed = append(failed, i)
		case rec != nil && m.run.willBePoison(it.key, m.c.maxCrashes):
			failed = append(failed, i)
		default:
			todo = append(todo, i)
		}
	}
	return done, slices.Concat(todo, failed, doubtful)
}

// replay answers the items that have a result.
func (m *mapping) replay(ctx context.Context, done []int) error {
	for _, i := range done {
		if err := m.run.step(ctx, m.scope, m.items[i].key, m.c.stepConfig, m.items[i].work); err != nil {
			return err
		}
		m.progress.Done++
		m.progress.Skipped++
	}
	return nil
}

// work does the items of todo, a bounded number at once, and returns when all of
// them have ended.
func (m *mapping) work(ctx context.Context, todo []int) {
	slots := make(chan struct{}, m.c.parallel)
	var wg sync.WaitGroup
	for _, i := range todo {
		slots <- struct{}{}
		if m.stopped() {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			m.one(ctx, i)
		})
	}
	wg.Wait()
}

func (m *mapping) stopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop
}

// one does an item in a goroutine of its own. A panic must reach the caller of
// Map instead of ending the process from here.
func (m *mapping) one(ctx context.Context, i int) {
	returned := false
	defer func() {
		if returned {
			return
		}
		p := recover() // nil after a Goexit
		m.mu.Lock()
		defer m.mu.Unlock()
		m.stop = true
		if m.crash == nil {
			m.crash = m.run.mapCrash(m.items[i].key, p, debug.Stack())
		}
	}()
	err := m.run.step(ctx, m.scope, m.items[i].key, m.c.stepConfig, m.items[i].work)
	m.settle(i, err) // calls the progress callback, which may panic too
	returned = true
}

func (m *mapping) settle(i int, err error) {
	m.mu.Lock()
	m.errs[i] = err
	// One that waits does not keep the others from what they can do, nor does one that
	// waits for somebody to resolve a step in doubt.
	m.stop = m.stop || err != nil && !waits(err) && !m.run.onlyInDoubt(err)
	m.mu.Unlock()
	m.report(func(p *runs.Progress) {
		switch {
		case err == nil:
			p.Done++
		case !waits(err):
			p.Failed++
		}
	})
}

// report changes the progress and hands it to the callback, one call at a time.
func (m *mapping) report(change func(*runs.Progress)) {
	m.run.progMu.Lock()
	defer m.run.progMu.Unlock()
	change(&m.progress)
	if m.run.progress != nil {
		m.run.progress(m.progress)
	}
}

// wakeAt returns until when an item waits, zero if that is not known.
func wakeAt(err error) time.Time {
	if w, ok := errors.AsType[*waitError](err); ok {
		return w.at
	}
	return time.Time{}
}
