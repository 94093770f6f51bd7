package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlgo/pawl/runs"
)

// describe says the important things first: the failure, then what is open.
func (a *app) describe(t *target, d details) (f fields) {
	info := t.info
	switch {
	case t.isCheckpoint() || info.ID == "":
		f.add("file", cell(t.name))
	default:
		f.add("run", cell(info.ID))
	}
	f.add("status", a.out.status(statusOf(info)))
	if o := info.Owner; o != nil {
		line := fmt.Sprintf("process %d on %s since %s", o.PID, inline(o.Host), a.time(o.Since))
		if info.Status == runs.Cancelled {
			line += ", told to stop"
		}
		f.add("owner", line)
	}
	a.describeStop(&f, t)
	if at := placeOf(info.Err); at != nil {
		f.add("reason", inline(at.Reason))
		if at.Seq > 0 {
			f.add("place", fmt.Sprintf("byte %d, record %d", at.Offset, at.Seq))
		}
	} else if info.Error != "" && info.Status != runs.Complete {
		f.add("error", a.fullText(problemText(info)))
	}
	for _, m := range info.Maps {
		line := fmt.Sprintf("%s  %d/%d", cell(m.Key), m.Done, m.Total)
		if m.Failed > 0 {
			line += fmt.Sprintf(", %d failed", m.Failed)
		}
		f.add("progress", line)
	}
	if !t.isCheckpoint() {
		f.add("steps", stepCounts(info))
	}
	a.describeSteps(&f, t, d.steps)
	a.describeQuestions(&f, t, d.asked)
	a.describeTerms(&f, info)
	if info.Kind != "" && !t.isCheckpoint() {
		f.add("kind", inline(info.Kind))
	}
	if p := info.Parent; p != nil {
		f.add("forked from", fmt.Sprintf("%s at record %d", cell(p.ID), p.Seq))
	}
	for _, name := range slices.Sorted(maps.Keys(info.Labels)) {
		f.add("label", cell(name)+"="+cell(info.Labels[name]))
	}
	if info.Input != nil {
		f.add("input", inline(string(info.Input)))
	}
	if d.result != nil {
		f.add("result", a.bytes(int64(len(d.result))))
	}
	if info.Attempts > 0 {
		f.add("attempts", fmt.Sprint(info.Attempts))
	}
	f.add("created", a.time(info.Created))
	f.add("updated", a.time(info.Updated))
	for _, w := range info.Warnings {
		f.add("warning", inline(w))
	}
	if t.isCheckpoint() {
		if info.Records > 0 {
			f.add("saves", fmt.Sprint(info.Records))
		}
		f.add("size", a.bytes(info.Size))
		return f
	}
	f.add("journal", cell(info.Path))
	f.add("records", fmt.Sprint(info.Records))
	f.add("size", a.bytes(info.Size))
	if info.Torn > 0 {
		f.add("torn", a.bytes(info.Torn)+" behind the last record: "+tornMeans(info))
	}
	if info.UID != "" {
		f.add("uid", info.UID)
	}
	if t.store != "" {
		f.add("store", cell(t.store))
	}
	return f
}

// tornMeans says what bytes behind the last record are.
func tornMeans(info runs.Info) string {
	if info.Owner != nil {
		return "being written now"
	}
	return "an interrupted write, never acknowledged; the next start cuts it off and keeps a copy"
}

func stepCounts(info runs.Info) string {
	info.Running -= info.Sleeping
	s := fmt.Sprintf("%d done", info.Done)
	if info.Failed > 0 {
		s += fmt.Sprintf(", %d failed", info.Failed)
	}
	if info.Running > 0 && info.Owner != nil {
		s += fmt.Sprintf(", %d running", info.Running)
	} else if info.Running > 0 {
		s += fmt.Sprintf(", %d in doubt", info.Running)
	}
	if info.Sleeping > 0 {
		s += fmt.Sprintf(", %d sleeping", info.Sleeping)
	}
	if info.Waiting > 0 {
		s += fmt.Sprintf(", %d waiting for an answer", info.Waiting)
	}
	return s + "; took " + took(info.Took)
}

// next tells people what to type now.
func (a *app) next(t *target, d details) {
	switch statusOf(t.info) {
	case statusRunning:
		a.hint("follow it with: pawl log -f %s", t.arg)
	case statusInterrupted:
		a.hint("start its program again and it goes on; %s will not run again", count(t.info.Done, "finished step"))
	case statusWaiting:
		switch at := t.info.WakeAt; {
		case len(d.asked.open) > 0 && d.asked.unanswered() == 0:
			a.hint("it has its answer: start its program again and it goes on")
		case len(d.asked.open) > 0:
			a.hint("when there is an answer, start its program again and it goes on")
		case at.IsZero():
			a.hint("start its program again when what it waits for is there")
		case at.After(a.now()):
			a.hint("start its program again at %s or later and it goes on", stamp(at))
		default:
			a.hint("it need not wait any more: start its program again and it goes on")
		}
	case statusCancelled:
		if t.info.Owner == nil && t.home() != "" {
			a.hint("to go on with it: pawl reopen %s, and start its program again", a.byID(t))
		}
	case statusFailed:
		if n := t.info.Final; n > 0 && t.home() != "" {
			a.hint("%s failed for good; when the cause is mended: pawl retry %s, and start its program again", count(n, "step"), a.byID(t))
			return
		}
		a.hint("start its program again to try again what has no result; the steps: pawl steps %s", t.arg)
	case statusComplete:
		a.hint("print the result with: pawl show %s --result", t.arg)
	case statusInProgress:
		a.hint("start its program again and it goes on from this state")
	}
}

// time, bytes and errorText say a value for people on a terminal, for programs
// elsewhere.
func (a *app) time(t time.Time) string {
	if !a.out.tty || t.IsZero() {
		return stamp(t)
	}
	return fmt.Sprintf("%s (%s)", stamp(t), age(t, a.now()))
}

func (a *app) bytes(n int64) string {
	if !a.out.tty {
		return fmt.Sprint(n)
	}
	return size(n)
}

func (a *app) fullText(s string) string {
	const most = 20
	if !a.out.tty {
		return inline(s)
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], "(+"+count(more, "line")+")")
	}
	for i, l := range lines {
		lines[i] = inline(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

func (a *app) errorText(s string) string {
	if !a.out.tty {
		return inline(s)
	}
	return firstLine(s)
}
