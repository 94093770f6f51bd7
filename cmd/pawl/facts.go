package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/journal"
)

// facts says in short what a record holds.
func (a *app) facts(r *journal.Record) string {
	var f []string
	add := func(format string, args ...any) { f = append(f, fmt.Sprintf(format, args...)) }
	if try := r.Int("try"); try > 0 {
		add("try %d", try)
	}
	if r.Member("us") != nil {
		add("took %s", took(time.Duration(r.Int("us"))*time.Microsecond))
	}
	switch r.Kind {
	case journal.KindRun:
		add("format %d", r.Int("format"))
		if kind := r.Str("run_kind"); kind != "" {
			add("kind %s", cell(kind))
		}
		if id := r.Int("inc"); id > 1 {
			add("incarnation %d", id)
		}
		for _, l := range labelsOf(r) {
			add("label %s", l)
		}
	case journal.KindAttempt:
		add("attempt %d by process %d on %s", r.Int("n"), r.Int("pid"), inline(r.Str("host")))
		a.terms(r, add)
	case journal.KindMap:
		add("%s", count(int(r.Int("total")), "item"))
	case journal.KindState:
		if r.Member("schema") != nil {
			add("schema %d", r.Int("schema"))
		}
		if patch := r.Member("patch"); patch != nil {
			add("patch of %d bytes", len(patch))
		}
	case journal.KindEpoch:
		if r.Bool("alone") {
			add("its older tries are not used any more")
		} else {
			add("older records are not used any more")
		}
		a.signed(r, "resolved by", add)
	case journal.KindAlias:
		add("goes on with what is recorded under %s", cell(r.Str("from")))
	case journal.KindNote:
	case journal.KindStep:
		a.signed(r, "resolved by", add)
	case journal.KindStart:
		if r.Bool("once") {
			add("at most once")
		}
		if until := timeIn(r, "until"); until != "" {
			add("sleeps until %s", until)
		}
	case journal.KindWaiting:
		if until := timeIn(r, "until"); until != "" {
			add("until %s", until)
		}
	case journal.KindCancelled, journal.KindReopen:
		a.signed(r, "by", add)
	case journal.KindRetry:
		add("is tried anew")
		a.signed(r, "by", add)
	case journal.KindAwait:
		add("takes %s", readShape(r.Member("shape")))
		if until := timeIn(r, "until"); until != "" {
			add("until %s", until)
		}
	case journal.KindAnswer:
		if r.Str("by") == "" && r.Member("mail") == nil {
			add("nobody's: it is the default")
		}
		a.signed(r, "by", add)
	case journal.KindRefuse:
		add("is no answer to what was asked")
		a.signed(r, "by", add)
	case journal.KindIgnored:
		switch n := r.Int("items"); {
		case n > 0:
			add("the inputs of %s have changed, which was let pass", count(int(n), "item"))
		case r.Key == "":
			add("the input of the run has changed, which was let pass")
		default:
			add("its input has changed, which was let pass")
		}
	case journal.KindCrash:
		if others := r.Int("others"); others > 0 {
			add("the process died while it and %s were under way: nobody can tell which one it was", count(int(others), "other step"))
		} else {
			add("it was under way alone%s", deathsInARow(max(r.Int("n"), 1)))
		}
	case journal.KindMeter:
		if x, err := strconv.ParseFloat(string(r.Member("amount")), 64); err == nil {
			add("%s %s", exactly(x), cell(r.Str("unit")))
		}
	case journal.KindExport:
		add("ends an export of %s", count(int(r.Int("records")), "record"))
	case journal.KindClear:
		add("starts over")
	case journal.KindRepair:
		add("repaired, %s given up", count(int(r.Int("lost")), "stretch"))
		if from := r.Int("missing_from"); from > 0 {
			add("records missing between %d and %d", from, r.Int("missing_to"))
		}
	case journal.KindFail:
		a.afterFailure(r, add)
	case journal.KindComplete, journal.KindFailed, journal.KindInterrupted:
	default:
		add("not known to this version, %d bytes", len(r.Text))
	}
	if v, ok := r.Value(); ok {
		add("%d bytes", len(v))
	}
	if n := r.Int("was"); n > 0 {
		add("was record %d before the journal was rewritten", n)
	}
	if n := r.Int("unasked"); n > 0 {
		add("%s that nobody asked for", count(int(n), "recorded step"))
	}
	if e := r.Str("error"); e != "" {
		add("%s", a.errorText(e))
	}
	return strings.Join(f, ", ")
}

// terms says under which limits an attempt works.
func (a *app) terms(r *journal.Record, add func(format string, args ...any)) {
	if at := timeIn(r, "deadline"); at != "" {
		add("deadline %s", at)
	}
	fold := journal.NewFold()
	fold.Apply(r)
	for _, unit := range unitsOf(fold.Budget) {
		add("budget %s %s", exactly(fold.Budget[unit]), cell(unit))
	}
}

// afterFailure says what follows a failure.
func (a *app) afterFailure(r *journal.Record, add func(format string, args ...any)) {
	switch next := timeIn(r, "next"); {
	case r.Bool("poison"):
		add("poison")
	case r.Bool("final"):
		add("finally")
	case next != "":
		add("the next one at %s", next)
	}
}

// timeIn returns the time that a member of a record says, "" if there is none.
func timeIn(r *journal.Record, name string) string {
	t, err := time.Parse(time.RFC3339Nano, r.Str(name))
	if err != nil {
		return ""
	}
	return t.UTC().Format(logTime)
}

// signed says who decided what a record says, and why.
func (a *app) signed(r *journal.Record, how string, add func(format string, args ...any)) {
	if by := r.Str("by"); by != "" {
		add("%s %s", how, inline(by))
	}
	if why := r.Str("reason"); why != "" {
		add("because: %s", a.errorText(why))
	}
}

// labelsOf returns the labels in a first record, as NAME=VALUE, in their order.
func labelsOf(r *journal.Record) (all []string) {
	fold := journal.NewFold()
	fold.Apply(r)
	for _, name := range slices.Sorted(maps.Keys(fold.Header.Labels)) {
		all = append(all, cell(name)+"="+cell(fold.Header.Labels[name]))
	}
	return all
}
