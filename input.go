package pawl

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// InputChangedError says how an input differs from the recorded one. It matches
// [ErrInputChanged]. Its message names places, never values; they are in Diff.
type InputChangedError struct {
	// Paths are the JSON paths that differ, nil if only digests were kept.
	Paths []string
	// Recorded and Given are the canonical JSON of both inputs, nil if larger than
	// 4 KiB.
	Recorded, Given []byte
}

// Error lists the paths.
func (e *InputChangedError) Error() string {
	if len(e.Paths) == 0 {
		return ErrInputChanged.Error()
	}
	shown := e.Paths
	more := ""
	if len(shown) > 8 {
		shown, more = shown[:8], fmt.Sprintf(" and %d more", len(e.Paths)-8)
	}
	return ErrInputChanged.Error() + ": " + strings.Join(shown, ", ") + more
}

// Unwrap returns [ErrInputChanged].
func (e *InputChangedError) Unwrap() error { return ErrInputChanged }

// inputChanged compares what was recorded of an input with the present one.
func inputChanged(text, outline []byte, given value.Fingerprint) error {
	e := &InputChangedError{Recorded: text, Given: given.Text}
	switch {
	case text != nil && given.Text != nil:
		e.Paths = differingPaths("$", text, given.Text, nil)
	case outline != nil && given.Outline != nil:
		if jsontext.Value(outline).Kind() == '{' {
			e.Paths = differingPaths("$", outline, given.Outline, nil)
		} else if string(outline) != string(given.Outline) {
			e.Paths = []string{fmt.Sprintf("$ (an array of %s, recorded with %s)", given.Outline, outline)}
		}
	}
	return e
}

// withInput records an input: its digest, and its text or its outline.
func withInput(b *line.Body, in *value.Fingerprint) {
	b.Str("in", in.Digest)
	switch {
	case in.Text != nil:
		b.Raw("input", in.Text)
	case in.Outline != nil:
		b.Raw("outline", in.Outline)
	}
}

// inputDiffers decides what a changed input means for a step: an error where a recorded
// result, state or note would be lost from sight, or a step that was under way at a death, whose
// idempotency key must stay; a new epoch where that was asked for or where all that is
// recorded is failures. Not even then a step that must not happen twice and is in doubt.
func (r *Run) inputDiffers(s *scope, key string, st journal.Step, start *journal.Record, c stepConfig, input *value.Fingerprint) error {
	r.mu.Lock()
	doubtful, open := inDoubtAt(r.fold, key), r.openAt(key)
	r.mu.Unlock()
	if doubtful != "" {
		return r.doubt(doubtful) // an epoch would put the trace of it out of sight
	}
	if open && !c.rerun {
		return &RunError{
			Op: "start", RunID: r.id, Key: key, Err: inputChanged(start.Member("input"), start.Member("outline"), *input),
			Hint: "fn was not called and the run stays resumable; with RerunOnChange the step runs anew, without what is recorded at it and inside it; IgnoreInput goes on with that",
		}
	}
	if s.base.Err() != nil {
		return r.stopped(s, key) // before the old result is out of sight
	}
	r.mu.Lock()
	n := r.fold.NextEpoch(key)
	r.mu.Unlock()
	b := line.NewBody(journal.KindEpoch, key, r.store.now()).Int("n", n).Str("reason", "input changed")
	err := r.record(b.Bytes(), false, s.alive, func(f *journal.Fold, span journal.Span) {
		f.BeginEpoch(key, n, span.Seq)
		r.outOfSight(key)
	})
	if err != nil {
		return r.writeError("start", key, err)
	}
	return nil
}

// stopped is the error of a step that was not started since the run is to stop.
func (r *Run) stopped(s *scope, key string) error {
	return &RunError{Op: "start", RunID: r.id, Key: key, Err: r.store.ended(s.base), Hint: "fn was not called"}
}

// openAt reports whether something is recorded at key or inside it that another input must not
// put out of sight unasked: a result, a state, a note, or something that began and has no end. The
// caller holds mu.
func (r *Run) openAt(key string) bool {
	open := func(k string) bool {
		if s := r.fold.Steps[k]; s != nil && s.Status != journal.StepFailed || r.fold.Saved[k] != nil {
			return true
		}
		_, noted := r.fold.Notes[k]
		return noted
	}
	if open(key) {
		return true
	}
	for k := range r.fold.Inside(key) {
		if open(k) {
			return true
		}
	}
	return false
}

// differingPaths appends the paths at which two canonical JSON texts differ, going
// into objects, and into arrays of equal length.
func differingPaths(at string, a, b []byte, paths []string) []string {
	if bytes.Equal(a, b) {
		return paths
	}
	ka, kb := jsontext.Value(a).Kind(), jsontext.Value(b).Kind()
	if ka != kb || ka != '{' && ka != '[' {
		return append(paths, at)
	}
	ma, mb := children(a), children(b)
	if ka == '[' && len(ma) != len(mb) {
		return append(paths, at)
	}
	names := make([]string, 0, len(ma)+len(mb))
	for name := range ma {
		names = append(names, name)
	}
	for name := range mb {
		if _, both := ma[name]; !both {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		place := at + name
		va, inA := ma[name]
		vb, inB := mb[name]
		if !inA || !inB {
			paths = append(paths, place)
			continue
		}
		paths = differingPaths(place, va, vb, paths)
	}
	return paths
}

// children returns the members of an object or elements of an array by their step
// in a path.
func children(text []byte) map[string][]byte {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	open, err := dec.ReadToken()
	if err != nil {
		return nil
	}
	object := open.Kind() == '{'
	m := map[string][]byte{}
	for i := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; i++ {
		name := fmt.Sprintf("[%d]", i)
		if object {
			tok, err := dec.ReadToken()
			if err != nil {
				return m
			}
			name = "." + tok.String()
		}
		v, err := dec.ReadValue()
		if err != nil {
			return m
		}
		m[name] = bytes.Clone(v)
	}
	return m
}
