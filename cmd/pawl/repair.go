package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

type repairFlags struct{ dryRun, yes bool }

func (a *app) repairCommand() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use:     "repair REF...",
		Short:   "Make a damaged run or checkpoint readable again; the original is kept",
		GroupID: "check",
		Example: `  pawl repair --dry-run research     what would be kept, and what given up
  pawl repair research
  pawl repair checkpoints/a.json     go back to the newest good version
  pawl repair --yes research --json | jq '.items[].original'`,
		Long: `A journal keeps every record that is whole. What is given up is named: stretches of
bytes, numbers of records, states that build on a lost one, and the run's identity if
its first record is lost. A step whose result is given up runs again on the next start.

A checkpoint file goes back to the newest good version that pawl.KeepVersions kept. The
work since then runs again.

Nothing is destroyed: the damaged original stays beside the repaired file, as NAME.damaged-1
or, of a checkpoint file, as NAME.damaged. To undo a repair, rename it back while no
program has the run open.

What runs again has effects that no file undoes, so there is a question first. It is
asked only if standard input and standard error are terminals; elsewhere --yes is needed,
and without it the plan is printed and the exit code is 8.

What is not damaged is left alone, also a torn tail, which the next start cuts off by
itself. A run that a process has open is refused, with --dry-run too. That one takes no
lock and leaves nothing behind.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 owned · 6 nothing readable · 8 not confirmed"},
		Args:              someRefs,
		ValidArgsFunction: a.completeRefs,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.repair(cmd.Context(), args, f) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// Words for what a repair found or did, beside those of a run. Part of the JSON.
const (
	statusRepairable = "repairable"
	statusRepaired   = "repaired"
	statusOwned      = "owned"
)

// repairJSON is what a repair found at one REF, and what it did or would do.
type repairJSON struct {
	ID      *string      `json:"id"`
	Status  string       `json:"status"` // repairable, repaired, ok, torn, owned, damaged (not to be repaired), newer, unreadable
	Path    string       `json:"path"`
	Problem *problemJSON `json:"problem"` // what is wrong with the file
	Refused *refusedJSON `json:"refused"` // why it is not repaired in spite of that
	Torn    *tornJSON    `json:"torn"`

	// Of a journal.
	Records     int64          `json:"records"`            // kept
	Lost        []journal.Lost `json:"lost"`               // stretches of bytes given up
	Missing     [][2]int64     `json:"missing"`            // numbers of records given up, from and to
	Inferred    []string       `json:"inferred,omitempty"` // records that must be among the lost ones, written anew
	StatesLost  int            `json:"states_lost"`        // whole records whose state builds on a lost one
	NewIdentity bool           `json:"new_identity"`       // the first record is lost

	// Of a checkpoint file.
	Version *keptJSON `json:"version"` // that it goes back to

	After    *afterJSON `json:"after"`    // how the run stands without what is given up
	Original *string    `json:"original"` // where the damaged file is kept
}

type refusedJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type keptJSON struct {
	Path       string   `json:"path"`
	Generation int64    `json:"generation"`
	SavedAt    jsonTime `json:"saved_at"`
}

type afterJSON struct {
	Status  string    `json:"status"`
	Steps   stepsJSON `json:"steps"`
	InDoubt []string  `json:"in_doubt"` // keys of the steps that began and have no result: they run again if it is not complete
}

// mending is one REF under repair.
type mending struct {
	t    *target
	view repairJSON
	do   func(ctx context.Context) error // repairs it; nil if there is nothing to do
	err  *problem                        // why it is not repaired
	note string                          // what else can be done
}

func (a *app) repair(ctx context.Context, args []string, f repairFlags) error {
	var all []*mending
	var todo, questions []string
	for _, arg := range args {
		t, err := a.resolve(ctx, arg)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(m *mending) bool { return canonical(m.t.info.Path) == canonical(t.info.Path) }) {
			continue
		}
		m := a.plan(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, m)
		if m.do != nil {
			todo = append(todo, t.arg)
			questions = append(questions, m.question())
		}
	}
	var unconfirmed error
	shown := false // the plan
	if !f.dryRun && !f.yes && len(todo) > 0 {
		if shown = a.out.tty && !a.json; shown {
			a.repairReport(all)
		}
		unconfirmed = a.confirm(ctx, fmt.Sprintf("What is given up runs again on the next start. Repair %s?", strings.Join(questions, ", ")),
			"pawl repair --yes "+strings.Join(todo, " "))
	}
	if !f.dryRun && unconfirmed == nil {
		for _, m := range all {
			if m.do == nil {
				continue
			}
			err := ctx.Err()
			if err == nil {
				err = m.do(ctx)
			}
			if m.view.Status = statusRepaired; err != nil {
				m.fail(err)
			}
		}
	}
	a.repairPrint(all, f, shown, unconfirmed == nil)
	if unconfirmed != nil {
		return unconfirmed
	}
	var failed []*problem
	for _, m := range all {
		if m.err != nil {
			failed = append(failed, m.err)
		}
	}
	return together(failed, len(all), "not repaired")
}

// plan finds out what is wrong and what can be done about it.
func (a *app) plan(ctx context.Context, t *target) *mending {
	m := &mending{t: t}
	m.view = repairJSON{ID: text(t.info.ID), Path: t.info.Path, Lost: []journal.Lost{}, Missing: [][2]int64{}}
	m.view.Status, m.view.Problem = statusOf(t.info), problemOf(t.info)
	switch {
	case t.info.Owner != nil:
		m.refuse(statusOwned, t.owned())
	case t.info.Err != nil && !errors.Is(t.info.Err, pawl.ErrCorrupt):
		m.refuse(m.view.Status, a.readProblem(t))
	case t.isCheckpoint():
		m.planFile(ctx)
	default:
		m.planJournal(ctx)
	}
	return m
}

// question names it and what it costs: standard output may be a file.
func (m *mending) question() string {
	v := m.view
	if v.Version != nil {
		return fmt.Sprintf("%s (back to version %d)", cell(m.t.name), v.Version.Generation)
	}
	return fmt.Sprintf("%s (%s kept, %s given up)", cell(m.t.name), count(int(v.Records), "record"), count(len(v.Lost), "stretch"))
}

// sound is for what needs no repair, as far as records and checksums show.
func (m *mending) sound(ctx context.Context) {
	v := judge(ctx, m.t, neighbours{})
	m.view.Status, m.view.Problem, m.view.Torn, m.view.Records = v.Status, v.Problem, v.Torn, v.Records
	if v.Problem != nil {
		m.refuse(statusDamaged, &problem{
			err: m.t.info.Err, told: true, msg: fmt.Sprintf("%s cannot be repaired: %s", cell(m.t.name), placeOf(m.t.info.Err)),
			hint: "nothing was changed; every record is whole, so it was written so: restore the file from a copy",
		})
	}
}

func (m *mending) refuse(status string, p *problem) {
	m.view.Status, m.err = status, p
	m.view.Refused = &refusedJSON{explain(p).code, strings.TrimPrefix(p.Error(), "pawl: ")}
}

// fail says why it could not be repaired.
func (m *mending) fail(err error) {
	p, ok := errors.AsType[*problem](err)
	if !ok {
		p = explain(&problem{msg: cell(m.t.name) + " was not repaired", err: err})
	}
	status := statusUnreadable
	switch p.code {
	case "locked":
		status = statusOwned
	case "corrupt":
		status = statusDamaged
	case "newer_format":
		status = statusNewer
	case "conflict":
		status = "ok" // mended meanwhile
	}
	m.refuse(status, p)
}

// together is how a command ends that did not succeed with each of its arguments.
// The details were printed.
func together(failed []*problem, total int, what string) error {
	if len(failed) == 0 {
		return nil
	}
	if total == 1 {
		return failed[0]
	}
	p := &problem{msg: fmt.Sprintf("of %d, %s: %d", total, what, len(failed)), hint: "each is explained in the output"}
	for _, one := range failed {
		e := explain(one)
		if p.exit == 0 || worse(e.exit, p.exit) {
			p.exit, p.code = e.exit, e.code
		}
	}
	return p
}

// worse orders exit codes: damage matters more than what is owned or may not be
// read, and that more than what another program can read.
func worse(exit, than int) bool {
	return exit != than && (exit == exitCorrupt || exit > than && than != exitCorrupt)
}
