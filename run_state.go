package pawl

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// runState is the state of a scope as this attempt knows it. Its mutex is held while it
// is read and written, so that saves of one scope come one after the other.
type runState struct {
	mu     sync.Mutex
	last   stateText
	read   bool // last is what is recorded
	failed bool // the last save failed: it may be there all the same
	schema int  // as the last call with options said
	loaded bool // the program has seen it; the run's mu guards it
}

// LoadState returns the state that was saved last in the scope of ctx, and false if none
// was. A run has a state of its own, and so has every [Scope] and every step: a state that
// is saved in an item of a [Map] is that item's. States that [RerunOnChange] or a
// resolution put out of sight are not returned.
//
// [Migrate] and [UnversionedAs] turn an older state into one of type T; nothing is
// rewritten until the next [SaveState], and the older bytes stay in the history.
//
// Errors: [ErrNoRun], [ErrInvalid] (T can never be stored, or contradictory options),
// [ErrMismatch] with the JSON path (the state does not fit T), [ErrNewerFormat] (a newer
// schema), [ErrComplete], [ErrClosed], and those of reading. It is safe for concurrent
// use.
func LoadState[T any](ctx context.Context, opts ...StateOption) (T, bool, error) {
	var v T
	s, cfg, err := stateScope(ctx, "load the state of", reflect.TypeFor[T](), opts)
	if err != nil {
		return v, false, err
	}
	found, err := s.run.loadState(s, cfg, func(text []byte) error {
		if err := value.Decode(text, &v, s.run.lenient); err != nil {
			return &RunError{
				Op: "load the state of", RunID: s.run.id, Key: s.prefix, Err: mismatch(err, value.Missing(text, reflect.TypeFor[T]())),
				Hint: "the recorded state is unchanged; pawl.Migrate turns an older state into a newer one",
			}
		}
		return nil
	})
	if err != nil {
		return *new(T), false, err
	}
	return v, found, nil
}

// SaveState replaces the state in the scope of ctx. When it returns nil the state is
// durable. What is written is what changed since the one before, so that a large
// state costs what its change costs; saving an equal state writes nothing.
//
// Saving before loading, in one attempt, would go back if there is a state already: that is
// [ErrStateNotLoaded]. Each try of a step, and each call of a Map, must load anew what is saved at its
// key or inside it: what the try before it loaded is no business of its. With [Migrate] given here or to [LoadState] the schema version is
// recorded.
//
// Errors: [ErrNoRun], [ErrInvalid] with the JSON path (the value cannot be stored),
// [ErrComplete], [ErrClosed], and those of writing. It is safe for concurrent use.
func SaveState[T any](ctx context.Context, state T, opts ...StateOption) error {
	s, cfg, err := stateScope(ctx, "save the state of", reflect.TypeFor[T](), opts)
	if err != nil {
		return err
	}
	r := s.run
	text, err := r.encode(state)
	if err != nil {
		return &RunError{Op: "save the state of", RunID: r.id, Key: s.prefix, Err: fmt.Errorf("%w: state: %w", ErrInvalid, err), Hint: "nothing was written and what was last saved is intact"}
	}
	return r.saveState(s, cfg, text, value.IsRaw(reflect.TypeOf(state)))
}

// stateScope checks everything that can be checked before the state is looked at. The
// configuration is nil if no options are given.
func stateScope(ctx context.Context, op string, t reflect.Type, opts []StateOption) (*scope, *fileConfig, error) {
	s, err := scopeOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	refuse := func(err error) (*scope, *fileConfig, error) {
		return nil, nil, &RunError{Op: op, RunID: s.run.id, Key: s.prefix, Err: err, Hint: "nothing was written"}
	}
	if s.wrong != "" {
		return refuse(fmt.Errorf("%w: %s", ErrInvalid, s.wrong))
	}
	if err := value.Check(t); err != nil {
		return refuse(fmt.Errorf("%w: state of type %v: %w", ErrInvalid, t, err))
	}
	if len(opts) == 0 {
		return s, nil, nil
	}
	cfg := newFileConfig(nil)
	cfg.redact = s.run.store.redact
	for _, o := range opts {
		o.applyState(cfg)
	}
	if err := cfg.check(); err != nil {
		return refuse(err)
	}
	return s, cfg, nil
}

