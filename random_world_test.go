package pawl_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/runs"
)

// world is what may be true of a run: what is recorded, and how its keys stand in the
// attempt under way. It is written from the documentation, not from the code. After a
// death several worlds are possible, since what was under way may have been recorded or
// not; what is seen later leaves those that agree with it, and if none does, a promise
// was broken.
type world struct {
	exists   bool
	gen      int // how often the ID began anew
	status   runs.Status
	input    string // of the run, "" if none was recorded
	attempts int
	result   string
	steps    map[string]mstep
	maps     map[string]bool
	epochs   map[string]int
	whole    map[string]int // epochs that concerned what is inside too
	notes    map[string]string
	states   map[string]string
	idem     map[string]string // what was seen of each idempotency key, by what it stands for
	known    map[string]string // and the other way round

	// The attempt under way.
	asked  map[string]askState
	loaded map[string]bool   // scopes whose state was loaded or saved
	over   string            // class of the error of further calls, "" while it is open
	open   map[*request]todo // calls that have not returned
}

// mstep is what is recorded of a step.
type mstep struct {
	status string // "running", "done", "failed"
	value  string
	in     string
	tries  int
	once   bool
	said   bool   // the value is what somebody said it to be
	token  string // what its idempotency key stands for
}

// askState is how a key stands in this attempt.
type askState uint8

const (
	askRunning askState = iota + 1
	askAnswered
	askDone
	askFailed
)

// effect is a record that a call writes, or may have written.
type effect struct {
	kind      string
	key, from string
	text      string
	in        string
	once      bool
}

func newWorld() *world {
	w := &world{idem: map[string]string{}, known: map[string]string{}}
	w.forget()
	w.newAttempt()
	return w
}

// forget is what is known of an absent run.
func (w *world) forget() {
	w.exists, w.status, w.input, w.attempts, w.result = false, "", "", 0, ""
	w.steps, w.maps, w.epochs, w.whole = map[string]mstep{}, map[string]bool{}, map[string]int{}, map[string]int{}
	w.notes, w.states = map[string]string{}, map[string]string{}
}

func (w *world) newAttempt() {
	w.asked, w.loaded, w.over, w.open = map[string]askState{}, map[string]bool{}, "", map[*request]todo{}
}

func (w *world) clone() *world {
	c := *w
	c.steps, c.maps, c.epochs, c.whole = maps.Clone(w.steps), maps.Clone(w.maps), maps.Clone(w.epochs), maps.Clone(w.whole)
	c.notes, c.states, c.idem, c.known = maps.Clone(w.notes), maps.Clone(w.states), maps.Clone(w.idem), maps.Clone(w.known)
	c.asked, c.loaded, c.open = maps.Clone(w.asked), maps.Clone(w.loaded), maps.Clone(w.open)
	return &c
}

// apply does what a record means.
func (w *world) apply(effects ...effect) {
	for _, e := range effects {
		switch e.kind {
		case "create":
			w.exists, w.status, w.input = true, runs.InProgress, e.in
		case "attempt":
			w.attempts++
			w.status = runs.InProgress
		case "alias":
			w.move(e.from, e.key)
		case "epoch":
			w.dropAll(e.key)
			w.epochs[e.key]++
			w.whole[e.key] = w.epochs[e.key]
		case "alone":
			delete(w.steps, e.key)
			delete(w.notes, e.key)
			w.epochs[e.key]++
		case "start":
			st := w.steps[e.key]
			if st.token == "" {
				st.token = w.token(e.key)
			}
			w.steps[e.key] = mstep{status: "running", in: e.in, tries: st.tries + 1, once: e.once, token: st.token}
		case "done", "said", "fail":
			st := w.steps[e.key]
			st.status, st.value, st.said = "failed", "", e.kind == "said"
			if e.kind != "fail" {
				st.status, st.value = "done", e.text
			}
			w.steps[e.key] = st
		case "map":
			w.maps[e.key] = true
		case "state":
			w.states[e.key] = e.text
			w.loaded[e.key] = true
		case "note":
			w.notes[e.key] = e.text
		case "complete":
			w.status, w.result = runs.Complete, e.text
		case "failed":
			w.status = runs.Failed
		case "waiting":
			w.status = runs.Waiting
		case "clear":
			w.forget()
			w.gen++
		default:
			panic("no such effect: " + e.kind)
		}
	}
}

// isIn reports whether a key is another one or stands inside it.
func isIn(key, outer string) bool { return key == outer || strings.HasPrefix(key, outer+"/") }

func moveIn[V any](m map[string]V, from, to string) {
	for _, key := range slices.Collect(maps.Keys(m)) {
		if isIn(key, from) {
			m[to+key[len(from):]] = m[key]
			delete(m, key)
		}
	}
}

func dropIn[V any](m map[string]V, outer string) {
	maps.DeleteFunc(m, func(key string, _ V) bool { return isIn(key, outer) })
}

