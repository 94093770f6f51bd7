package pawl_test

import (
	"errors"
	"fmt"
)

// mapReturned checks what came of a Map whose items were begun.
func (m *model) mapReturned(w *world, c *request, p todo, o seen) (string, []*world) {
	w.apply(p.effects...)
	for it := range p.values {
		w.asked[it.key] = askAnswered
	}
	e := mapEnd{}
	for _, it := range p.order {
		if why := m.itemEnded(w, c, p, it, &e); why != "" {
			return why, nil
		}
		delete(w.open, it)
	}
	w.asked[c.key] = askDone
	if e.failed {
		w.asked[c.key] = askFailed
	}
	switch {
	case o.crashed != e.crashed:
		return fmt.Sprintf("an item crashed: %v", e.crashed), nil
	case e.crashed:
	case (o.err != nil) != e.failed:
		return fmt.Sprintf("an item failed: %v", e.failed), nil
	case o.err == nil:
		for i, it := range c.items {
			want, answered := p.values[it]
			if !answered {
				want = it.end.text
			}
			if len(o.values) != len(c.items) || o.values[i] != want {
				return fmt.Sprintf("item %s was to be %q", it.key, want), nil
			}
		}
	default:
		for _, err := range e.errs {
			if len(e.maybe) == 0 && !errors.Is(o.err, err) {
				return fmt.Sprintf("the error of an item is lost: %v", err), nil
			}
		}
	}
	var worlds []*world
	for _, change := range e.maybe {
		for _, b := range append([]*world{w}, worlds...) {
			b = b.clone()
			change(b)
			worlds = append(worlds, b)
		}
	}
	return "", worlds
}

// mapEnd gathers how the items of a Map ended.
type mapEnd struct {
	failed, crashed bool
	stopped         bool // no further item begins
	errs            []error
	maybe           []func(*world) // what a cancellation meanwhile may have made of them
}

// itemEnded records how an item ended, in the order in which items begin.
func (m *model) itemEnded(w *world, c *request, p todo, it *request, e *mapEnd) string {
	ip := p.items[it]
	_, launched := w.open[it]
	switch {
	case launched && it.ended == 0:
		return fmt.Sprintf("item %s has not ended", it.key)
	case !launched && e.stopped: // none begins after a failure
		if m.cancelled && len(ip.effects) > 1 { // but for one that had begun
			e.maybe = append(e.maybe, func(b *world) { b.apply(ip.effects[0]) })
		}
		if ip.outcome == "ErrInDoubt" && c.parallel != 1 { // it may have been asked and refused while the other one failed
			e.maybe = append(e.maybe, func(b *world) { b.asked[it.key] = askFailed })
		}
		return ""
	case !launched && ip.outcome != "call": // it failed without being called
		e.failed = true
		e.stopped = e.stopped || ip.outcome != "ErrInDoubt"
		w.asked[it.key] = askFailed
		if m.cancelled && m.cancelledAt >= c.asked { // perhaps before it came to that
			e.maybe = append(e.maybe, func(b *world) { b.apply(ip.effects...) })
			return ""
		}
		w.apply(ip.effects...)
		return ""
	case !launched:
		if !m.cancelled || m.cancelledAt < c.asked {
			return fmt.Sprintf("item %s was to be called", it.key)
		}
		e.failed, e.stopped = true, true
		if len(ip.effects) > 1 {
			e.maybe = append(e.maybe, func(b *world) { b.apply(ip.effects[0]) })
		}
		return ""
	}
	e.failed = e.failed || it.end.how != "value"
	e.stopped = e.stopped || it.end.stops()
	e.crashed = e.crashed || it.end.how == "crash"
	if it.end.how == "error" && len(m.after(it)) > 0 {
		e.errs = append(e.errs, it.end.err)
		if m.cancelled { // since it ended: it may count as interrupted
			e.maybe = append(e.maybe, func(b *world) {
				st := b.steps[it.key]
				st.status = "running"
				b.steps[it.key] = st
			})
		}
	}
	m.settle(w, it)
	return ""
}
