package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// tryJSON is a try as it is shown.
type tryJSON struct {
	Try         int      `json:"try"`
	Status      string   `json:"status"` // done, failed, running, sleeping or cut_short
	BeganAt     jsonTime `json:"began_at"`
	EndedAt     jsonTime `json:"ended_at"`
	TookSeconds float64  `json:"took_seconds"`
	Error       *string  `json:"error"`
	Final       bool     `json:"final"`   // the step failed for good by it
	NextAt      jsonTime `json:"next_at"` // when the next try was due

	took time.Duration
}

// tries lists the tries of one step.
func (a *app) tries(ctx context.Context, arg, key string) error {
	t, err := a.resolve(ctx, arg)
	if err != nil {
		return err
	}
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	home := t.home()
	if home == "" {
		hint := "see: pawl steps " + t.arg
		if !isCheckpoint(t.info) {
			hint = "see its history: pawl log " + t.arg
		}
		return &problem{exit: exitUsage, code: "unsupported", msg: "tries are listed of the runs of a store, and " + cell(arg) + " is in none", hint: hint, err: errors.ErrUnsupported, told: true}
	}
	steps, _, err := readSteps(ctx, t.info.Path, t.info.Owner != nil)
	if err != nil {
		return &problem{msg: cell(t.name), err: err}
	}
	if err := a.mustBeStep(t, steps, key, ""); err != nil {
		return err
	}
	s, err := pawl.Open(home, pawl.MustExist())
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.Tries(ctx, t.info.ID, key)
	if err != nil {
		return &problem{msg: cell(key), err: err}
	}
	var step stepView
	for _, v := range steps {
		if v.Key == key {
			step = v
		}
	}
	views := make([]tryJSON, len(all))
	for i, try := range all {
		views[i] = tryView(try, step, i == len(all)-1)
	}
	a.printTries(t, key, views)
	return nil
}

// tryView shows a try of a step.
func tryView(t runs.Try, s stepView, last bool) tryJSON {
	v := tryJSON{
		Try: t.N, Status: "cut_short", BeganAt: jsonTime(t.Began), EndedAt: jsonTime(t.Ended), TookSeconds: seconds(t.Took),
		Error: text(t.Error), Final: t.Final, NextAt: jsonTime(t.Next), took: t.Took,
	}
	switch {
	case t.Done:
		v.Status = "done"
	case !t.Ended.IsZero():
		v.Status = "failed"
	case last && (s.Status == "running" || s.Status == statusSleeping):
		v.Status = s.Status
	}
	return v
}

func (a *app) printTries(t *target, key string, views []tryJSON) {
	if a.json {
		list := a.out.openList("TryList")
		for _, v := range views {
			list.add(v)
		}
		list.end(struct {
			Run  string `json:"run"`
			Step string `json:"step"`
		}{t.info.ID, key})
		return
	}
	head := []string{"TRY", "STATUS", "BEGAN", "TOOK", "ENDED", "NEXT", "ERROR"}
	var rows [][]string
	for _, v := range views {
		row := []string{
			fmt.Sprint(v.Try), a.out.status(v.Status), milliseconds(v.BeganAt), strconv.FormatFloat(v.TookSeconds, 'f', -1, 64),
			milliseconds(v.EndedAt), milliseconds(v.NextAt), "-",
		}
		if a.out.tty && v.took > 0 {
			row[3] = took(v.took)
		}
		if v.Final {
			row[5] = "final"
		}
		if v.Error != nil {
			row[6] = a.errorText(*v.Error)
		}
		rows = append(rows, row)
	}
	a.out.table(head, rows, 6)
	if a.out.tty && len(rows) == 0 {
		a.hint("no try of it is recorded")
	}
}

// milliseconds returns a time as a history has it: tries follow each other fast.
func milliseconds(at jsonTime) string {
	if time.Time(at).IsZero() {
		return "-"
	}
	return time.Time(at).UTC().Format(logTime)
}