// move lets what is recorded under a key, and inside it, go on under another.
func (w *world) move(from, to string) {
	moveIn(w.steps, from, to)
	moveIn(w.maps, from, to)
	moveIn(w.notes, from, to)
	moveIn(w.states, from, to)
	dropIn(w.loaded, from)
	dropIn(w.loaded, to)
	w.epochs[from]++ // what comes there later is another step
	w.whole[from] = w.epochs[from]
}

// dropAll puts everything under a key out of sight.
func (w *world) dropAll(key string) {
	dropIn(w.steps, key)
	dropIn(w.maps, key)
	dropIn(w.notes, key)
	dropIn(w.states, key)
	dropIn(w.loaded, key)
}

// has reports whether anything is recorded under a key or inside it.
func (w *world) has(key string) bool {
	return anyIn(w.steps, key) || anyIn(w.maps, key) || anyIn(w.notes, key) || anyIn(w.states, key)
}

func anyIn[V any](m map[string]V, outer string) bool {
	for key := range m {
		if isIn(key, outer) {
			return true
		}
	}
	return false
}

// openInside reports whether a step inside key has a result, or began and has no end.
func (w *world) openInside(key string) bool {
	for k, st := range w.steps {
		if k != key && isIn(k, key) && (st.status == "done" || st.status == "running") {
			return true
		}
	}
	return false
}

// keptIn reports whether a state or a note is recorded at key or inside it.
func (w *world) keptIn(key string) bool { return anyIn(w.notes, key) || anyIn(w.states, key) }

// inDoubt reports whether a step at key or inside it waits to be resolved.
func (w *world) inDoubt(key string, once bool) bool {
	st := w.steps[key]
	return st.status == "running" && (st.once || once) || w.doubtInside(key)
}

// doubtInside reports whether a step inside key began, has no end and must not run twice.
func (w *world) doubtInside(key string) bool {
	for k, st := range w.steps {
		if k != key && isIn(k, key) && st.status == "running" && st.once {
			return true
		}
	}
	return false
}

// token says what an idempotency key stands for: the run, the step, and how often it or
// what is around it was begun anew or went to another key.
func (w *world) token(key string) string {
	var token strings.Builder
	fmt.Fprint(&token, w.gen, "|", key, "|")
	for end := 0; end <= len(key); end++ {
		switch {
		case end == len(key):
			fmt.Fprint(&token, ".", w.epochs[key])
		case key[end] == '/':
			fmt.Fprint(&token, ".", w.whole[key[:end]])
		}
	}
	return token.String()
}

// sawIdem compares the idempotency key that a step was given with those seen before.
func (w *world) sawIdem(key, seen string) string {
	token := w.steps[key].token
	if before, ok := w.idem[token]; ok && before != seen {
		return fmt.Sprintf("the idempotency key of %q changed", key)
	}
	if other, ok := w.known[seen]; ok && other != token {
		return fmt.Sprintf("the idempotency key of %q (%s) is that of another step (%s)", key, token, other)
	}
	w.idem[token], w.known[seen] = seen, token
	return ""
}

// outer counts the finished steps that are not inside another finished one.
func (w *world) outer() (n int) {
	for key, st := range w.steps {
		if st.status == "done" && !w.insideOne(key, func(k string) bool { return w.steps[k].status == "done" }) {
			n++
		}
	}
	return n
}

// unasked counts the results that this attempt did not ask for.
func (w *world) unasked() (n int) {
	for key, st := range w.steps {
		if st.status == "done" && w.asked[key] == 0 && !w.insideOne(key, func(k string) bool { return w.asked[k] == askAnswered }) {
			n++
		}
	}
	return n
}

func (w *world) insideOne(key string, is func(string) bool) bool {
	for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
		if is(key[:i]) {
			return true
		}
	}
	return false
}

// sees compares a world with what looking at the run shows.
func (w *world) sees(info runs.Info, steps []runs.Step) string {
	if info.Status != w.status || info.Attempts != w.attempts {
		return fmt.Sprintf("it is %s in attempt %d, not %s in attempt %d", info.Status, info.Attempts, w.status, w.attempts)
	}
	counts := map[string]int{}
	for _, got := range steps {
		want, ok := w.steps[got.Key]
		if !ok {
			return fmt.Sprintf("step %q is there", got.Key)
		}
		if got.Status != want.status || got.Tries != want.tries || got.AtMostOnce != want.once {
			return fmt.Sprintf("step %q is %s after %d tries (once %v), not %+v", got.Key, got.Status, got.Tries, got.AtMostOnce, want)
		}
		counts[got.Status]++
	}
	if len(steps) != len(w.steps) || info.Done != counts["done"] || info.Failed != counts["failed"] || info.Running != counts["running"] {
		return fmt.Sprintf("there are %d steps, not %d; counted %d done, %d failed, %d running", len(steps), len(w.steps), info.Done, info.Failed, info.Running)
	}
	return ""
}
