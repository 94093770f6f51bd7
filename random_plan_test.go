package pawl_test

import (
	"slices"

	"github.com/pawlgo/pawl/runs"
)

// request is a call of the library by a random program.
type request struct {
	kind string // "step", "item", "map", "load", …
	key  string // of a step, or the scope of a state

	in                  string // input, "" if none is given
	rerun, ignore, once bool
	alias               string // old key, in full
	ctxDone             bool   // its own context has ended
	mustExist           bool
	text                string // what is to be saved, noted, or to be the result

	items    []*request // of a Map
	parallel int
	inMap    *request // of an item

	asked int // number of the event
	end   ending
	ended int // number of the event, 0 before
}

// ending is how a function ended.
type ending struct {
	how          string // "value", "bad" (a value that cannot be stored), "error", "crash"
	text         string
	err          error
	stop, doubt  bool // the error says that the run stops, or that fn does not know
	waits        bool // the error says that the run waits
	refused      bool // it says nothing but that steps in doubt were not called
	wasCancelled bool // the run's context was done before it ended
}

// todo is what a call will do in a world: what it records, and how it comes out.
type todo struct {
	effects []effect
	outcome string // "call" the function, "answer", or the class of an error
	answer  string

	claimed bool // the key is this call's until it returns
	called  bool
	order   []*request          // of a Map: the items to be done, in this order
	items   map[*request]todo   // of a Map: what becomes of each of these
	values  map[*request]string // of a Map: the answers of the others
}

// claim takes a key for a call, or says why it cannot be had.
func (w *world) claim(key string) (refused string) {
	if w.over != "" {
		return w.over
	}
	switch w.asked[key] {
	case askRunning, askAnswered, askDone:
		return "ErrDuplicateKey"
	case askFailed:
		w.askAnew(key)
	}
	w.asked[key] = askRunning
	return ""
}

// askAnew lets the keys inside be asked again, but for those still running.
func (w *world) askAnew(key string) {
	for k, st := range w.asked {
		if k != key && isIn(k, key) && st != askRunning {
			delete(w.asked, k)
		}
	}
	dropIn(w.loaded, key) // a new try has seen none of it
}

// begin plans a call and claims its key.
func (w *world) begin(c *request, cancelled bool) todo {
	switch c.kind {
	case "step":
		return w.beginStep(c, cancelled)
	case "map":
		return w.beginMap(c, cancelled)
	case "load":
		if w.over != "" {
			return todo{outcome: w.over}
		}
		return todo{outcome: "answer", answer: w.states[c.key]}
	case "save":
		_, exists := w.states[c.key]
		switch {
		case w.over != "":
			return todo{outcome: w.over}
		case exists && !w.loaded[c.key]:
			return todo{outcome: "ErrStateNotLoaded"}
		case exists && w.states[c.key] == c.text:
			return todo{outcome: "answer"}
		}
		return todo{effects: []effect{{kind: "state", key: c.key, text: c.text}}, outcome: "answer"}
	case "note":
		return todo{effects: []effect{{kind: "note", key: c.key, text: c.text}}, outcome: "answer"}
	case "late note", "late load note":
		return todo{outcome: "ErrInvalid"}
	case "load note":
		return todo{outcome: "answer", answer: w.notes[c.key]}
	}
	return w.beginRun(c)
}

// beginRun plans what concerns the run as a whole.
func (w *world) beginRun(c *request) todo {
	is := func(outcome string, effects ...effect) todo { return todo{outcome: outcome, effects: effects} }
	st, known := w.steps[c.key]
	switch c.kind {
	case "start":
		w.newAttempt()
		switch {
		case !w.exists && c.mustExist:
			return is("ErrNotFound")
		case w.exists && w.input != "" && c.in != "" && c.in != w.input && !c.ignore:
			return is("ErrInputChanged")
		case w.status == runs.Complete:
			return todo{outcome: "answer", answer: w.result}
		case w.exists:
			return is("call", effect{kind: "attempt"})
		}
		return is("call", effect{kind: "create", in: c.in}, effect{kind: "attempt"})
	case "complete":
		switch {
		case w.over == "ErrComplete" && w.result == c.text:
			return is("answer")
		case w.over != "":
			return is(w.over)
		}
		return is("answer", effect{kind: "complete", text: c.text})
	case "fail":
		if w.over != "" {
			return is(w.over)
		}
		return is("answer", effect{kind: "failed"})
	case "close":
		return is("answer")
	case "begin again": // who wants the result of a complete run gets it
		if w.over == "ErrComplete" {
			return is("answer")
		}
		return is("ErrLocked")
	case "compact owned", "clear owned", "resolve owned":
		return is("ErrLocked")
	case "compact in it":
		if w.over != "" {
			return is(w.over)
		}
		return is("answer")
	}
	switch { // what is done from outside
	case !w.exists:
		return is("ErrNotFound")
	case c.kind == "compact":
		return is("answer")
	case c.kind == "clear", c.kind == "delete":
		return is("answer", effect{kind: "clear"})
	case w.status == runs.Complete:
		return is("ErrComplete")
	case !known:
		return is("ErrNotFound")
	case st.status == "done" && !st.said:
		return is("ErrConflict")
	case st.status == "failed":
		return is("ErrInvalid")
	case c.kind == "resolve done":
		return is("answer", effect{kind: "said", key: c.key, text: c.text})
	}
	return is("answer", effect{kind: "alone", key: c.key})
}

