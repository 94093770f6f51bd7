package pawl

import (
	"fmt"
	"math"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// adopt lets key go on with what is recorded under the name that it had before, if
// nothing is recorded under key itself. The caller has claimed key.
func (r *Run) adopt(s *scope, key, oldName string) error {
	if oldName == emptyAlias {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: the old key of an Alias must not be empty", ErrInvalid), Hint: "fn was not called"}
	}
	old, err := s.join(oldName)
	if err != nil || old == key || !r.known(old) {
		return err
	}
	if r.known(key) {
		r.warnOfLateAlias(key, old)
		return nil
	}
	// Nobody else may be asking for the old key: its result would have two names.
	if err := r.claim(s, old); err != nil {
		return err
	}
	if inside := r.askedInside(old); inside != "" {
		r.unclaim(old)
		return &RunError{Op: "start", RunID: r.id, Key: inside, Err: ErrDuplicateKey, Hint: "fn was not called; this attempt has asked for a key inside the one to be renamed, rename before"}
	}
	defer r.unclaim(old)
	b := line.NewBody(journal.KindAlias, key, r.store.now()).Str("from", old)
	// Whatever is recorded under the new key stands behind it in the journal, so it
	// needs no flush of its own.
	err = r.record(b.Bytes(), false, s.alive, func(f *journal.Fold, span journal.Span) {
		f.Alias(key, old, span.Seq)
		r.gone++
		r.forgetStates(old)
		r.forgetStates(key) // what was loaded there was none
	})
	if err != nil {
		return r.writeError("start", key, err)
	}
	return nil
}

// known reports whether anything is recorded under key or inside it.
func (r *Run) known(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fold.Has(key) {
		return true
	}
	for k := range r.fold.Inside(key) {
		if r.fold.Has(k) {
			return true
		}
	}
	return false
}

// warnOfLateAlias tells of results that a renamed step does not get any more: the program ran
// once without the Alias. To adopt them now would put out of sight what is recorded under the new
// key, and could hand the result of another step to this one.
func (r *Run) warnOfLateAlias(key, old string) {
	r.mu.Lock()
	before, since := r.firstAt(old), r.firstAt(key)
	r.mu.Unlock()
	if before < since { // else the old name is another step's by now
		r.store.log.Warn("an Alias came too late: the step ran under its new key already, so what is recorded under the old one is not returned", "run", r.id, "step", key, "old", old)
	}
}

// firstAt returns the number of the first record at key and inside it. The caller holds mu.
func (r *Run) firstAt(key string) int64 {
	first := int64(math.MaxInt64)
	at := func(k string) {
		if s := r.fold.Steps[k]; s != nil {
			first = min(first, s.First)
		}
		if m := r.fold.Maps[k]; m != nil {
			first = min(first, m.First)
		}
		if s := r.fold.Saved[k]; s != nil {
			first = min(first, s.Full.Seq)
		}
	}
	at(key)
	for k := range r.fold.Inside(key) {
		at(k)
	}
	return first
}

// askedInside returns a key inside key, at any depth, that this attempt has asked for, ""
// if there is none.
func (r *Run) askedInside(key string) (first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.asked {
		if strings.HasPrefix(k, key+"/") && (first == "" || k < first) {
			first = k
		}
	}
	return first
}

// unclaim forgets that key was asked.
func (r *Run) unclaim(key string) {
	r.settle(key, stepFailed)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, key)
}
