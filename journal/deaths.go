package journal

import (
	"slices"
	"strings"
)

// Died returns the keys of the steps that were under way when the last process that had
// the run open for work died, without those that others inside them were under way for, and
// without sleeps; nil if it did not die. It is asked before the next attempt is recorded.
func (f *Fold) Died() []string {
	if f.attemptSeq <= max(f.endSeq, f.cancelSeq, f.reopened[0]) {
		return nil
	}
	underWay := map[string]bool{}
	for key, s := range f.Steps {
		if s.Status == StepRunning && s.Start.Seq > f.attemptSeq && !f.sleeps(key) {
			underWay[key] = true
		}
	}
	for key := range underWay {
		for outer := range around(key) {
			delete(underWay, outer)
		}
	}
	var keys []string
	for key := range underWay {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// around yields the keys around a key, the innermost first.
func around(key string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
			if !yield(key[:i]) {
				return
			}
		}
	}
}

// Blamed is a step whose processes are counted, see [Trouble.Limit], that was under way at a
// death.
type Blamed struct {
	Key    string
	Others int64 // innermost steps that were under way and are not inside it
}

// Blamed returns the steps to blame for the death that [Fold.Died] tells of: of each innermost
// step that was under way, itself or the next one around it whose processes are counted. A step
// that slept inside did nothing.
func (f *Fold) Blamed() []Blamed {
	died := f.Died()
	var blamed []Blamed
	for _, key := range died {
		if f.sleptIn(key) {
			continue
		}
		watched := key
		if !f.watched(key) {
			watched = ""
			for outer := range around(key) {
				if f.watched(outer) {
					watched = outer
					break
				}
			}
		}
		if watched == "" || slices.ContainsFunc(blamed, func(b Blamed) bool { return b.Key == watched }) {
			continue
		}
		b := Blamed{Key: watched}
		inside := watched + "/"
		for _, other := range died {
			if other != watched && !strings.HasPrefix(other, inside) {
				b.Others++
			}
		}
		blamed = append(blamed, b)
	}
	return blamed
}

func (f *Fold) watched(key string) bool {
	s, t := f.Steps[key], f.Trouble[key]
	return s != nil && t != nil && t.Limit > 0 && s.Status == StepRunning && s.Start.Seq > f.attemptSeq
}

// sleptIn reports whether a sleep inside a step was under way at the death.
func (f *Fold) sleptIn(key string) bool {
	for k := range f.Inside(key) {
		if s := f.Steps[k]; s != nil && s.Status == StepRunning && s.Start.Seq > f.attemptSeq && f.sleeps(k) {
			return true
		}
	}
	return false
}

// Suspects returns the keys of the steps that deaths have been recorded of, that may run again,
// and whose processes are counted: each is to run with no other one beside it.
func (f *Fold) Suspects() []string {
	var keys []string
	for key, t := range f.Trouble {
		if s := f.Steps[key]; s != nil && s.Status == StepRunning && t.Limit > 0 && t.Deaths+t.Others > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Counted reports whether the death that a step was under way at is recorded already, by a
// process that did not come to its own attempt.
func (f *Fold) Counted(key string) bool {
	t := f.Trouble[key]
	return t != nil && max(t.seq, t.retry) > f.attemptSeq
}
