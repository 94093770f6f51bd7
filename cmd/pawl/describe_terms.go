package main

import (
	"fmt"

	"github.com/pawlgo/pawl/runs"
)

// describeStop says why a run does not go on: who cancelled it, or what it waits for.
func (a *app) describeStop(f *fields, t *target) {
	switch info := t.info; {
	case info.Cancel != nil:
		f.add("cancelled", a.decided(info.Cancel))
		if t.home() != "" && info.Owner == nil {
			f.add("to go on", "pawl reopen "+a.byID(t))
		}
	case info.Status == runs.Waiting && info.Waiting > 0:
		line := "for " + count(info.Waiting, "answer")
		if !info.WakeAt.IsZero() {
			line += ", or until " + a.when(info.WakeAt)
		}
		f.add("waits", line)
	case info.Status == runs.Waiting && info.WakeAt.IsZero():
		f.add("waits", "for what is not a matter of time")
	case info.Status == runs.Waiting:
		f.add("waits", "until "+a.when(info.WakeAt))
	}
}

// describeTerms says what a run has used, what of it the next start does not pay again, and
// what limits it.
func (a *app) describeTerms(f *fields, info runs.Info) {
	for _, unit := range unitsOf(info.Spent, info.Budget) {
		line := a.out.amount(unit, info.Spent[unit])
		if limit, ok := info.Budget[unit]; ok {
			line = a.out.number(unit, info.Spent[unit]) + " of " + a.out.amount(unit, limit)
			if left := limit - info.Spent[unit]; left > 0 && exactly(left) != "0" {
				line += ", " + a.out.number(unit, left) + " left"
			} else {
				line += ", used up"
			}
		}
		f.add("spent", line)
	}
	if info.Kept != nil && info.Status != runs.Complete {
		f.add("kept", fmt.Sprintf("%s, %s: the next start does not pay that again", a.out.amounts(info.Kept), took(info.Took)))
	}
	if !info.Deadline.IsZero() && info.Status != runs.Complete {
		f.add("deadline", a.when(info.Deadline))
	}
}
