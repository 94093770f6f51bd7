package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/spec"
)

// TestVectors reads every journal of spec/vectors and compares what is found with
// what the format's page demands.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range spec.Vectors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			found := readVector(v.Journal)
			wrong := found.compare(v)
			if v.Expect == spec.Torn || v.NoNewline {
				wrong = append(wrong, found.mended(v)...)
			}
			if len(wrong) > 0 {
				t.Errorf("%s\n%s (section %s)", strings.Join(wrong, "\n"), v.Comment, v.Section)
			}
		})
	}
}

// reading is everything that this package finds in a journal.
type reading struct {
	records int64
	err     error
	tail    journal.Tail
	fold    *journal.Fold

	result, state       []byte
	resultErr, stateErr error

	notes, states map[string]string // states of scopes only, or refused
}

const refused = "refused"

func readVector(file []byte) *reading {
	r := &reading{fold: journal.NewFold()}
	src := bytes.NewReader(file)
	sc := journal.NewScanner(src, int64(len(file)))
	for sc.Scan() {
		r.fold.Apply(sc.Record())
		r.records++
	}
	r.err, r.tail = sc.Err(), sc.Tail()
	if r.err != nil {
		return r
	}
	record := func(s journal.Span) (*journal.Record, error) { return journal.RecordAt(src, s) }
	r.state, _, r.stateErr = r.fold.State("", record)
	r.notes, r.states = map[string]string{}, map[string]string{}
	for key, span := range r.fold.Notes {
		if rec, err := record(span); err == nil {
			text, _ := rec.Value()
			r.notes[key] = string(text)
		}
	}
	for key := range r.fold.Saved {
		if key == "" {
			continue
		}
		text, _, err := r.fold.State(key, record)
		if r.states[key] = string(text); err != nil {
			r.states[key] = refused
		}
	}
	if r.fold.Result.Len > 0 {
		rec, err := record(r.fold.Result)
		if r.resultErr = err; err == nil {
			r.result, _ = rec.Value()
		}
	}
	return r
}

// verdict names the end of the scan as the vectors do.
func (r *reading) verdict() spec.Verdict {
	switch {
	case errors.Is(r.err, journal.ErrCorrupt):
		return spec.Damaged
	case errors.Is(r.err, journal.ErrNewerFormat):
		return spec.Newer
	case r.err != nil:
		return spec.Verdict(r.err.Error())
	case r.tail.Torn > 0:
		return spec.Torn
	}
	return spec.Clean
}

// compare returns what differs from the vector.
func (r *reading) compare(v spec.Vector) (wrong []string) {
	differ := func(what string, got, want any) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
	number := func(what string, got, want int64) {
		if want >= 0 && got != want {
			differ(what, got, want)
		}
	}
	if got := r.verdict(); got != v.Expect {
		differ("verdict", fmt.Sprintf("%s (%v%s)", got, r.err, r.tail.Reason), v.Expect)
		return wrong
	}
	number("records", r.records, v.Records)
	if c, ok := errors.AsType[*journal.CorruptError](r.err); ok {
		number("offset", c.Offset, v.Offset)
		number("seq", c.Seq, v.Seq)
	}
	if r.err != nil {
		return wrong
	}
	number("end", r.tail.End, v.End)
	number("torn", r.tail.Torn, v.Torn)
	number("attempts", r.fold.Attempts, v.Attempts)
	if r.tail.NoNewline != v.NoNewline {
		differ("no newline", r.tail.NoNewline, v.NoNewline)
	}
	if v.Status != "" && string(r.fold.Status) != v.Status {
		differ("status", r.fold.Status, v.Status)
	}
	steps := map[string]string{}
	for key, s := range r.fold.Steps {
		steps[key] = s.Status.String()
	}
	if v.Steps != nil && !maps.Equal(steps, v.Steps) {
		differ("steps", steps, v.Steps)
	}
	wrong = append(wrong, r.compareScopes(v)...)
	wrong = append(wrong, compareTroubles(r.fold, v)...)
	if err := v.Result.Check(r.result, r.resultErr != nil); err != nil {
		wrong = append(wrong, fmt.Sprintf("result: %v (%v)", err, r.resultErr))
	}
	if err := v.State.Check(r.state, r.stateErr != nil); err != nil {
		wrong = append(wrong, fmt.Sprintf("state: %v (%v)", err, r.stateErr))
	}
	return wrong
}

// compareScopes compares what is known of keys beside the steps' status.
func (r *reading) compareScopes(v spec.Vector) (wrong []string) {
	differ := func(what string, got, want any) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
	if v.Notes != nil && !maps.Equal(r.notes, v.Notes) {
		differ("notes", r.notes, v.Notes)
	}
	if v.Labels != nil && !maps.Equal(r.fold.Header.Labels, v.Labels) {
		differ("labels", r.fold.Header.Labels, v.Labels)
	}
	items, once := map[string][]string{}, []string{}
	for key := range r.fold.Maps {
		items[key] = []string{}
	}
	for _, key := range slices.Sorted(maps.Keys(r.fold.Steps)) {
		s := r.fold.Steps[key]
		if s.Once {
			once = append(once, key)
		}
		if s.Map != "" {
			items[s.Map] = append(items[s.Map], key)
		}
	}
	if v.Maps != nil && !maps.EqualFunc(items, v.Maps, slices.Equal) {
		differ("maps", items, v.Maps)
	}
	if v.Once != nil && !slices.Equal(once, v.Once) {
		differ("once", once, v.Once)
	}
	for key, want := range v.Idempotency {
		if got := r.fold.IdempotencyKey(key); got != want {
			differ("idempotency key of "+key, got, want)
		}
	}
	if v.States != nil && len(r.states) != len(v.States) {
		differ("states", r.states, v.States)
	}
	for key, want := range v.States {
		if err := want.Check([]byte(r.states[key]), r.states[key] == refused); err != nil {
			differ("state of "+key, r.states[key], want)
		}
	}
	return wrong
}

// mended does with the file what section 9 tells a writer to do, reads it again and
// returns what then is not as before.
func (r *reading) mended(v spec.Vector) []string {
	if r.err != nil {
		return nil // reported
	}
	file := bytes.Clone(v.Journal[:r.tail.End])
	if r.tail.NoNewline {
		file = append(file, '\n')
	}
	v.Expect, v.Torn, v.NoNewline, v.End = spec.Clean, 0, false, int64(len(file))
	wrong := readVector(file).compare(v)
	for i, w := range wrong {
		wrong[i] = "after mending: " + w
	}
	return wrong
}
