package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/runs"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify [REF...]",
		Short:   "Check every byte of runs, or of the whole store",
		GroupID: "check",
		Example: `  pawl verify                        the whole store
  pawl verify research               one run
  pawl verify backup/*.jsonl         journals anywhere
  pawl verify --json | jq '.items[] | select(.status=="damaged")'`,
		Long: `Reads everything, changes nothing, takes no lock; safe beside a live owner. Beyond
the checksums it sees to it that every value is JSON, that the newest state comes
together, and that a complete run has its result. A run is
  ok       every record verified
  torn     the same, and bytes of an interrupted write follow. They were never
           acknowledged; the next start cuts them off and keeps a copy. No error.
  damaged  something that was acknowledged cannot be trusted. Path, offset, record and
           reason are given. Its program refuses to start it; nothing was changed.
           What a repair would keep: pawl repair --dry-run
  newer    written by a newer pawl
  unreadable  the system refuses, or it is no file
  missing  there is no such run or file; the others are looked at all the same
Files that were left over beside it are named: torn-N, damaged-N and cleared-N hold what a
start, a repair or pawl clear set aside, and may be removed by whoever has no use for them.`,
		Annotations:       map[string]string{"exit": "3 not found · 6 damage was found"},
		ValidArgsFunction: a.completeRefs,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), args) },
	}
}

// verdict is the JSON of what was found in one run.
type verdict struct {
	ID      *string      `json:"id"`
	Status  string       `json:"status"`
	Records int64        `json:"records"`
	Bytes   int64        `json:"bytes"`
	Torn    *tornJSON    `json:"torn"`
	Path    string       `json:"path"`
	Problem *problemJSON `json:"problem"`

	Warnings  []string   `json:"warnings"`
	Leftovers []leftover `json:"leftovers"`
}

