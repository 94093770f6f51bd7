package pawl

import (
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// fingerprint takes the fingerprint of an input.
func (s *Store) fingerprint(v any) (value.Fingerprint, error) {
	f, err := value.FingerprintOf(v, s.redact)
	if err != nil {
		return f, tell(s.redact, err)
	}
	return f, nil
}

// inputOf returns the fingerprint of an input. With ignore it is recorded and not
// compared, so that one which cannot be taken is none.
func (s *Store) inputOf(v any, ignore bool) (*value.Fingerprint, error) {
	if ignore {
		return s.inputIfAny(v), nil
	}
	f, err := s.fingerprint(v)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

func (s *Store) inputIfAny(v any) (input *value.Fingerprint) {
	defer func() { recover() }() //nolint:errcheck // a method of the value panicked: so it has none
	if f, err := s.fingerprint(v); err == nil {
		input = &f
	}
	return input
}

// compared is the input that the recorded one is compared with.
func (c stepConfig) compared(input *value.Fingerprint) *value.Fingerprint {
	if c.ignoreInput {
		return nil
	}
	return input
}

// letRunInputPass does for the input of the run what letPass says. A complete run is not written to.
func (r *Run) letRunInputPass(input value.Fingerprint) {
	h := r.fold.Header
	if !r.anyInput || input.Digest == "" || h.InputDigest == "" || input.Digest == h.InputDigest {
		return
	}
	if r.log == nil {
		r.store.log.Info(inputIgnored, "run", r.id)
		return
	}
	r.letPass("", input.Digest, 0, func() error { return nil })
}

const inputIgnored = "an input that changed was ignored"

// letPass says in the log and in the history that [IgnoreInput] let an input pass which is not
// the recorded one: of a step; of so many items of a Map, whose digests say nothing then; or with
// key "" of the run.
func (r *Run) letPass(key, digest string, items int, guard func() error) {
	args := []any{"run", r.id}
	b := line.NewBody(journal.KindIgnored, key, r.store.now())
	if key != "" {
		args = append(args, "step", key)
	}
	if items > 0 {
		args = append(args, "items", items)
		b.Int("items", int64(items))
	}
	r.store.log.Info(inputIgnored, args...)
	if digest != "" {
		b.Str("in", digest)
		r.mu.Lock()
		said := r.fold.Ignored(key) == digest
		r.mu.Unlock()
		if said {
			return // once, however many starts let it pass
		}
	}
	// A trace is not worth failing for.
	err := r.record(b.Bytes(), false, guard, func(f *journal.Fold, _ journal.Span) { f.Ignore(key, digest) })
	if err != nil {
		r.store.log.Warn("that an input was ignored could not be recorded", "run", r.id, "step", key, "err", err)
	}
}
