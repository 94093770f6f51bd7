package pawl_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// node is a call in a random program. A program is a list of them, and so is what the
// function of a step or of the items of a Map does.
type node struct {
	op    string // "step", "map", "state", "blind save", "scope", "at once", "cancel", "compact", "busy"
	name  string
	body  []*node
	onErr string // what the program does with an error: "return", "ignore", "again", "recover"

	in                  int // version of its input, 0 for none
	rerun, ignore, once bool
	alias               string
	late                bool // its context has a deadline that has passed
	items               []randomItem
	parallel            int
	skip                bool // this start's program does not have it
}

// randomItem is an item of a Map.
type randomItem struct {
	Key     string
	Content int
}

var names = []string{"a", "b", "c", "d/e", "f~g"}

// generate makes the body of a program, depth levels deep.
func generate(r *rand.Rand, depth int, inStep bool) (body []*node) {
	used := map[string]bool{}
	for range 1 + r.IntN(3) {
		n := &node{onErr: pick(r, "return", "return", "ignore", "again", "recover"), name: names[r.IntN(len(names))]}
		n.op = pick(r, "step", "step", "step", "step", "map", "map", "state", "state", "scope", "at once", "blind save", "cancel", "compact", "busy")
		if (n.op == "cancel" || n.op == "busy") && r.IntN(3) > 0 {
			n.op = "step" // rarely: little happens behind them
		}
		switch n.op {
		case "at once":
			if depth == 0 {
				n.op = "step"
				break
			}
			for i := range 2 + r.IntN(2) { // of different names: a race has no right outcome
				in := &node{op: pick(r, "step", "step", "map"), name: fmt.Sprint(n.name, "@", len(body), i), onErr: "return", in: r.IntN(3), once: r.IntN(6) == 0, parallel: 2}
				if in.op == "map" {
					in.items = []randomItem{{Key: "i0"}, {Key: "i1"}}
				}
				if depth > 1 {
					in.body = generate(r, depth-2, true)
				}
				n.body = append(n.body, in)
			}
			body = append(body, n)
			continue
		case "scope":
			if n.name = strings.ReplaceAll(n.name, "~", ""); depth == 0 || used[n.name] {
				n.op = "state"
			}
		case "step", "map":
			if used[n.name] && r.IntN(4) > 0 {
				n.name += fmt.Sprint(len(body))
			}
		}
		if depth == 0 && n.op == "map" {
			n.op = "step"
		}
		used[n.name] = true
		n.in, n.once = r.IntN(3), r.IntN(5) == 0
		if n.op == "map" {
			n.parallel = 1 + r.IntN(3)
			n.once = r.IntN(12) == 0
			for i := range r.IntN(5) {
				n.items = append(n.items, randomItem{Key: fmt.Sprint(pick(r, "i", "j/k"), i)})
			}
		}
		if depth > 0 {
			n.body = generate(r, depth-1, n.op != "scope" || inStep)
		}
		body = append(body, n)
	}
	return body
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// edit changes a program between two starts, as people do after a crash.
func edit(r *rand.Rand, body []*node, calm bool) {
	for i, n := range body {
		n.skip = !calm && r.IntN(14) == 0
		n.late = !calm && r.IntN(60) == 0
		n.rerun = calm || r.IntN(2) == 0
		n.ignore = !calm && r.IntN(8) == 0
		if n.in > 0 && r.IntN(4) == 0 {
			n.in++
		}
		switch {
		case calm:
		case r.IntN(7) == 0: // renamed, and the program says so
			n.alias, n.name = n.name, n.name+"'"
		case r.IntN(10) == 0:
			n.alias, _, _ = strings.Cut(body[r.IntN(i+1)].name, "/") // a key that is in use, perhaps
		case r.IntN(4) == 0:
			n.alias = ""
		}
		if n.op == "step" && !calm && r.IntN(40) == 0 {
			n.op, n.items, n.parallel = "map", []randomItem{{Key: "i0"}, {Key: "i1"}}, 2 // the same work, divided
		}
		if n.op == "map" {
			n.items = editItems(r, n.items)
			n.parallel = 1 + r.IntN(3)
		}
		edit(r, n.body, calm)
	}
}

// editItems changes the items of a Map.
func editItems(r *rand.Rand, items []randomItem) []randomItem {
	items = slices.Clone(items)
	if r.IntN(3) == 0 {
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	if len(items) > 0 && r.IntN(6) == 0 {
		items = items[1:]
	}
	if len(items) > 0 && r.IntN(4) == 0 {
		items[r.IntN(len(items))].Content++
	}
	if len(items) < 5 && r.IntN(6) == 0 {
		items = append(items, randomItem{Key: fmt.Sprint("n", r.IntN(3))}) // its key may be there already
	}
	return items
}

// fate draws how a call of a function ends. It depends on the call and not on when it is
// made, so that a seed tells the whole program, in parallel too.
func (x *random) fate(key string) *rand.Rand {
	x.mu.Lock()
	x.calls[key]++
	n := x.calls[key]
	x.mu.Unlock()
	h := fnv.New64a()
	fmt.Fprint(h, x.seed, "|", x.start, "|", key, "|", n)
	return rand.New(rand.NewPCG(h.Sum64(), x.seed))
}
