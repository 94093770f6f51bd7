package pawl

import (
	"slices"
	"strings"
)

// claim marks key as running in this attempt.
func (r *Run) claim(s *scope, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.ended
	if why == nil && r.closing {
		why = ErrClosed
	}
	if why == nil {
		why = s.alive()
	}
	if why != nil {
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: why, Hint: "fn was not called"}
	}
	switch r.asked[key] {
	case stepRunning, stepAnswered, stepDone:
		return &RunError{Op: "start", RunID: r.id, Key: key, Err: ErrDuplicateKey, Hint: "fn was not called; give equal names a scope of their own: pawl.Scope(ctx, \"turn/3\")"}
	case stepFailed:
		r.askAnew(key) // a new try asks for its nested keys again
	default:
		if i := strings.LastIndexByte(key, '/'); i > 0 {
			r.nest(key[:i], key)
		}
	}
	r.asked[key] = stepRunning
	r.active++
	return nil
}

// nest notes under which keys and scopes a key is asked. The caller holds mu.
func (r *Run) nest(parent, key string) {
	kids, known := r.nested[parent]
	r.nested[parent] = append(kids, key)
	if i := strings.LastIndexByte(parent, '/'); !known && i > 0 {
		r.nest(parent[:i], parent)
	}
}

// askAnew lets the keys inside key be asked again, but for those still running; and no state
// there counts as loaded, since the new try has not seen it. The caller holds mu.
func (r *Run) askAnew(key string) {
	r.unload(key)
	r.askInside(key)
}

func (r *Run) askInside(key string) {
	kids := r.nested[key]
	slices.Sort(kids) // each try adds what it asks: it must not be walked once for each
	kids = slices.Compact(kids)
	if len(kids) > 0 {
		r.nested[key] = kids
	}
	for _, k := range kids {
		if r.asked[k] != stepRunning {
			delete(r.asked, k)
		}
		r.askInside(k)
	}
}

func (r *Run) settle(key string, st stepState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[key] = st
	if r.active--; r.active == 0 {
		r.idle.Broadcast()
	}
}
