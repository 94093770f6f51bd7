package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl"
)

// load reads the state of a scope, or the note of a step.
func (x *random) load(p place, kind string) error {
	c := &request{kind: kind, key: p.path}
	if !x.m.ask(c) {
		return errDead
	}
	load := pawl.LoadNote[string]
	if kind == "load" {
		load = loadState
	}
	text, found, err := load(p.ctx)
	if err == nil && found != (text != "") {
		err = fmt.Errorf("found is %v of %q", found, text)
	}
	if !x.m.returned(c, seen{value: text, err: err}) {
		return errDead
	}
	return err
}

// randomState is a state of which a part changes.
type randomState struct {
	Text string
	Log  []string
}

// loadState returns the text of a state, checking that it is whole.
func loadState(ctx context.Context) (string, bool, error) {
	st, found, err := pawl.LoadState[randomState](ctx)
	if err == nil && found && (len(st.Log) != 30 || slices.Index(st.Log, st.Text) < 0) {
		text, _ := json.Marshal(st)
		err = fmt.Errorf("another state than was saved: %s", text)
	}
	return st.Text, found, err
}

func (x *random) save(p place) error {
	c := &request{kind: "save", key: p.path, text: x.unique("state of " + p.path)}
	if x.fate(p.path+"=").IntN(6) == 0 {
		c.text = "the state that there often is" // perhaps already
	}
	st := randomState{Text: c.text, Log: slices.Repeat([]string{"what stays the same of it"}, 30)}
	st.Log[len(c.text)%30] = c.text
	return x.simple(c, func() error { return pawl.SaveState(p.ctx, st) })
}

func (x *random) note(p place) error {
	c := &request{kind: "note", key: p.step.key, text: x.unique("note of " + p.path)}
	return x.simple(c, func() error { return pawl.Note(p.ctx, c.text) })
}
