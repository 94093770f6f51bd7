package main

import (
	"context"
	"fmt"

	"github.com/pawlgo/pawl"
)

// toChange finds the run of the store that a command is about to change, and that nobody
// has open. The caller closes the store.
func (a *app) toChange(ctx context.Context, what, arg string) (*target, *pawl.Store, error) {
	t, s, err := a.toTell(ctx, what, arg)
	if err == nil && t.info.Owner != nil {
		s.Close()
		return nil, nil, t.owned()
	}
	return t, s, err
}

// toTell finds the run of the store that a command decides about. Its whole ID is needed:
// the beginning of one means another run as soon as there is one more, or one less. The
// caller closes the store.
func (a *app) toTell(ctx context.Context, what, arg string) (*target, *pawl.Store, error) {
	t, err := a.resolve(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case t.store == "":
		hint := "nothing was changed; give the ID of a run"
		if home := t.home(); home != "" && t.info.Err == nil {
			hint = fmt.Sprintf("nothing was changed; name the run by its ID: pawl %s %s --store %s", what, quoteArg(t.info.ID), quoteArg(home))
		}
		return nil, nil, &problem{exit: exitUsage, code: "usage", msg: cell(arg) + " is a file, and not the ID of a run", hint: hint}
	case t.name != arg:
		return nil, nil, &problem{
			exit: exitUsage, code: "usage", msg: fmt.Sprintf("there is no run %q, and the beginning of an ID is not enough to %s one", arg, what),
			hint: fmt.Sprintf("nothing was changed; if you mean it: pawl %s %s", what, t.arg), candidates: []string{t.name},
		}
	}
	s, _, err := a.open()
	return t, s, err
}

// owned is why nothing is done to a run that a process has open.
func (t *target) owned() *problem {
	o := t.info.Owner
	return &problem{
		exit: exitConflict, code: "locked", hint: "nothing was changed; wait until it ends, or end it",
		msg: fmt.Sprintf("%s is owned by process %d on %s since %s", cell(t.name), o.PID, inline(o.Host), stamp(o.Since)),
	}
}
