package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl"
)

// seen is what a call came to, as the program saw it.
type seen struct {
	value   string   // of a step, a state, a note, a run
	values  []string // of a Map
	err     error
	crashed bool // a panic or Goexit came out of it
}

// returned says what a call came to.
func (m *model) returned(c *request, o seen) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	counted := false
	return m.tell(fmt.Sprintf("%s %s returns %q %q %v crashed %v", c.kind, c.key, o.value, o.values, o.err, o.crashed), func(w *world) (string, []*world) {
		p := w.open[c]
		delete(w.open, c)
		if !counted {
			counted = true
			m.counts[c.kind+": "+how(c, p, o)]++
		}
		switch {
		case c.kind == "map" && p.outcome == "call":
			return m.mapReturned(w, c, p, o)
		case c.kind == "step" && p.called, c.kind == "start" && p.called:
			return m.funcReturned(w, c, o)
		case c.kind == "step" && strings.Contains("call ErrInDoubt deadline", p.outcome) && m.cancelled && errors.Is(o.err, context.Canceled):
			// Cancelled since it was asked: perhaps after the old result went.
			w.asked[c.key] = askFailed
			for _, e := range p.effects {
				switch e.kind {
				case "alias":
					w.apply(e)
				case "epoch":
					b := w.clone()
					b.apply(e)
					return "", []*world{b}
				}
			}
			return "", nil
		case p.outcome == "call":
			return "its function was to be called", nil
		case o.crashed:
			return "nothing was there to crash", nil
		}
		if p.outcome != "answer" {
			w.settleAsked(c, p, askFailed)
			w.apply(p.effects...)
			return wantClass(o.err, p.outcome), nil
		}
		if o.err != nil {
			return fmt.Sprintf("it was to succeed: %v", o.err), nil
		}
		if o.value != p.answer {
			return fmt.Sprintf("%q was to be returned", p.answer), nil
		}
		w.settleAsked(c, p, askAnswered)
		w.apply(p.effects...)
		switch c.kind {
		case "load", "save":
			w.loaded[c.key] = true
		case "complete":
			w.over = "ErrComplete"
		case "fail":
			w.over = "ErrClosed"
		}
		return "", nil
	})
}

// settleAsked ends the claim of a key, if there was one.
func (w *world) settleAsked(c *request, p todo, st askState) {
	if p.claimed {
		w.asked[c.key] = st
	}
}

// how names an outcome for the counts.
func how(c *request, p todo, o seen) string {
	switch {
	case c.ended > 0 && c.kind != "map":
		return "fn ended with " + c.end.how
	case o.crashed:
		return "crash"
	case p.outcome == "call" && o.err == nil:
		return "done"
	case p.outcome == "call":
		return "failed"
	case p.outcome == "answer" && (c.kind == "load" || c.kind == "load note") && p.answer == "":
		return "nothing"
	}
	return p.outcome
}

// funcReturned checks what came of a function that was called.
func (m *model) funcReturned(w *world, c *request, o seen) (string, []*world) {
	effects := m.afterRun(c)
	end := c.end
	if c.kind == "step" {
		w.asked[c.key] = askFailed
		if end.how == "value" {
			w.asked[c.key] = askDone
		}
	}
	if o.crashed != (end.how == "crash") {
		return fmt.Sprintf("how its function ended (%s) was hidden", end.how), nil
	}
	var failed *pawl.StepError
	isFailed := errors.As(o.err, &failed) && failed.Key == c.key
	switch {
	case end.how == "value":
		if o.err != nil || o.value != end.text {
			return fmt.Sprintf("its function's value %q was to be returned", end.text), nil
		}
	case end.how == "bad":
		if why := wantClass(o.err, "ErrInvalid"); why != "" {
			return why, nil
		}
	case end.how == "error":
		if !errors.Is(o.err, end.err) {
			return fmt.Sprintf("its function's error %v was to be returned", end.err), nil
		}
		if c.kind == "start" {
			break
		}
		interrupted := end.stop || end.wasCancelled
		if isFailed == interrupted {
			if isFailed || !m.cancelled { // cancelled since it ended: then it is no failure either
				return fmt.Sprintf("it counts as failed: %v", isFailed), nil
			}
			effects = nil
		}
		if isFailed && failed.Tries != w.steps[c.key].tries {
			return fmt.Sprintf("%d tries were to be counted", w.steps[c.key].tries), nil
		}
	}
	w.apply(effects...)
	return "", nil
}

// wantClass compares an error with a class.
func wantClass(err error, class string) string {
	sentinel, ok := map[string]error{
		"ErrDuplicateKey": pawl.ErrDuplicateKey, "ErrInputChanged": pawl.ErrInputChanged, "ErrInDoubt": pawl.ErrInDoubt, "ErrStateNotLoaded": pawl.ErrStateNotLoaded,
		"ErrInvalid": pawl.ErrInvalid, "ErrNotFound": pawl.ErrNotFound, "ErrComplete": pawl.ErrComplete, "ErrClosed": pawl.ErrClosed, "ErrLocked": pawl.ErrLocked,
		"ErrConflict": pawl.ErrConflict, "canceled": context.Canceled, "deadline": context.DeadlineExceeded,
	}[class]
	if !ok {
		panic("no such class: " + class)
	}
	if !errors.Is(err, sentinel) {
		return fmt.Sprintf("%s was to be returned", class)
	}
	return ""
}
