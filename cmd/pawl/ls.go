package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/runs"
)

type lsFlags struct {
	status []string
	labels []string
	sort   string
	limit  int

	want labels // of labels
}

func (a *app) lsCommand() *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:     "ls [REF...]",
		Short:   "List the runs of a store, newest activity first",
		GroupID: "look",
		Example: `  pawl ls
  pawl ls --status failed,interrupted,waiting
  pawl ls --label team=search --label tier=batch
  pawl ls --limit 20 --store ~/research/.pawl
  pawl ls checkpoints/*.json         checkpoint files instead of a store
  pawl ls --json | jq -r '.items[] | select(.status=="failed") | .id'`,
		Long: `PROGRESS is items done of the Map that most steps belong to, else the number of
finished steps. OWNER is the process that has the run open now. SPENT is what it has used
over all starts, if anything was metered; people see the money only. ASKS is how many of
its questions wait for an answer, see pawl waiting.

Runs that cannot be read are listed first, beside the good ones, and the exit code
is 6 then (7, 3 or 1 if none of them is damaged), whatever --status and --label show.

Statuses: running (a live process has it open), interrupted (in progress, and nobody
has it open), complete, failed (its last attempt ended with an error; the next start
tries again), waiting (it can go on at a time, or with an answer, that pawl show tells),
cancelled (until pawl reopen), damaged, newer (written by a newer pawl), unreadable (the
system refuses, or it is no file), missing (one that was asked for beside others and is
not there), in_progress (a checkpoint file that is not complete).`,
		Annotations:       map[string]string{"exit": "3 no store · 6 a run is damaged"},
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.ls(cmd.Context(), args, f)
		},
	}
	cmd.Flags().StringSliceVar(&f.status, "status", nil, "only runs with one of these `STATUSES`")
	cmd.Flags().StringArrayVar(&f.labels, "label", nil, "only runs with the label `NAME=VALUE`; may be given several times")
	cmd.Flags().StringVar(&f.sort, "sort", "updated", "order by `KEY`: updated, created, id")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "only the first `N`; 0 lists all")
	a.completeFlag(cmd, "status", statuses...)
	a.completeFlag(cmd, "sort", "updated", "created", "id")
	return cmd
}

func (f *lsFlags) check(cmd *cobra.Command) error {
	for _, s := range f.status {
		if !slices.Contains(statuses, s) {
			return usage(cmd, "unknown status %q; there are: %s", s, strings.Join(statuses, ", "))
		}
	}
	f.want = labels{}
	for _, l := range f.labels {
		name, value, ok := strings.Cut(l, "=")
		if !ok || name == "" {
			return usage(cmd, "--label %q: write NAME=VALUE", l)
		}
		if before, twice := f.want[name]; twice && before != value {
			return usage(cmd, "--label: no run has two values for %q", name)
		}
		f.want[name] = value
	}
	if !slices.Contains([]string{"updated", "created", "id"}, f.sort) {
		return usage(cmd, "unknown order %q; there are: updated, created, id", f.sort)
	}
	if f.limit < 0 {
		return usage(cmd, "--limit %d: it must not be negative", f.limit)
	}
	return nil
}

// listed is a run in the list: what is shown of it and no more, for there may be
// many.
type listed struct {
	view     runJSON
	name     string
	arg      string
	progress string
	owner    string
	problem  string
	err      error
}

func (a *app) ls(ctx context.Context, args []string, f lsFlags) error {
	all, err := a.collect(ctx, args)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(x, y listed) int { return compareListed(x, y, f.sort) })
	var bad []listed
	items := all[:0:0]
	for _, l := range all {
		if l.err != nil {
			bad = append(bad, l)
		}
		if (len(f.status) == 0 || slices.Contains(f.status, l.view.Status)) && l.view.Labels.have(f.want) {
			items = append(items, l)
		}
	}
	total := len(items)
	if f.limit > 0 && total > f.limit {
		items = items[:f.limit]
	}
	if a.json {
		list := a.out.openList("RunList")
		for _, l := range items {
			list.add(l.view)
		}
		list.end(struct {
			Total int `json:"total"`
		}{total})
	} else {
		a.lsTable(items)
		if len(items) < total {
			a.hint("%d of %s shown", len(items), count(total, "run"))
		}
		if len(all) == 0 {
			a.hint("the store is empty")
		}
	}
	return a.badRuns(bad, len(all))
}

