package pawl

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
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

func inputChanged(recorded, given []byte) error {
	e := &InputChangedError{Recorded: recorded, Given: given}
	if recorded != nil && given != nil {
		e.Paths = differingPaths("$", recorded, given, nil)
	}
	return e
}

// inputDiffers decides what a changed input means for a step: an error where a
// recorded result would be lost from sight, a new epoch where that was asked for
// or where nothing is recorded yet.
func (r *Run) inputDiffers(key string, st journal.Step, start *journal.Record, c stepConfig, input *value.Fingerprint) error {
	if !c.rerun && (st.Status == journal.StepDone || r.hasResultsInside(key)) {
		recorded := start.Member("input")
		var given []byte
		if c.hasInput {
			given = input.Text
		}
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: inputChanged(recorded, given), Hint: "fn was not called and the run stays resumable; with RerunOnChange the step runs anew"}
	}
	b := line.NewBody(journal.KindEpoch, key, vfs.Now()).Str("reason", "input changed")
	if _, err := r.append(b.Bytes(), false); err != nil {
		return r.writeError("start", key, err)
	}
	r.mu.Lock()
	r.fold.Forget(key)
	r.mu.Unlock()
	return nil
}

func (r *Run) hasResultsInside(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, s := range r.fold.Steps {
		if s.Status == journal.StepDone && strings.HasPrefix(k, key+"/") {
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
