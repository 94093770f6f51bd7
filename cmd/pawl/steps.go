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
var stepStatuses = []string{"done", "failed", "running", "in_doubt"}

func (a *app) stepsCommand() *cobra.Command {
	var status []string
	cmd := &cobra.Command{
		Use:     "steps REF",
		Short:   "List the steps of a run in the order in which they began",
		GroupID: "look",
		Example: `  pawl steps research
  pawl steps research --status failed,in_doubt
  pawl steps research --json | jq '[.items[].took_seconds] | add'`,
		Long: `REF is a run ID, the beginning of one, or a path, see pawl help refs. TRIES and TOOK
count over all starts and for the last try; SIZE is that of the step's newest record. A
step in doubt was under way when its process died; the next start runs it again, or, if
ONCE says so (pawl.AtMostOnce), stops there until pawl resolve. NOTE is what pawl.Note
recorded last.`,
		Annotations:       map[string]string{"exit": "3 not found · 6 damaged: listed up to there"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range status {
				if !slices.Contains(stepStatuses, s) {
					return usage(cmd, "unknown status %q; there are: %s", s, strings.Join(stepStatuses, ", "))
				}
			}
			return a.steps(cmd.Context(), args[0], status)
		},
	}
	cmd.Flags().StringSliceVar(&status, "status", nil, "only steps with one of these `STATUSES`: done, failed, running, in_doubt")
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
	head := []string{"KEY", "STATUS", "TRIES", "TOOK", "ENDED", "SIZE", "ERROR", "ONCE", "NOTE"}
	rows := make([][]string, 0, len(views))
	more := !a.out.tty // people need no columns of dashes
	for _, v := range views {
		more = more || v.AtMostOnce || v.note() != "-"
	}
	if !more {
		head = head[:7]
	}
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
		if more {
			once := "-"
			if v.AtMostOnce {
				once = "once"
			}
			row = append(row, once, v.note())
		}
		rows = append(rows, row)
	}
	shrink := []int{6, 0}
	if more {
		shrink = []int{8, 6, 0}
	}
	a.out.table(head, rows, shrink...)
}
