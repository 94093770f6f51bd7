package main

import (
	"fmt"
	"time"
)

// groups are the kinds of steps that a description lists, and their labels.
var groups = []struct{ status, label string }{
	{"failed", "failed"}, {"in_doubt", "in doubt"}, {"running", "running"}, {statusSleeping, "sleeping"},
}

// describeSteps lists the steps without a result, a few of each kind, and says what to type
// about those that do not go on by themselves.
func (a *app) describeSteps(f *fields, t *target, steps []stepView) {
	const most = 10
	for _, group := range groups {
		n := 0
		for _, s := range steps {
			if s.Status != group.status {
				continue
			}
			if n++; n > most && a.out.tty {
				continue
			}
			f.add(group.label, a.stepLine(s))
			if s.note() != "-" {
				f.add("its note", s.note())
			}
			if s.Status == "in_doubt" && s.AtMostOnce && t.home() != "" {
				resolve := "pawl resolve " + quoteArg(t.info.ID) + " " + quoteArg(s.Key) + a.where(t)
				f.add("if done", resolve+" --done JSON")
				f.add("if not", resolve+" --rerun")
			}
		}
		if n > most && a.out.tty {
			f.add(group.label, fmt.Sprintf("and %d more: pawl steps %s --status %s", n-most, t.arg, group.status))
		}
		a.describeRetry(f, t, steps, group.status)
	}
}

// stepLine says how a step without a result stands.
func (a *app) stepLine(s stepView) string {
	line := cell(s.Key)
	if s.Status == statusSleeping {
		return line + "  until " + a.when(time.Time(s.UntilAt))
	}
	if s.Tries == 0 && s.Final && s.Error != nil { // a question that nobody has answered
		return line + "  finally: " + a.errorText(*s.Error)
	}
	line += fmt.Sprintf("  try %d", s.Tries)
	deaths := deathsInARow(s.Deaths)
	if s.Status != "failed" || s.Error == nil {
		line += ", began " + a.time(time.Time(s.StartedAt)) + deaths
		if s.Status == "in_doubt" {
			line += ", " + thenWhat(s)
		}
		return line
	}
	switch {
	case s.Poison: // which is what its error says
		return line + ", poison" + deaths
	case s.Final:
		line += ", finally"
	case !time.Time(s.NextAt).IsZero():
		line += ", the next one at " + a.when(time.Time(s.NextAt))
	}
	return line + ": " + a.errorText(*s.Error)
}

// deathsInARow says at how many deaths a step was under way, if at any.
func deathsInARow(n int64) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", the process died"
	}
	return fmt.Sprintf(", %d processes in a row died", n)
}

// describeRetry says how steps that failed for good are tried anew.
func (a *app) describeRetry(f *fields, t *target, steps []stepView, status string) {
	if status != "failed" || t.home() == "" {
		return
	}
	id := quoteArg(t.info.ID)
	var final []stepView
	for _, s := range steps {
		if s.Final {
			final = append(final, s)
		}
	}
	switch len(final) {
	case 0:
	case 1:
		f.add("try anew", "pawl retry "+id+" "+quoteArg(final[0].Key)+a.where(t))
	default:
		f.add("try anew", "pawl retry "+id+a.where(t)+", or STEP behind "+id+" for one of them")
	}
}

// where names the store of a run in a command to type next.
func (a *app) where(t *target) string {
	if t.store == "" {
		return " --store " + quoteArg(t.home())
	}
	return a.again()
}

// byID names a run of a store in a command to type next that takes no path.
func (a *app) byID(t *target) string { return quoteArg(t.info.ID) + a.where(t) }

// thenWhat says what the next start does about a step in doubt.
func thenWhat(s stepView) string {
	if s.AtMostOnce {
		return "at most once: the next start stops there until it is resolved"
	}
	return "runs again"
}
