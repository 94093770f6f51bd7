package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/journal/repair"
	"github.com/pawlgo/pawl/runs"
)

// planJournal asks the library what a repair would do.
func (m *mending) planJournal(ctx context.Context) {
	if m.t.info.Err == nil {
		m.sound(ctx)
		return
	}
	path := canonical(m.t.info.Path) // its name and directory say which run it is
	rep, err := repair.Journal(path, repair.Options{DryRun: true})
	refuse := func(what, hint string) {
		m.refuse(statusDamaged, &problem{
			err: m.t.info.Err, told: true, hint: "nothing was changed; " + hint,
			msg: fmt.Sprintf("%s: %s: %s", cell(m.t.name), what, placeOf(m.t.info.Err)),
		})
	}
	switch {
	case err != nil:
		m.fail(err)
		m.err.hint = cmp.Or(m.err.hint, "nothing was changed")
	case !rep.Needed:
		refuse("there is nothing to repair in it", "every record is whole: give the file its own name back, or remove it if it is a copy")
	case rep.Kept == 0:
		refuse("no record of it can be read", "restore it from a copy, or move it away to start over")
	case rep.HeaderLost && m.t.home() != "" && strings.Contains(filepath.Base(path), "~"):
		// The library would take the part of the ID for the whole.
		refuse("its first record is lost, and with it the run's ID, of which the file's name holds only a part", "restore it from a copy")
	default:
		m.report(rep)
		m.view.Status = statusRepairable
		m.view.After = standing(rep.After)
		m.do = func(ctx context.Context) error { return m.mendJournal(ctx, path) }
	}
}

func (m *mending) mendJournal(ctx context.Context, path string) error {
	rep, err := repair.Journal(path, repair.Options{})
	if err != nil {
		return err
	}
	if !rep.Needed {
		return &problem{exit: exitConflict, code: "conflict", msg: cell(m.t.name) + " was repaired by somebody else meanwhile", hint: "look at it with: pawl show " + m.t.arg}
	}
	m.report(rep)
	original := filepath.Join(filepath.Dir(m.t.info.Path), filepath.Base(rep.Aside))
	m.view.Original = &original
	fold, _, err := check(ctx, path)
	if err != nil {
		return &problem{msg: cell(m.t.name) + " was repaired and cannot be read all the same", err: err, hint: "the original is kept in " + cell(original)}
	}
	m.view.After = standing(fold)
	return nil
}

func (m *mending) report(rep *repair.Report) {
	v := &m.view
	v.Records, v.StatesLost, v.NewIdentity, v.Inferred = rep.Kept, rep.States, rep.HeaderLost, rep.Inferred
	v.Lost = append([]journal.Lost{}, rep.Lost...)
	v.Missing = append([][2]int64{}, rep.Missing...)
}

// standing says how a run stands that nobody owns.
func standing(fold *journal.Fold) *afterJSON {
	c := fold.Counts()
	info := runs.Info{Status: fold.Status}
	after := &afterJSON{Status: statusOf(info), Steps: stepsJSON{Done: c.Done, Failed: c.Failed, Sleeping: c.Sleeping, Waiting: c.Waiting}, InDoubt: []string{}}
	for key, s := range fold.Steps {
		if s.Status == journal.StepRunning && !sleeps(fold, key) {
			after.InDoubt = append(after.InDoubt, key)
		}
	}
	after.Steps.InDoubt = len(after.InDoubt)
	slices.SortFunc(after.InDoubt, func(x, y string) int { return cmp.Compare(fold.Steps[x].First, fold.Steps[y].First) })
	return after
}
