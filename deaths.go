package pawl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// countDeath records, if the last process died, which steps were under way then. Each
// counts its deaths in a row; of several nobody can tell which one it was, so that none of them
// is counted up, but they are suspects. It is called before the attempt is recorded.
func (r *Run) countDeath() error {
	keys := r.fold.Died()
	slices.Sort(keys)
	for _, key := range keys {
		if r.fold.Counted(key) {
			continue
		}
		var n int64
		if t := r.fold.Trouble[key]; t != nil {
			n = t.Deaths
		}
		others := int64(len(keys) - 1)
		if others == 0 {
			n++
		}
		b := line.NewBody(journal.KindCrash, key, r.store.now()).Int("n", n).Int("others", others)
		// Not flushed: where it matters, the start record behind it is.
		span, err := r.log.Append(b.Bytes(), false)
		if err != nil {
			return r.writeError("open", key, err)
		}
		r.fold.Crash(key, n, others, span.Seq)
	}
	if len(keys) > 1 {
		r.ward = newWard(keys)
	}
	return nil
}

// willBePoison reports whether a step was under way at too many deaths. The caller holds mu.
func (r *Run) willBePoison(key string, maxCrashes int) bool {
	t := r.fold.Trouble[key]
	return t != nil && maxCrashes > 0 && t.Deaths >= int64(maxCrashes)
}

// poison ends a step that was under way at too many deaths.
func (r *Run) poison(key string, tries, deaths int64) error {
	why := fmt.Errorf("%w: %d processes in a row died while this step was under way; when the cause is mended: pawl retry %s %s", ErrPoison, deaths, quoteArg(r.id), quoteArg(key))
	if err := r.recordFailure(key, tried{n: tries}, 0, why, ending{final: true, poison: true}); err != nil {
		return r.writeError("record", key, err)
	}
	return &StepError{RunID: r.id, Key: key, Tries: int(tries), Message: r.errorText(why), Err: ErrPoison, Final: true}
}

// ward keeps the steps that were under way together at a death apart from all others until
// each has shown that it does not end its process. A nil ward lets everybody in.
type ward struct {
	mu       sync.Mutex
	suspects map[string]bool
	inside   map[string]bool // functions that run and have no step inside them
	alone    string          // suspect that runs now, "" if none does
	waiting  int             // suspects that wait for their turn
	changed  chan struct{}   // closed when any of that changes
}

func newWard(keys []string) *ward {
	w := &ward{suspects: map[string]bool{}, inside: map[string]bool{}, changed: make(chan struct{})}
	for _, key := range keys {
		w.suspects[key] = true
	}
	return w
}

// enter waits until the function of a step may be called: a suspect until nobody else
// is inside, everybody else until no suspect is inside or waits.
func (w *ward) enter(ctx context.Context, s *scope, key string, watched bool) (leave func(), err error) {
	if w == nil {
		return func() {}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// Who has a step inside only waits for that: it must not be waited for.
	for sc := s; sc != nil; sc = sc.outer {
		if w.inside[sc.step] {
			delete(w.inside, sc.step)
			w.wake()
		}
	}
	suspect := watched && w.suspects[key]
	if suspect {
		w.waiting++
		defer func() { w.waiting-- }()
	}
	for !w.free(key, suspect) {
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			w.wake()
			return nil, ctx.Err()
		}
	}
	w.inside[key] = true
	if suspect {
		w.alone = key
	}
	return func() { w.leave(key) }, nil
}

func (w *ward) free(key string, suspect bool) bool {
	switch {
	case w.alone != "":
		return strings.HasPrefix(key, w.alone+"/")
	case suspect:
		return len(w.inside) == 0
	default:
		return w.waiting == 0
	}
}

func (w *ward) leave(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.inside, key)
	delete(w.suspects, key) // it has shown itself
	if w.alone == key {
		w.alone = ""
	}
	w.wake()
}

func (w *ward) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}