func (w *world) beginStep(c *request, cancelled bool) todo {
	if refused := w.claim(c.key); refused != "" {
		return todo{outcome: refused}
	}
	p := w.adopt(c)
	if p.outcome == "" {
		w2 := w.clone() // as it is when the alias counts
		w2.apply(p.effects...)
		rest := w2.work(c, cancelled)
		p.effects = append(p.effects, rest.effects...)
		p.outcome, p.answer = rest.outcome, rest.answer
	}
	p.claimed = true
	return p
}

// adopt plans what an alias does.
func (w *world) adopt(c *request) todo {
	if c.alias == "" || c.alias == c.key || w.has(c.key) || !w.has(c.alias) {
		return todo{}
	}
	switch w.asked[c.alias] {
	case askRunning, askAnswered, askDone:
		return todo{outcome: "ErrDuplicateKey"}
	case askFailed:
		w.askAnew(c.alias)
		delete(w.asked, c.alias)
	}
	if anyIn(w.asked, c.alias) { // something inside was asked for already
		return todo{outcome: "ErrDuplicateKey"}
	}
	return todo{effects: []effect{{kind: "alias", key: c.key, from: c.alias}}}
}

// work plans what becomes of a step, or an item, whose key is claimed.
func (w *world) work(c *request, cancelled bool) todo {
	var p todo
	st, recorded := w.steps[c.key]
	in := c.in
	if c.ignore {
		in = ""
	}
	if recorded && in != "" && st.in != "" && in != st.in {
		switch {
		case w.inDoubt(c.key, false):
			return todo{outcome: "ErrInDoubt"}
		case !c.rerun && (st.status != "failed" || w.openInside(c.key) || w.keptIn(c.key)):
			return todo{outcome: "ErrInputChanged"}
		case cancelled:
			return todo{outcome: "canceled"}
		}
		p.effects = append(p.effects, effect{kind: "epoch", key: c.key})
		st, recorded = mstep{}, false
	}
	switch {
	case recorded && st.status == "done":
		return todo{outcome: "answer", answer: st.value}
	case cancelled:
		p.outcome = "canceled"
	case c.ctxDone:
		p.outcome = "deadline"
	case st.status == "running" && (c.once || st.once):
		p.outcome = "ErrInDoubt"
	default:
		p.outcome = "call"
		p.effects = append(p.effects, effect{kind: "start", key: c.key, in: c.in, once: c.once})
	}
	return p
}

// beginMap plans a Map and each of its items.
func (w *world) beginMap(c *request, cancelled bool) todo {
	if refused := w.claim(c.key); refused != "" {
		return todo{outcome: refused}
	}
	seen := map[string]bool{}
	for _, it := range c.items {
		if seen[it.key] {
			return todo{outcome: "ErrDuplicateKey", claimed: true}
		}
		seen[it.key] = true
	}
	p := w.adopt(c)
	p.claimed = true
	if p.outcome != "" {
		return p
	}
	w2 := w.clone()
	w2.apply(p.effects...)
	p.items, p.values = map[*request]todo{}, map[*request]string{}
	var last, doubtful []*request
	refused := ""
	for _, it := range c.items {
		ip := w2.work(it, cancelled)
		switch {
		case ip.outcome == "ErrInputChanged":
			refused = ip.outcome
		case ip.outcome == "answer":
			p.values[it] = ip.answer
			continue
		case w2.inDoubt(it.key, it.once):
			doubtful = append(doubtful, it)
		case w2.steps[it.key].status == "failed":
			last = append(last, it)
		default:
			p.order = append(p.order, it)
		}
		p.items[it] = ip
	}
	if refused != "" {
		return todo{outcome: refused, effects: p.effects, claimed: true}
	}
	p.order = slices.Concat(p.order, last, doubtful)
	p.effects = append(p.effects, effect{kind: "map", key: c.key})
	p.outcome = "call"
	return p
}
