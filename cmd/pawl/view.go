package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// Words for how a run stands. They are part of the JSON.
const (
	statusRunning     = "running"     // a live process has it open
	statusInterrupted = "interrupted" // in progress, and nobody has it open
	statusInProgress  = "in_progress" // a checkpoint file that is not complete: it does not say whether someone works on it
	statusComplete    = "complete"
	statusFailed      = "failed"
	statusWaiting     = "waiting"   // its last attempt ended since it has to wait; or a question has no answer
	statusCancelled   = "cancelled" // somebody cancelled it
	statusDamaged     = "damaged"
	statusNewer       = "newer"      // written by a newer pawl
	statusUnreadable  = "unreadable" // the operating system refuses, or it is no file
	statusMissing     = "missing"    // there is no such run or file, and there are others to look at
)

// statusSleeping is a step that waits for a time.
const statusSleeping = "sleeping"

var statuses = []string{
	statusRunning, statusInterrupted, statusInProgress, statusComplete, statusFailed,
	statusWaiting, statusCancelled, statusDamaged, statusNewer, statusUnreadable, statusMissing,
}

func statusOf(info runs.Info) string {
	switch {
	case errors.Is(info.Err, pawl.ErrCorrupt):
		return statusDamaged
	case errors.Is(info.Err, pawl.ErrNewerFormat):
		return statusNewer
	case info.Err != nil:
		if exit, _ := classify(info.Err); exit == exitNotFound {
			return statusMissing
		}
		return statusUnreadable
	case info.Status != runs.InProgress:
		return string(info.Status)
	case info.Owner != nil:
		return statusRunning
	case isCheckpoint(info):
		return statusInProgress
	}
	return statusInterrupted
}

var symbols = map[string]string{
	statusRunning: "▶", statusInterrupted: "⏸", statusInProgress: "▷", statusComplete: "✓", statusFailed: "✗",
	statusWaiting: "◷", statusSleeping: "◷", statusCancelled: "■", statusDamaged: "!", statusNewer: "!", statusUnreadable: "!", statusMissing: "!",
	"done": "✓", "in_doubt": "?", "cut_short": "✂", "ok": "✓", "torn": "~", statusRepairable: "!", statusRepaired: "✓", statusOwned: "▶",
}

// status shows a status word: with a symbol on a terminal.
func (o *output) status(word string) string {
	if !o.tty {
		return word
	}
	text := word
	switch word {
	case statusInProgress:
		text = "in progress"
	case "in_doubt":
		text = "in doubt"
	case "cut_short":
		text = "cut short"
	}
	if s := symbols[word]; s != "" {
		return s + " " + text
	}
	return text
}

// mainMap returns the Map that a run mostly consists of, nil if there is none: most
// of its steps are items of this Map.
func mainMap(info runs.Info) *runs.Progress {
	var largest *runs.Progress
	for i := range info.Maps {
		if m := &info.Maps[i]; largest == nil || m.Total > largest.Total {
			largest = m
		}
	}
	if largest == nil || 2*largest.Total < info.Done+info.Failed+info.Running {
		return nil
	}
	return largest
}

func progress(info runs.Info) string {
	if m := mainMap(info); m != nil {
		return fmt.Sprintf("%d/%d", m.Done, m.Total)
	}
	if info.Err != nil || isCheckpoint(info) {
		return "-"
	}
	return count(info.Done, "step")
}

func owner(info runs.Info) string {
	if info.Owner == nil {
		return "-"
	}
	return fmt.Sprintf("%d@%s", info.Owner.PID, inline(info.Owner.Host))
}

// problemText says in one text why a run failed or cannot be read, without its ID
// and path: they are known.
func problemText(info runs.Info) string {
	if info.Err != nil {
		at := placeOf(info.Err)
		at.Reason = strings.TrimPrefix(at.Reason, at.Path+": ")
		at.Path = ""
		return at.String()
	}
	return strings.TrimPrefix(info.Error, fmt.Sprintf("pawl: run %q ", info.ID))
}

