package pawl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"sync"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Progress says how far a [Map] is.
type Progress struct {
	RunID   string
	Key     string // full key of the Map
	Done    int    // items with a result, recorded ones included
	Skipped int    // of these, items that were recorded before this start
	Failed  int    // items that failed in this attempt
	Total   int
}

// Map does the work of fn for every item, each as a step of its own with the key
// "key/<keyOf(item)>", several at once (see [Parallel]), and returns the results in
// the order of items. On a later start only items without a result run, found by
// their key: items may be added, removed and reordered in between.
//
// Each item's fingerprint is recorded. An item whose content changed since its
// result was recorded is [ErrInputChanged] before any item runs, or runs anew with
// [RerunOnChange]. Items are therefore best small: a path and a digest rather than a
// document. Two items with one key are [ErrDuplicateKey].
//
// When an item fails, no further item is started, those under way finish, and their
// results are kept. The error joins the failures in the order of items. The next
// start begins with the items that have not failed yet, so that a bad one does not
// hold up the rest. A panic of fn is recorded, the others finish, and the panic
// goes on in the caller. Otherwise everything is as for [Step].
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
	outs := make([]Out, len(items))
	m := &mapping{run: s.run, scope: &scope{run: s.run, prefix: full, base: s.base}, key: full, c: c}
	for i, item := range items {
		k, err := m.scope.join(keyOf(item))
		if err != nil {
			return nil, err
		}
		it := mapItem{key: k, work: work{
			mapKey: full,
			typ:    reflect.TypeFor[Out](),
			call: func(ctx context.Context) (any, error) {
				return fn(ctx, item)
			},
			decode: func(text []byte) error { return value.Decode(text, &outs[i], s.run.lenient) },
		}}
		if !c.hasInput {
			f, err := value.FingerprintOf(item)
			if err != nil {
				return nil, &RunError{Op: "start", RunID: s.run.id, Key: k, Err: fmt.Errorf("%w: item: %w", ErrInvalid, err), Hint: "no item was started; WithInput replaces the fingerprint of items"}
			}
			f.Text = nil
			it.work.digest = &f
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
	scope *scope
	key   string
	c     mapConfig
	items []mapItem

	mu       sync.Mutex
	progress Progress
	errs     []error // by item
	crash    *mapCrash
	stop     bool
}

type mapItem struct {
	key  string
	work work
}

func (m *mapping) do(ctx context.Context) error {
	if err := m.run.claim(m.key); err != nil {
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
	if err := m.checkInputs(); err != nil {
		return err
	}
	body := line.NewBody(journal.KindMap, m.key, vfs.Now()).Int("total", int64(len(m.items))).Bytes()
	if _, err := m.run.append(body, false); err != nil {
		return m.run.writeError("start", m.key, err)
	}
	m.errs = make([]error, len(m.items))
	m.progress = Progress{RunID: m.run.id, Key: m.key, Total: len(m.items)}
	todo, err := m.replay(ctx)
	if err != nil {
		return err
	}
	m.report(func(*Progress) {})
	m.work(ctx, todo)
	if m.crash != nil {
		m.crash.raise()
	}
	if err := errors.Join(m.errs...); err != nil {
		return err
	}
	ok = true
	return nil
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
	if m.c.rerun || m.c.hasInput {
		return nil // decided item by item
	}
	var changed []error
	for _, it := range m.items {
		m.run.mu.Lock()
		st, has := journal.Step{}, false
		if rec := m.run.fold.Steps[it.key]; rec != nil {
			st, has = *rec, true
		}
		m.run.mu.Unlock()
		if has && st.Status == journal.StepDone && st.InputDiffers(it.work.digest.Digest) {
			changed = append(changed, fmt.Errorf("item %q", it.key))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return &RunError{
		Op: "start", RunID: m.run.id, Key: m.key,
		Err:  fmt.Errorf("%w: %d of %d items, first %w", ErrInputChanged, len(changed), len(m.items), changed[0]),
		Hint: "no item was started and the run stays resumable; with RerunOnChange they run anew",
	}
}

// replay answers the items that have a result and returns the indexes of the
// others: those never tried or cut short first, those that failed before last.
func (m *mapping) replay(ctx context.Context) ([]int, error) {
	var todo []int
	failed := map[int]bool{}
	for i, it := range m.items {
		m.run.mu.Lock()
		rec := m.run.fold.Steps[it.key]
		isDone := rec != nil && rec.Status == journal.StepDone
		changed := isDone && it.work.digest != nil && rec.InputDiffers(it.work.digest.Digest)
		failed[i] = rec != nil && rec.Status == journal.StepFailed
		m.run.mu.Unlock()
		if !isDone || changed || m.c.hasInput {
			todo = append(todo, i)
			continue
		}
		if err := m.run.step(ctx, m.scope, it.key, m.c.stepConfig, it.work); err != nil {
			return nil, err
		}
		m.progress.Done++
		m.progress.Skipped++
	}
	sort.SliceStable(todo, func(a, b int) bool { return !failed[todo[a]] && failed[todo[b]] })
	return todo, nil
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
			m.crash = &mapCrash{key: m.items[i].key, value: p, stack: debug.Stack()}
		}
	}()
	err := m.run.step(ctx, m.scope, m.items[i].key, m.c.stepConfig, m.items[i].work)
	returned = true
	m.settle(i, err)
}

func (m *mapping) settle(i int, err error) {
	m.mu.Lock()
	m.errs[i] = err
	m.stop = m.stop || err != nil
	m.mu.Unlock()
	m.report(func(p *Progress) {
		if err != nil {
			p.Failed++
		} else {
			p.Done++
		}
	})
}

// report changes the progress and hands it to the callback, one call at a time.
func (m *mapping) report(change func(*Progress)) {
	m.run.progMu.Lock()
	defer m.run.progMu.Unlock()
	change(&m.progress)
	if m.run.progress != nil {
		m.run.progress(m.progress)
	}
}

// mapCrash is the panic or Goexit of an item. It is what Map panics with, so that
// the stack of the goroutine that is gone is printed with it.
type mapCrash struct {
	key   string
	value any // nil for Goexit
	stack []byte
}

func (c *mapCrash) raise() {
	if c.value == nil {
		runtime.Goexit()
	}
	panic(c)
}

func (c *mapCrash) Error() string {
	return fmt.Sprintf("panic in pawl.Map item %q: %v\n\n%s", c.key, c.value, c.stack)
}

// Unwrap returns the panic's value if that is an error.
func (c *mapCrash) Unwrap() error {
	err, _ := c.value.(error)
	return err
}
