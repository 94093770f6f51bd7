package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) clearCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "clear RUN",
		Short:   "Put a run's journal aside, so that its next start begins anew",
		GroupID: "change",
		Example: `  pawl clear research
  pawl show .pawl/runs/research.jsonl.cleared-1     what was put aside`,
		Long: `Nothing is destroyed: the journal stays beside the new one's place under the name that is
printed, and the run is absent until its program starts it anew, with a new UID and new
idempotency keys. To undo it, rename the file back before that. A damaged run can be
cleared too. A run that a process has open is refused, and RUN must be the whole ID.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 owned"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.clear(cmd.Context(), args[0]) },
	}
}

// clearingJSON is the object that clear prints.
type clearingJSON struct {
	head
	ID       string `json:"id"`
	Path     string `json:"path"`
	Original string `json:"original"` // where the old journal is kept
}

func (a *app) clear(ctx context.Context, arg string) error {
	t, s, err := a.toChange(ctx, "clear", arg)
	if err != nil {
		return err
	}
	defer s.Close()
	aside, err := s.Clear(ctx, t.name)
	if err != nil {
		return &problem{msg: cell(t.name) + " was not cleared", err: err}
	}
	switch {
	case a.json:
		a.out.json(clearingJSON{head{"Clearing", 1}, t.name, t.info.Path, aside})
		return nil
	case a.out.tty:
		a.out.line(fmt.Sprintf("%s  cleared; the old journal is kept in %s", cell(t.name), cell(aside)))
	default:
		a.out.row(cell(t.name), cell(aside))
	}
	a.hint("its next start begins anew; to undo it before that: mv %s %s", quoteArg(aside), quoteArg(t.info.Path))
	return nil
}

func (a *app) deleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "delete RUN",
		Short:   "Remove a run and everything that belongs to it, for good",
		GroupID: "change",
		Example: `  pawl export research -o research.jsonl && pawl delete research
  pawl delete --yes research`,
		Long: `The journal goes, what recoveries, repairs and pawl clear kept of it, and its lock file. A
run that is created with the ID later sees nothing of it. Nothing brings it back, so
there is a question first. It is asked only if standard input and standard error are
terminals; elsewhere --yes is needed, and the exit code is 8 without it.

A damaged run can be deleted too. A run that a process has open is refused, and RUN must
be the whole ID. To begin anew and keep what was, there is pawl clear.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 owned · 8 not confirmed"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.delete(cmd.Context(), args[0], yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// deletionJSON is the object that delete prints.
type deletionJSON struct {
	head
	ID   string `json:"id"`
	Path string `json:"path"`
}

func (a *app) delete(ctx context.Context, arg string, yes bool) error {
	t, s, err := a.toChange(ctx, "delete", arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if !yes {
		question := fmt.Sprintf("Nothing brings it back. Delete %s (%s, %s, %s)?", cell(t.name), statusOf(t.info), count(t.info.Done, "finished step"), size(t.info.Size))
		if err := a.confirm(ctx, question, "pawl delete --yes "+t.arg); err != nil {
			return err
		}
	}
	if err := s.Delete(ctx, t.name); err != nil {
		return &problem{msg: cell(t.name) + " was not deleted", err: err}
	}
	switch {
	case a.json:
		a.out.json(deletionJSON{head{"Deletion", 1}, t.name, t.info.Path})
	case a.out.tty:
		a.out.line(cell(t.name) + "  deleted")
	default:
		a.out.row(cell(t.name))
	}
	return nil
}
