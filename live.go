package pawl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/journal"
)

// tried is a try of a step.
type tried struct {
	n    int64  // number of the try
	live uint64 // names it among all tries of this attempt
	idem string // its idempotency key, "" if nothing had ever been begun anew or renamed
}

// begun notes that a try begins. The caller holds mu.
func (r *Run) begun(key string) (live uint64) {
	r.lives++
	r.live[key] = r.lives
	return r.lives
}

// idemNow returns the idempotency key of a step if it cannot be told from the step's key
// alone. The caller holds mu.
func (r *Run) idemNow(key string) string {
	if !r.fold.Renewed() {
		return ""
	}
	return r.fold.IdempotencyKey(key)
}

// over notes that a try has ended, whichever way.
func (r *Run) over(key string, t tried) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[key] == t.live {
		delete(r.live, key)
	}
}

// outOfSight ends what is under way at key and inside it, and forgets states there: a new
// epoch must get nothing from an older one. The caller holds mu.
func (r *Run) outOfSight(key string) {
	r.gone++
	for k := range r.live {
		if k == key || strings.HasPrefix(k, key+"/") {
			delete(r.live, k)
		}
	}
	r.forgetStates(key)
}

// alive returns an error if a try that s is in has ended: what a goroutine that was left
// behind does then is nobody's, and may belong to an older epoch. The caller holds mu.
func (s *scope) alive() error {
	for sc := s; sc != nil; sc = sc.outer {
		if sc.step != "" && s.run.live[sc.step] != sc.live {
			return fmt.Errorf("%w: the try of step %q that this context belongs to has ended", ErrInvalid, sc.step)
		}
	}
	return nil
}

// inDoubtAt returns the key of a step that must not run again by itself and has begun and
// not ended, at key or inside it, "" if there is none. The caller holds mu.
func inDoubtAt(f *journal.Fold, key string) string {
	if isInDoubt(f, key) {
		return key
	}
	return inDoubtInside(f, key)
}

func inDoubtInside(f *journal.Fold, key string) string {
	for k := range f.Inside(key) {
		if isInDoubt(f, k) {
			return k
		}
	}
	return ""
}

func isInDoubt(f *journal.Fold, key string) bool {
	s := f.Steps[key]
	return s != nil && s.Status == journal.StepRunning && s.Once
}

// onlyInDoubt reports whether an error says of nothing but steps in doubt that they were not
// called, wrapped in whatever a program makes of that. An error of a function that does not know
// itself whether it happened is another one: it is new.
func (r *Run) onlyInDoubt(err error) bool {
	switch e := err.(type) {
	case *RunError:
		return e.RunID == r.id && e.Op == "start" && e.Err == ErrInDoubt
	case interface{ Unwrap() error }:
		return r.onlyInDoubt(e.Unwrap())
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !r.onlyInDoubt(err) })
	}
	return false
}

// doubt is the error of a step in doubt.
func (r *Run) doubt(key string) error {
	return &RunError{Op: "start", RunID: r.id, Key: key, Err: ErrInDoubt, Hint: "fn was not called; " + r.howToResolve(key)}
}
