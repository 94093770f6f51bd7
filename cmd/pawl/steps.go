package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/journal"
)

// Words for how a step stands, part of the JSON.
var stepStatuses = []string{"done", "failed", "running", statusSleeping, statusWaiting, "in_doubt"}

func (a *app) stepsCommand() *cobra.Command {
	var status []string
	cmd := &cobra.Command{
		Use:     "steps REF [STEP]",
		Short:   "List the steps of a run in the order in which they began, or the tries of one",
		GroupID: "look",
		Example: `  pawl steps research
  pawl steps research --status failed,in_doubt
  pawl steps research fetch/a.txt        each try of one step
  pawl steps research --json | jq '[.items[].took_seconds] | add'`,
		Long: `REF is a run ID, the beginning of one, or a path, see pawl help refs. TRIES and TOOK
count over all starts and for the last try; SIZE is that of the step's newest record. A
step in doubt was under way when its process died; the next start runs it again, or, if
ONCE says so (pawl.AtMostOnce), stops there until pawl resolve. NOTE is what pawl.Note
recorded last.

NEXT says of a step that failed when its next try is due (package retry), or that it failed
finally, or is poison: then it waits for pawl retry. Of a sleeping one it says until when,
and of a question that is waiting, by when it must be answered, if there is such a time.
DEATHS counts the processes in a row that died while the step alone was under way, and
SPENT is what it used over all its tries (package meter), without the steps inside it. On a
terminal, columns from ONCE on that say nothing are left out, and people see the money only.

With STEP, the step's whole key, each of its tries is listed: when it began, how long it
took, how it ended, and when the next one was due. A try without an end was cut_short by
the death of its process or an interruption, if it is not running. Tries before a compaction
are gone.`,
		Annotations:       map[string]string{"exit": "3 not found · 6 damaged: listed up to there"},
		ValidArgsFunction: a.completeStep(""),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 2:
				return usage(cmd, "one run, and one step of it; here are %d arguments", len(args))
			case len(args) == 2 && len(status) > 0:
				return usage(cmd, "--status is for the list of all steps")
			case len(args) == 2:
				return nil
			}
			return oneRef(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range status {
				if !slices.Contains(stepStatuses, s) {
					return usage(cmd, "unknown status %q; there are: %s", s, strings.Join(stepStatuses, ", "))
				}
			}
			if len(args) == 2 {
				return a.tries(cmd.Context(), args[0], args[1])
			}
			return a.steps(cmd.Context(), args[0], status)
		},
	}
	cmd.Flags().StringSliceVar(&status, "status", nil, "only some `STATUSES`: "+strings.Join(stepStatuses, ", "))
	a.completeFlag(cmd, "status", stepStatuses...)
	return cmd
}

func (a *app) steps(ctx context.Context, arg string, status []string) error {
	t, err := a.resolve(ctx, arg)
	if err != nil {
		return err
	}
	var views []stepView
	if !isCheckpoint(t.info) && hasJournal(t.info.Err) {
		views, _, err = readSteps(ctx, t.info.Path, t.info.Owner != nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(status) > 0 {
		views = slices.DeleteFunc(views, func(v stepView) bool { return !slices.Contains(status, v.Status) })
	}
	a.printSteps(t, views)
	if isCheckpoint(t.info) {
		a.hint("a checkpoint file holds one state and no steps; look at it with: pawl show %s", t.arg)
	}
	if t.info.Err == nil && err != nil {
		t.info.Err = err // damaged since
	}
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	return nil
}

// hasJournal tells whether there may be records to show in spite of an error.
func hasJournal(err error) bool { return err == nil || errors.Is(err, journal.ErrCorrupt) }

func (a *app) printSteps(t *target, views []stepView) {
	if a.json {
		list := a.out.openList("StepList")
		for _, v := range views {
			list.add(v)
		}
		list.end(struct {
			Run *string `json:"run"`
		}{text(t.info.ID)})
		return
	}
	now := a.now()
	head := []string{"KEY", "STATUS", "TRIES", "TOOK", "ENDED", "SIZE", "ERROR", "ONCE", "NOTE", "NEXT", "DEATHS", "SPENT"}
	rows := make([][]string, 0, len(views))
	for _, v := range views {
		row := []string{cell(v.Key), a.out.status(v.Status), fmt.Sprint(v.Tries), strconv.FormatFloat(v.TookSeconds, 'f', -1, 64), stamp(time.Time(v.EndedAt)), fmt.Sprint(v.Bytes), "-"}
		if v.Error != nil {
			row[6] = inline(*v.Error)
		}
		if a.out.tty {
			row[3], row[4], row[5] = took(v.took), age(time.Time(v.EndedAt), now), size(v.Bytes)
			if v.Error != nil {
				row[6] = firstLine(*v.Error)
			}
		}
		once, deaths := "-", "-"
		if v.AtMostOnce {
			once = "once"
		}
		if v.Deaths > 0 {
			deaths = fmt.Sprint(v.Deaths)
		}
		rows = append(rows, append(row, once, v.note(), v.next(a.at), deaths, a.out.spent(v.Spent)))
	}
	if a.out.tty {
		head, rows = withoutDashes(head, rows, 7)
	}
	var shrink []int
	for _, name := range []string{"NOTE", "ERROR", "KEY"} {
		if i := slices.Index(head, name); i >= 0 {
			shrink = append(shrink, i)
		}
	}
	a.out.table(head, rows, shrink...)
}

// at says a time in a table.
func (a *app) at(t time.Time) string {
	switch d := t.Sub(a.now()); {
	case !a.out.tty:
		return stamp(t)
	case d > 0:
		return "in " + took(d.Round(time.Second))
	}
	return "now"
}

// withoutDashes drops the columns from one on that say nothing: people need none of them.
func withoutDashes(head []string, rows [][]string, from int) ([]string, [][]string) {
	for i := len(head) - 1; i >= from; i-- {
		if slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "-" }) {
			continue
		}
		head = slices.Delete(head, i, i+1)
		for j := range rows {
			rows[j] = slices.Delete(rows[j], i, i+1)
		}
	}
	return head, rows
}