type tornJSON struct {
	Bytes  int64  `json:"bytes"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Live   bool   `json:"live"` // a live owner is writing them
}

func (a *app) verify(ctx context.Context, args []string) error {
	var list *jsonList // opened late: a store that is not there leaves no output
	open := func() {
		if list == nil {
			list = a.out.openList("Verification")
		}
	}
	var bad []listed
	total := 0
	beside := neighbours{}
	one := func(t *target) error {
		v := judge(ctx, t, beside)
		if ctx.Err() != nil {
			return ctx.Err() // half a look is no verdict
		}
		total++
		if t.info.Err != nil {
			bad = append(bad, a.listed(t))
		}
		if a.json {
			open()
			list.add(v)
		} else {
			a.verdict(t.name, v)
		}
		a.out.flush() //nolint:errcheck // kept for the end; a big store takes long
		return nil
	}
	orphans, err := a.eachRun(ctx, args, beside, one)
	if a.json && (err == nil || list != nil) {
		open()
		list.end(struct {
			OK        bool       `json:"ok"`
			Leftovers []leftover `json:"leftovers"` // of runs that are not there
		}{err == nil && len(bad) == 0, append([]leftover{}, orphans...)})
	}
	if err != nil {
		return err
	}
	for _, l := range orphans {
		a.hint("%s; there is no such run", l)
	}
	switch {
	case len(bad) > 0:
		return a.badRuns(bad, total)
	case total > 0:
		a.hint("%s verified, no damage", count(total, "run"))
	default:
		a.hint("the store is empty")
	}
	return nil
}

// eachRun calls fn for the runs asked for, or all of the store. Of the store it also
// returns what was left over beside none of them.
func (a *app) eachRun(ctx context.Context, args []string, beside neighbours, fn func(*target) error) ([]leftover, error) {
	for _, arg := range args {
		t, err := a.oneOf(ctx, args, arg)
		if err == nil {
			err = fn(t)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(args) > 0 {
		return nil, nil
	}
	s, ref, err := a.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	// Listed before the runs, which may appear at any time and never vanish by
	// themselves.
	runs := filepath.Join(ref.dir, "runs")
	unclaimed := beside.in(runs)
	seen := map[string]bool{}
	for info, err := range s.Runs(ctx) {
		if err == nil {
			err = fn(a.inStore(ref, info))
		}
		if err != nil {
			return nil, err
		}
		seen[filepath.Base(info.Path)] = true
	}
	var orphans []leftover
	for name, left := range unclaimed {
		if !seen[name] && filepath.Ext(name) == ".jsonl" {
			orphans = append(orphans, left...)
		}
	}
	slices.SortFunc(orphans, func(x, y leftover) int { return strings.Compare(x.Path, y.Path) })
	return orphans, nil
}

// judge reads all of a run, more closely than its description was read.
func judge(ctx context.Context, t *target, beside neighbours) verdict {
	info := &t.info
	v := verdict{ID: text(info.ID), Status: "ok", Warnings: append([]string{}, info.Warnings...), Leftovers: []leftover{}}
	if info.Err == nil && !isCheckpoint(*info) {
		_, tail, err := check(ctx, info.Path)
		switch {
		case err != nil:
			*info = runs.Info{ID: info.ID, Owner: info.Owner, Path: info.Path, Size: info.Size, Err: err}
		case tail.Torn > 0: // else its owner has written on
			v.Status, v.Torn = "torn", &tornJSON{tail.Torn, tail.End, tail.Reason, info.Owner != nil}
		}
	}
	if info.Err != nil {
		v.Status, v.Problem = statusOf(*info), problemOf(*info)
	}
	v.Records, v.Bytes, v.Path = info.Records, info.Size, info.Path
	for _, l := range beside.of(info.Path) {
		if l.Kind != leftUnfinished || info.Owner == nil { // else it may be at it now
			v.Leftovers = append(v.Leftovers, l)
		}
	}
	if t.isCheckpoint() {
		v.Warnings = append(v.Warnings, badVersions(info.Path)...)
	}
	return v
}

// badVersions says which kept versions of a checkpoint file cannot be read.
func badVersions(path string) (warnings []string) {
	all, err := versionsOf(path)
	if err != nil {
		return []string{"its older versions were not looked at: " + err.Error()}
	}
	for _, v := range all {
		if v.info.Err != nil {
			warnings = append(warnings, fmt.Sprintf("version %d cannot be read: %s", v.generation, placeOf(v.info.Err)))
		}
	}
	return warnings
}

// verdict prints a line as soon as it is known: there is no width to wait for.
func (a *app) verdict(name string, v verdict) {
	var notes []string
	switch {
	case v.Problem != nil:
		notes = append(notes, v.Problem.String())
	case v.Torn != nil:
		notes = append(notes, tornText(v.Torn))
	}
	if len(v.Warnings) > 0 {
		notes = append(notes, "but: "+inline(strings.Join(v.Warnings, "; ")))
	}
	for _, l := range v.Leftovers {
		notes = append(notes, l.String())
	}
	detail := strings.Join(notes, "; ")
	if !a.out.tty {
		a.out.row(cell(name), v.Status, fmt.Sprint(v.Records), fmt.Sprint(v.Bytes), detail)
		return
	}
	if v.Problem == nil {
		notes = append([]string{fmt.Sprintf("%s, %s", count(int(v.Records), "record"), size(v.Bytes))}, notes...)
		detail = strings.Join(notes, "; ")
	}
	a.out.line(fmt.Sprintf("%-12s  %s  %s", a.out.status(v.Status), cell(name), detail))
}

func tornText(t *tornJSON) string {
	if t.Live {
		return fmt.Sprintf("%d bytes from byte %d on are being written now", t.Bytes, t.Offset)
	}
	return fmt.Sprintf("torn tail of %d bytes from byte %d on, never acknowledged; the next start cuts it off and keeps a copy", t.Bytes, t.Offset)
}