// loadState gives decode the text of a scope's newest state, in the schema that cfg asks
// for. Only a state that the program could make sense of counts as loaded.
func (r *Run) loadState(s *scope, cfg *fileConfig, decode func(text []byte) error) (found bool, err error) {
	key := s.prefix
	st, err := r.lockState("load the state of", s, cfg)
	if err != nil {
		return false, err
	}
	defer st.mu.Unlock()
	if !st.read || st.failed {
		if err := r.readState(key, st); err != nil {
			return false, err
		}
	}
	text := st.last.text
	if text != nil && (cfg != nil || st.schema != st.last.schema) {
		if cfg == nil {
			cfg = newFileConfig(nil)
			cfg.redact = r.store.redact
		}
		text, err = cfg.upgrade(&RunError{Op: "load the state of", RunID: r.id, Key: key}, stored{found: true, text: text, schema: st.last.schema})
	}
	if text != nil && err == nil {
		err = decode(text)
	}
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.alive() == nil && r.states[key] == st { // what a try saw that has ended, the next one has not
		st.loaded = true
	}
	return text != nil, nil
}

// readState reads what is recorded. The caller holds st.mu.
func (r *Run) readState(key string, st *runState) error {
	// A compaction moves records: look up and read in one.
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	saved := r.fold.Saved[key]
	var copied journal.Saved
	if saved != nil {
		copied = *saved
		copied.Patches = slices.Clone(saved.Patches)
	}
	r.mu.Unlock()
	st.last = stateText{}
	if saved != nil {
		text, schema, err := copied.Read(r.log.Record)
		if err != nil {
			return r.readError(key, err)
		}
		st.last = stateText{text: text, clean: line.Clean(text), schema: schema, patched: int(copied.PatchBytes)}
	}
	st.read = true
	return nil
}

func (r *Run) saveState(s *scope, cfg *fileConfig, text []byte, exact bool) error {
	const op = "save the state of"
	key := s.prefix
	st, err := r.lockState(op, s, cfg)
	if err != nil {
		return err
	}
	defer st.mu.Unlock()
	r.mu.Lock()
	blind := r.fold.Saved[key] != nil && !st.loaded
	r.mu.Unlock()
	if blind {
		return &RunError{Op: op, RunID: r.id, Key: key, Err: ErrStateNotLoaded, Hint: "nothing was written; call LoadState first and go on from what it returns"}
	}
	if st.last.text != nil && !st.failed && st.last.schema == st.schema && string(st.last.text) == string(text) {
		if err := r.checkLog(); err != nil { // durable already, if it is still there
			return r.writeError(op, key, err)
		}
		return nil
	}
	if st.failed {
		st.last = stateText{} // a patch must not rest on what may not be there
	}
	clean := !exact || line.Clean(text) // what the encoder wrote is clean
	body, patch, next := st.last.record(r.store.now(), key, text, clean, st.schema)
	// What a patch rests on must still be there: an epoch drops states.
	guard := func() error {
		if err := s.alive(); err != nil {
			return err
		}
		if r.states[key] != st {
			return fmt.Errorf("%w: the step around was begun anew meanwhile", ErrInvalid)
		}
		return nil
	}
	err = r.record(body, true, guard, func(f *journal.Fold, span journal.Span) {
		f.Save(key, span, patch)
		st.loaded = guard() == nil
	})
	if err != nil {
		st.failed = true
		return r.writeError(op, key, err)
	}
	st.last, st.read, st.failed = next, true, false
	return nil
}

// lockState returns the state of a scope with its mutex held.
func (r *Run) lockState(op string, s *scope, cfg *fileConfig) (*runState, error) {
	key := s.prefix
	r.mu.Lock()
	err := r.ended
	if err == nil {
		err = s.alive()
	}
	if err != nil {
		r.mu.Unlock()
		return nil, &RunError{Op: op, RunID: r.id, Key: key, Err: err, Hint: "nothing was written"}
	}
	st := r.states[key]
	if st == nil {
		st = &runState{schema: noSchema}
		r.states[key] = st
	}
	r.mu.Unlock()
	st.mu.Lock()
	if cfg != nil {
		st.schema = cfg.schema()
	}
	return st, nil
}

// unload makes the states at key and inside it count as not loaded. The caller holds mu.
func (r *Run) unload(key string) {
	for k, st := range r.states {
		if k == key || strings.HasPrefix(k, key+"/") {
			st.loaded = false
		}
	}
}

// forgetStates forgets the states of key and of everything inside it, which have gone
// out of sight. The caller holds mu.
func (r *Run) forgetStates(key string) {
	for k := range r.states {
		if k == key || strings.HasPrefix(k, key+"/") {
			delete(r.states, k)
		}
	}
}
