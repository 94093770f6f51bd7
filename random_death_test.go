package pawl_test

import "fmt"

// death branches every world: what was under way was recorded in part, wholly or not.
func (m *model) death() {
	if m.wrong != "" {
		return
	}
	m.trace = append(m.trace, "the process is dead")
	var all []*world
	for _, w := range m.worlds {
		branches := []*world{w}
		for c, p := range w.open {
			var next []*world
			for _, effects := range m.possible(w, c, p) {
				for _, b := range branches {
					b = b.clone()
					b.apply(effects...)
					next = append(next, b)
				}
			}
			if branches = distinct(next); len(branches) > maxWorlds {
				m.lost = true
				return
			}
		}
		all = append(all, branches...)
	}
	all = distinct(all)
	for _, w := range all {
		w.newAttempt()
	}
	m.worlds = all
	m.most = max(m.most, len(all))
}

// distinct leaves one of several worlds in which the same is recorded.
func distinct(worlds []*world) (left []*world) {
	seen := map[string]bool{}
	for _, w := range worlds {
		id := fmt.Sprint(w.exists, w.gen, w.status, w.input, w.attempts, w.result, w.steps, w.maps, w.epochs, w.whole, w.notes, w.states, len(w.idem))
		if !seen[id] {
			seen[id] = true
			left = append(left, w)
		}
	}
	return left
}

// possible returns what a call may have recorded that nobody was told of, as lists of
// which each is one possibility.
func (m *model) possible(w *world, c *request, p todo) [][]effect {
	if c.ended > 0 && p.called && p.outcome != "settled" {
		return some(m.afterRun(c))
	}
	all := some(p.effects)
	if c.kind != "map" || p.outcome != "call" {
		return all
	}
	// Items that were launched and whose functions nobody has seen: the first ones.
	room := c.parallel
	for _, it := range p.order {
		if _, launched := w.open[it]; launched {
			continue
		}
		if room--; room < 0 {
			break
		}
		var next [][]effect
		for _, before := range all {
			for _, own := range some(p.items[it].effects) {
				if len(own) > 0 && !hasAll(before, p.effects) {
					continue // no item before the Map's own records
				}
				next = append(next, append(append([]effect(nil), before...), own...))
			}
		}
		all = next
	}
	return all
}

func hasAll(have, want []effect) bool {
	for i, e := range want {
		if i >= len(have) || have[i] != e {
			return false
		}
	}
	return true
}

// some returns the beginnings of a list.
func some(effects []effect) (all [][]effect) {
	for n := 0; n <= len(effects); n++ {
		all = append(all, effects[:n])
	}
	return all
}

// afterRun is after, for a run too.
func (m *model) afterRun(c *request) []effect {
	if c.kind != "start" {
		return m.after(c)
	}
	switch e := c.end; {
	case e.how == "value":
		return []effect{{kind: "complete", text: e.text}}
	case e.how == "error" && e.waits && !m.cancelled:
		return []effect{{kind: "waiting"}}
	case e.how == "error" && (e.stop || m.cancelled):
		return nil
	case e.how == "none":
		return nil
	default:
		return []effect{{kind: "failed"}}
	}
}