// collect reads the runs that are asked for, or all of the store.
func (a *app) collect(ctx context.Context, args []string) ([]listed, error) {
	var all []listed
	if len(args) > 0 {
		for _, arg := range args {
			t, err := a.oneOf(ctx, args, arg)
			if err != nil {
				return nil, err
			}
			all = append(all, a.listed(t))
		}
		return all, nil
	}
	s, ref, err := a.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for info, err := range s.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, a.listed(a.inStore(ref, info)))
	}
	return all, nil
}

func (a *app) listed(t *target) listed {
	info := t.info
	l := listed{view: runView(info), name: t.name, arg: t.arg, progress: progress(info), owner: owner(info), problem: problemText(info), err: info.Err}
	if info.Err == nil && info.Status == runs.Complete {
		l.problem = ""
	}
	return l
}

// compareListed puts what cannot be read first: it has no time, and must be seen.
func compareListed(x, y listed, by string) int {
	if (x.err != nil) != (y.err != nil) {
		if x.err != nil {
			return -1
		}
		return 1
	}
	order := 0
	switch by {
	case "updated":
		order = time.Time(y.view.UpdatedAt).Compare(time.Time(x.view.UpdatedAt))
	case "created":
		order = time.Time(y.view.CreatedAt).Compare(time.Time(x.view.CreatedAt))
	}
	return cmp.Or(order, strings.Compare(x.name, y.name))
}

func (a *app) lsTable(items []listed) {
	now := a.now()
	head := []string{"ID", "STATUS", "PROGRESS", "UPDATED", "OWNER", "ERROR", "SPENT", "ASKS"}
	rows := make([][]string, 0, len(items))
	for _, l := range items {
		updated, why := stamp(time.Time(l.view.UpdatedAt)), inline(l.problem)
		if a.out.tty {
			updated, why = age(time.Time(l.view.UpdatedAt), now), firstLine(l.problem)
		}
		row := []string{cell(l.name), a.out.status(l.view.Status), l.progress, updated, l.owner, cmp.Or(why, "-"), a.out.spent(l.view.Spent), "-"}
		if n := l.view.Steps.Waiting; n > 0 {
			row[7] = fmt.Sprint(n)
		}
		rows = append(rows, row)
	}
	if a.out.tty {
		head, rows = withoutDashes(head, rows, 6)
	}
	a.out.table(head, rows, 5, 0)
}

// badRuns is how a list ends of which some runs cannot be read.
func (a *app) badRuns(bad []listed, total int) error {
	if len(bad) == 0 {
		return nil
	}
	p := &problem{}
	counts := map[string]int{}
	for _, l := range bad {
		exit, code := classify(l.err)
		if p.exit == 0 || worse(exit, p.exit) {
			p.exit, p.code = exit, code
		}
		counts[l.view.Status]++
		p.candidates = append(p.candidates, l.name)
	}
	var parts []string
	for _, s := range statuses {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	p.msg = fmt.Sprintf("of %s: %s: %s", count(total, "run"), strings.Join(parts, ", "), names(p.candidates, 3))
	p.hint = "nothing was changed"
	if damaged := a.damagedArgs(bad, 5); damaged != "" {
		p.hint += "; what a repair would keep: pawl repair --dry-run " + damaged
	}
	return p
}

// damagedArgs names the damaged ones of some runs, the first of them if there are
// many, in a command to type next.
func (a *app) damagedArgs(bad []listed, most int) string {
	var args []string
	for _, l := range bad {
		if l.view.Status == statusDamaged && len(args) < most {
			args = append(args, strings.TrimSuffix(l.arg, a.again()))
		}
	}
	if len(args) == 0 {
		return ""
	}
	return strings.Join(args, " ") + a.again()
}
