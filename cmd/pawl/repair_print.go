package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlgo/pawl/runs"
)

// repairPrint prints what was found and done. With shown, people have seen the plan.
func (a *app) repairPrint(all []*mending, f repairFlags, shown, confirmed bool) {
	switch {
	case a.json:
		list := a.out.openList("Repair")
		ok := confirmed
		for _, m := range all {
			list.add(m.view)
			ok = ok && m.err == nil
		}
		list.end(struct {
			DryRun bool `json:"dry_run"`
			OK     bool `json:"ok"`
		}{f.dryRun, ok})
	case !shown:
		a.repairReport(all)
	case confirmed:
		for _, m := range all {
			if m.do != nil {
				a.out.fields(append(a.headline(m), a.outcome(m)...))
			}
		}
	}
	if !confirmed {
		return
	}
	var todo strings.Builder
	for _, m := range all {
		switch m.view.Status {
		case statusRepairable:
			todo.WriteString(" " + m.t.arg)
		case statusRepaired:
			a.afterRepair(m)
		case "ok":
			a.hint("%s is not damaged; nothing was changed", cell(m.t.name))
		case "torn":
			a.hint("%s is not damaged: what is torn the next start cuts off by itself; nothing was changed", cell(m.t.name))
		}
	}
	if todo.String() != "" {
		a.hint("nothing was changed; to do it: pawl repair%s", todo.String())
	}
}

func (a *app) repairReport(all []*mending) {
	for i, m := range all {
		if i > 0 && a.out.tty {
			a.out.line("")
		}
		a.out.fields(append(a.finding(m), a.outcome(m)...))
	}
}

func (a *app) headline(m *mending) fields {
	label := "run"
	if m.t.store == "" {
		label = "file"
	}
	return fields{{label, cell(m.t.name)}, {"status", a.out.status(m.view.Status)}}
}

// finding says what is wrong, what is kept and what is given up.
func (a *app) finding(m *mending) (f fields) {
	v := m.view
	f = a.headline(m)
	if p := v.Problem; p != nil {
		f.add("reason", p.String())
	}
	if v.Refused != nil {
		f.add("refused", inline(v.Refused.Message))
	}
	if v.Torn != nil {
		f.add("torn", tornText(v.Torn))
	}
	kept, lost := "kept", "lost"
	if v.Status == statusRepairable {
		kept, lost = "would keep", "would lose"
	}
	if m.do == nil || m.err != nil {
		return f
	}
	if v.Version != nil {
		f.add(kept, fmt.Sprintf("version %d, saved %s: %s", v.Version.Generation, a.time(time.Time(v.Version.SavedAt)), cell(v.Version.Path)))
		f.add(lost, "what was saved since")
		if m.note != "" && v.Status == statusRepairable {
			f.add("or", m.note)
		}
		return f
	}
	const most = 10 // on a terminal
	f.add(kept, count(int(v.Records), "record"))
	for i, r := range v.Missing {
		switch {
		case i == most && a.out.tty:
			f.add(lost, fmt.Sprintf("and %d more such ranges of records", len(v.Missing)-most))
		case i > most && a.out.tty:
		case r[0] == r[1]:
			f.add(lost, fmt.Sprintf("record %d", r[0]))
		default:
			f.add(lost, fmt.Sprintf("records %d to %d", r[0], r[1]))
		}
	}
	for i, l := range v.Lost {
		switch {
		case i == most && a.out.tty:
			f.add(lost, fmt.Sprintf("and %d more such stretches of bytes", len(v.Lost)-most))
		case i > most && a.out.tty:
		default:
			f.add(lost, fmt.Sprintf("bytes %d to %d: %s", l.Offset, l.Offset+l.Len-1, inline(l.Reason)))
		}
	}
	for _, why := range v.Inferred {
		f.add("inferred", inline(why)+": written anew")
	}
	if v.StatesLost > 0 {
		f.add(lost, fmt.Sprintf("%s, built on a lost one", count(v.StatesLost, "state")))
	}
	if v.NewIdentity {
		f.add(lost, "the run's identity and input: it gets a new UID, and the idempotency keys of its steps change")
	}
	return f
}

// outcome says how the run stands and where the original is.
func (a *app) outcome(m *mending) (f fields) {
	const most = 10 // on a terminal
	v := m.view
	if m.do == nil || m.err != nil {
		return f
	}
	if v.After != nil {
		f.add("then", v.After.Status+stepWords(v.After.Steps))
		label := "runs again"
		if v.After.Status == string(runs.Complete) {
			label = "no result" // and nobody needs it any more
		}
		for i, key := range v.After.InDoubt {
			if i == most && a.out.tty {
				f.add(label, fmt.Sprintf("and %d more", len(v.After.InDoubt)-most))
				break
			}
			f.add(label, cell(key))
		}
	}
	switch {
	case v.Original != nil:
		f.add("original", "kept in "+cell(*v.Original))
	case v.Status == statusRepairable && v.Version != nil:
		f.add("original", "would stay beside it as "+cell(filepath.Base(v.Path)+".damaged"))
	case v.Status == statusRepairable:
		f.add("original", "would stay beside it as "+cell(filepath.Base(v.Path)+".damaged-1"))
	}
	return f
}

func stepWords(s stepsJSON) string {
	if s == (stepsJSON{}) {
		return "" // a journal of states
	}
	words := ", " + count(s.Done, "step") + " done"
	if s.Failed > 0 {
		words += fmt.Sprintf(", %d failed", s.Failed)
	}
	if s.InDoubt > 0 {
		words += fmt.Sprintf(", %d in doubt", s.InDoubt)
	}
	if s.Sleeping > 0 {
		words += fmt.Sprintf(", %d sleeping", s.Sleeping)
	}
	if s.Waiting > 0 {
		words += fmt.Sprintf(", %d waiting for an answer", s.Waiting)
	}
	return words
}

// afterRepair tells people what to type now.
func (a *app) afterRepair(m *mending) {
	switch after := m.view.After; {
	case after == nil:
		a.hint("start its program again and it goes on from version %d", m.view.Version.Generation)
	case after.Status == string(runs.Complete):
		a.hint("print the result with: pawl show %s --result", m.t.arg)
	case after.Steps == (stepsJSON{}):
		a.hint("start its program again and it goes on from what is kept")
	default:
		a.hint("start its program again and it goes on; %s will not run again", count(after.Steps.Done, "finished step"))
	}
}
