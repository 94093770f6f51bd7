package pawl_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pawlgo/pawl/runs"
)

// model follows a random program and says whether what the library does can be. It is
// told of each event before its consequence can be seen: that a call begins, that a
// function is called, how it is about to end, what a call returned. After the death of
// the process it is told nothing more.
type model struct {
	mu     sync.Mutex
	dead   func() bool
	worlds []*world
	wrong  string // what cannot be
	trace  []string
	event  int

	cancelled   bool // the run's context is done
	cancelledAt int
	counts      map[string]int
	most        int  // worlds at once
	lost        bool // there are too many to go on
}

// maxWorlds bounds what may be true at once. More can be when a process dies in Maps in
// parallel inside of others; then the program is given up.
const maxWorlds = 1000

// tell runs an event in every world, of which those stay in which it can be. It returns
// false if the program is to end.
func (m *model) tell(name string, in func(w *world) (why string, more []*world)) bool {
	if m.dead() || m.wrong != "" {
		return false
	}
	m.event++
	m.trace = append(m.trace, name)
	var left []*world
	var reasons []string
	for _, w := range m.worlds {
		why, more := in(w)
		if why != "" {
			reasons = append(reasons, why)
			continue
		}
		left = append(append(left, w), more...)
	}
	if len(left) == 0 {
		m.wrong = name + ": " + strings.Join(reasons, "; or ")
		return false
	}
	m.worlds = left
	m.most = max(m.most, len(left))
	return true
}

// ask says that a call begins.
func (m *model) ask(c *request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.asked = m.event + 1
	if c.kind == "start" {
		m.cancelled = false
		m.worlds = distinct(m.worlds)
	}
	return m.tell(fmt.Sprintf("%s %s begins (in %q, rerun %v, ignore %v, once %v, alias %q, late %v)", c.kind, c.key, c.in, c.rerun, c.ignore, c.once, c.alias, c.ctxDone), func(w *world) (string, []*world) {
		w.open[c] = w.begin(c, m.cancelled)
		return "", nil
	})
}

// called says that the function of a step or an item is called, or that of a run.
func (m *model) called(c *request, try int, idem string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tell(fmt.Sprintf("%s %s is called (try %d)", c.kind, c.key, try), func(w *world) (string, []*world) {
		if c.inMap != nil {
			if why := m.launch(w, c); why != "" {
				return why, nil
			}
		}
		p, asked := w.open[c]
		if !asked || p.outcome != "call" || p.called {
			return fmt.Sprintf("its outcome was to be %q", p.outcome), nil
		}
		w.apply(p.effects...)
		p.effects, p.called = nil, true
		w.open[c] = p
		if c.kind == "start" {
			if w.attempts != try {
				return fmt.Sprintf("attempt %d was to come", w.attempts), nil
			}
			return "", nil
		}
		if got := w.steps[c.key].tries; got != try {
			return fmt.Sprintf("try %d was to come", got), nil
		}
		return w.sawIdem(c.key, idem), nil
	})
}

// launch lets an item of a Map begin, if it may.
func (m *model) launch(w *world, c *request) string {
	p, begun := w.open[c.inMap]
	ip, todo := p.items[c]
	if !begun || p.outcome != "call" || !todo {
		return "the item was not to be done"
	}
	w.apply(p.effects...) // those of the Map itself
	p.effects = nil
	if c.inMap.parallel == 1 {
		after := c.inMap.asked
		for _, it := range p.order {
			if it == c {
				break
			}
			before, running := w.open[it]
			if !running && p.items[it].outcome == "ErrInDoubt" {
				continue
			}
			if !running || !before.called || it.ended == 0 || it.end.stops() {
				return fmt.Sprintf("item %s was to come before it and to succeed", it.key)
			}
			m.settle(w, it) // its turn is over
			after = it.ended
		}
		if m.cancelled && m.cancelledAt < after {
			return "the run was cancelled before"
		}
	}
	w.open[c.inMap] = p
	w.asked[c.key] = askRunning
	w.open[c] = ip
	return ""
}

// stops reports whether no further item of a Map begins behind one that ended so.
func (e ending) stops() bool {
	return e.how != "value" && !(e.how == "error" && (e.waits || e.refused))
}

// settle records how an item of a Map ended.
func (m *model) settle(w *world, c *request) {
	if p, ok := w.open[c]; !ok || p.outcome == "settled" {
		return
	}
	w.apply(m.after(c)...)
	w.asked[c.key] = askFailed
	if c.end.how == "value" {
		w.asked[c.key] = askDone
	}
	w.open[c] = todo{outcome: "settled", called: true}
}

// ending says how a function is about to end.
func (m *model) ending(c *request, e ending) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.wasCancelled = m.cancelled
	return m.tell(fmt.Sprintf("%s %s ends: %s %s %v", c.kind, c.key, e.how, e.text, e.err), func(*world) (string, []*world) {
		c.end, c.ended = e, m.event
		return "", nil
	})
}

// after returns what is recorded of a function that ended.
func (m *model) after(c *request) []effect {
	fail := []effect{{kind: "fail", key: c.key}}
	switch e := c.end; {
	case e.how == "value":
		return []effect{{kind: "done", key: c.key, text: e.text}}
	case c.once && (e.how == "bad" || e.how == "crash"), e.how == "error" && (e.stop || e.wasCancelled || c.once && e.doubt):
		return nil
	default:
		return fail
	}
}

// cancel cancels the run's context.
func (m *model) cancel(do func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tell("the run is cancelled", func(*world) (string, []*world) {
		do()
		if !m.cancelled {
			m.cancelled, m.cancelledAt = true, m.event
		}
		return "", nil
	})
}

// look compares with what somebody sees who looks at the run between two starts.
func (m *model) look(found bool, info runs.Info, steps []runs.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell("somebody looks", func(w *world) (string, []*world) {
		if found != w.exists {
			return fmt.Sprintf("it is there: %v", found), nil
		}
		if !found {
			return "", nil
		}
		return w.sees(info, steps), nil
	})
}

// resumed compares how many steps a start found finished.
func (m *model) resumed(steps int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tell(fmt.Sprintf("it found %d finished steps", steps), func(w *world) (string, []*world) {
		if n := w.outer(); n != steps {
			return fmt.Sprintf("there are %d", n), nil
		}
		return "", nil
	})
}

// completed compares what the completing record says of steps that nobody asked for.
func (m *model) completed(unasked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancelled {
		return // whether an item was asked is not known
	}
	m.tell(fmt.Sprintf("completed with %d unasked steps", unasked), func(w *world) (string, []*world) {
		if n := w.unasked(); n != unasked {
			return fmt.Sprintf("nobody asked for %d", n), nil
		}
		return "", nil
	})
}
