package pawl

import (
	"context"
	"strings"
	"sync"
)

// ward keeps the steps that are suspected of ending their process apart from all others, until
// each has shown that it does not. A step that is a suspect, or has one inside, runs with no
// other step of the same scope around beside it; so only the suspect itself is left at the end.
// Others wait for it, and it for them, always before they take anything else that somebody might
// wait for. A nil ward lets everybody in.
type ward struct {
	mu      sync.Mutex
	paths   map[string]int    // suspects at a key and inside it
	levels  map[string]*level // by the key of the step around, "" outside of all steps
	changed chan struct{}     // closed when any of that changes
}

// level is the steps directly inside one step.
type level struct {
	inside  int    // functions that run
	alone   string // the one that is or has a suspect, "" if none runs
	waiting int    // of these, those that wait for their turn
}

func newWard(suspects []string) *ward {
	if len(suspects) == 0 {
		return nil
	}
	w := &ward{paths: map[string]int{}, levels: map[string]*level{}, changed: make(chan struct{})}
	for _, key := range suspects {
		w.count(key, 1)
	}
	return w
}

// count notes a suspect at key, or that it is none any more.
func (w *ward) count(key string, n int) {
	for end := 1; end <= len(key); end++ {
		if end == len(key) || key[end] == '/' {
			w.paths[key[:end]] += n
		}
	}
}

// enter waits until the function of a step may be called.
func (w *ward) enter(ctx context.Context, s *scope, key string) (leave func(), err error) {
	if w == nil {
		return func() {}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.levels[s.step]
	if l == nil {
		l = &level{}
		w.levels[s.step] = l
	}
	suspect := w.paths[key] > 0
	if suspect {
		l.waiting++
		defer func() { l.waiting-- }()
	}
	for l.alone != "" || suspect && l.inside > 0 || !suspect && l.waiting > 0 {
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			w.wake() // who waited for this one need not any more
			return nil, ctx.Err()
		}
	}
	l.inside++
	if suspect {
		l.alone = key
	}
	return func() { w.leave(l, key, suspect) }, nil
}

func (w *ward) leave(l *level, key string, suspect bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.inside--
	if suspect {
		l.alone = ""
		// It has come to an end, and so has all that it had inside.
		if n := w.paths[key]; n > 0 {
			w.clear(key, n)
		}
	}
	w.wake()
}

// clear forgets the suspects at a key and inside it.
func (w *ward) clear(key string, n int) {
	for k := range w.paths {
		if strings.HasPrefix(k, key+"/") {
			delete(w.paths, k)
		}
	}
	w.count(key, -n)
}

func (w *ward) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}
