package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) forkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "fork RUN[@SEQ] NEW",
		Short:   "Make a new run of what a run had recorded up to a record",
		GroupID: "change",
		Example: `  pawl log research -n 20               find the record
  pawl fork research@41 research-2      go on from there, differently
  pawl fork research research-copy      from its newest record`,
		Long: `The new run has its own UID and the results that were recorded up to and including record
SEQ; start its program with NEW as the run's ID and it goes on from there. The first run
is not touched, a process may have it open, and deleting either leaves the other.

Idempotency keys differ in the fork. A step that was under way at that record is in
doubt there until pawl resolve says what became of it.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 there is a run NEW"},
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeRef,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.fork(cmd.Context(), args[0], args[1]) },
	}
}

// forkJSON is the object that fork prints.
type forkJSON struct {
	head
	ID     string `json:"id"`
	Parent string `json:"parent"`
	Seq    int64  `json:"seq"`
	Path   string `json:"path"`
}

func (a *app) fork(ctx context.Context, arg, newID string) error {
	s, _, err := a.open()
	if err != nil {
		return err
	}
	defer s.Close()
	id, seq := arg, int64(0)
	// An ID may hold an @: what names a run as it is comes first.
	if _, err := s.Inspect(ctx, arg); err != nil {
		if i := strings.LastIndexByte(arg, '@'); i > 0 {
			if n, err := strconv.ParseInt(arg[i+1:], 10, 64); err == nil && n > 0 {
				id, seq = arg[:i], n
			}
		}
		if id == arg { // says what there is instead
			t, err := a.resolve(ctx, arg)
			if err != nil {
				return err
			}
			id = t.name
		}
	}
	if err := s.Fork(ctx, id, seq, newID); err != nil {
		return &problem{msg: cell(arg) + " was not forked", err: err}
	}
	info, err := s.Inspect(ctx, newID)
	if err != nil {
		return err
	}
	if info.Parent != nil {
		seq = info.Parent.Seq
	}
	switch {
	case a.json:
		a.out.json(forkJSON{head{"Fork", 1}, newID, id, seq, info.Path})
		return nil
	case a.out.tty:
		a.out.line(fmt.Sprintf("%s  forked from %s at record %d, %s", cell(newID), cell(id), seq, count(info.Done, "finished step")))
	default:
		a.out.row(cell(newID), cell(id), fmt.Sprint(seq), count(info.Done, "step"))
	}
	if info.Running > 0 {
		a.hint("%s under way at that record and in doubt here: pawl show %s", count(info.Running, "step"), quoteArg(newID))
	}
	return nil
}