// The JSON of a run. Every member is always there; what does not apply is null.
type (
	runJSON struct {
		ID          *string       `json:"id"`
		Status      string        `json:"status"`
		RunKind     *string       `json:"run_kind"`
		Labels      labels        `json:"labels"`
		Parent      *parentJSON   `json:"parent"` // of a fork
		Owner       *ownerJSON    `json:"owner"`
		Attempts    int           `json:"attempts"`
		Steps       stepsJSON     `json:"steps"`
		Progress    *mapJSON      `json:"progress"` // of the Map that most steps belong to
		TookSeconds float64       `json:"took_seconds"`
		Spent       amounts       `json:"spent"`  // over all starts, by unit
		Kept        amounts       `json:"kept"`   // of that, what the finished steps used: a start does not pay it again
		Budget      amounts       `json:"budget"` // what the newest start may use in all
		DeadlineAt  jsonTime      `json:"deadline_at"`
		WakeAt      jsonTime      `json:"wake_at"` // of a waiting run, null if that is not known
		Cancelled   *decisionJSON `json:"cancelled"`
		CreatedAt   jsonTime      `json:"created_at"`
		UpdatedAt   jsonTime      `json:"updated_at"`
		Error       *string       `json:"error"`
		Records     int64         `json:"records"`
		Bytes       int64         `json:"bytes"`
		TornBytes   int64         `json:"torn_bytes"`
		Path        string        `json:"path"`
		Problem     *problemJSON  `json:"problem"`
	}
	parentJSON struct {
		ID  string `json:"id"`
		UID string `json:"uid"`
		Seq int64  `json:"seq"`
	}
	ownerJSON struct {
		Host  string   `json:"host"`
		PID   int      `json:"pid"`
		Since jsonTime `json:"since"`
	}
	stepsJSON struct {
		Done     int `json:"done"`
		Failed   int `json:"failed"`
		Running  int `json:"running"`  // under way in a live process
		InDoubt  int `json:"in_doubt"` // under way when the process died
		Sleeping int `json:"sleeping"` // waiting for a time
		Waiting  int `json:"waiting"`  // questions that wait for an answer
	}
	mapJSON struct {
		Map    string `json:"map"`
		Done   int    `json:"done"`
		Failed int    `json:"failed"`
		Total  int    `json:"total"`
	}
	problemJSON struct {
		Code string `json:"code"`
		place
	}
)

// labels are names and values, null if there are none.
type labels map[string]string

// have reports whether all of some labels are there.
func (l labels) have(want labels) bool {
	for name, value := range want {
		if got, ok := l[name]; !ok || got != value {
			return false
		}
	}
	return true
}

func runView(info runs.Info) runJSON {
	v := runJSON{
		ID: text(info.ID), Status: statusOf(info), RunKind: text(info.Kind), Labels: info.Labels, Parent: parentOf(info), Attempts: info.Attempts,
		Steps: stepsJSON{Done: info.Done, Failed: info.Failed, Sleeping: info.Sleeping, Waiting: info.Waiting}, TookSeconds: seconds(info.Took),
		Spent: amountsOf(info.Spent), Kept: amountsOf(info.Kept), Budget: amountsOf(info.Budget),
		DeadlineAt: jsonTime(info.Deadline), WakeAt: jsonTime(info.WakeAt), Cancelled: decisionOf(info.Cancel),
		CreatedAt: jsonTime(info.Created), UpdatedAt: jsonTime(info.Updated), Error: text(info.Error),
		Records: info.Records, Bytes: info.Size, TornBytes: info.Torn, Path: info.Path,
	}
	if info.Owner != nil {
		v.Owner = &ownerJSON{info.Owner.Host, info.Owner.PID, jsonTime(info.Owner.Since)}
		v.Steps.Running = info.Running - info.Sleeping
	} else {
		v.Steps.InDoubt = info.Running - info.Sleeping
	}
	if m := mainMap(info); m != nil {
		v.Progress = &mapJSON{m.Key, m.Done, m.Failed, m.Total}
	}
	v.Problem = problemOf(info)
	return v
}

// problemOf says where and why a run cannot be read, nil if it can.
func problemOf(info runs.Info) *problemJSON {
	if info.Err == nil {
		return nil
	}
	_, code := classify(info.Err)
	p := &problemJSON{code, *placeOf(info.Err)}
	p.Path = cmp.Or(p.Path, info.Path)
	return p
}

// text is s, or null for nothing.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// raw is JSON text, or null.
func raw(b []byte) json.RawMessage {
	if b == nil {
		return json.RawMessage("null")
	}
	return b
}

// readProblem is how a command ends that met a run which cannot be read.
func (a *app) readProblem(t *target) *problem {
	p := &problem{err: t.info.Err, told: true, msg: fmt.Sprintf("%s cannot be read: %s", cell(t.name), placeOf(t.info.Err))}
	p.exit, p.code = classify(p.err)
	switch statusOf(t.info) {
	case statusDamaged:
		p.hint = "nothing was changed, and its program refuses to start it; what a repair would keep: pawl repair --dry-run " + t.arg
	case statusNewer:
		p.hint = "nothing was changed; use the newer pawl"
	default:
		p.hint = "nothing was changed"
		if p.code == "denied" {
			p.hint += "; see who may read the file"
		}
	}
	return p
}

func parentOf(info runs.Info) *parentJSON {
	if info.Parent == nil {
		return nil
	}
	return &parentJSON{info.Parent.ID, info.Parent.UID, info.Parent.Seq}
}
