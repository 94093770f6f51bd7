package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/runs"
)

func (a *app) cancelCommand() *cobra.Command {
	var by signature
	cmd := &cobra.Command{
		Use:     "cancel RUN",
		Short:   "Stop a run, whoever works on it, until it is reopened",
		GroupID: "change",
		Example: `  pawl cancel research --reason "too dear"
  pawl cancel order-7 --by ann --reason "the customer called"`,
		Long: `If a process has the run open it is told: its context ends, what is under way should heed
that, and no further step begins. That takes no lock and does not wait for it to stop. If
nobody has it open, its next start is refused. What is done stays recorded, and pawl reopen
takes the cancellation back.

Who says so and why stand in the history for good, as they are given: the program's
pawl.Redact is not asked. A run that was cancelled already stays as it is, and RUN must be
the whole ID.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 complete · 6 damaged"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.cancel(cmd.Context(), args[0], by) },
	}
	by.flags(cmd)
	return cmd
}

// cancellationJSON is the object that cancel prints: the decision in force, which may be an
// earlier one.
type cancellationJSON struct {
	head
	Run     string     `json:"run"`
	By      *string    `json:"by"`
	Reason  *string    `json:"reason"`
	At      jsonTime   `json:"at"`
	Already bool       `json:"already"` // it was cancelled before, by that decision
	Owner   *ownerJSON `json:"owner"`   // who was told
}

func (a *app) cancel(ctx context.Context, arg string, by signature) error {
	t, s, err := a.toTell(ctx, "cancel", arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	already := t.info.Status == runs.Cancelled
	if err := s.Cancel(ctx, t.name, by.who(), by.reason); err != nil {
		return &problem{msg: cell(t.name) + " was not cancelled", err: err}
	}
	// Its owner may have been faster, or somebody else.
	if t.info, err = s.Inspect(ctx, t.name); err != nil {
		return &problem{msg: cell(t.name) + " is cancelled, but", err: err}
	}
	d := t.info.Cancel
	switch {
	case t.info.Status == runs.Complete:
		return &problem{exit: exitConflict, code: "complete", msg: cell(t.name) + " was completed before its owner could be told", hint: "its result is recorded: pawl show " + t.arg + " --result"}
	case d == nil: // and reopened at once
		d = &runs.Decision{By: by.who(), Reason: by.reason}
	}
	a.cancelled(t, d, already)
	return nil
}

func (a *app) cancelled(t *target, d *runs.Decision, already bool) {
	o := t.info.Owner
	switch {
	case a.json:
		v := cancellationJSON{head{"Cancellation", 1}, t.name, text(d.By), text(d.Reason), jsonTime(d.At), already, nil}
		if o != nil {
			v.Owner = &ownerJSON{o.Host, o.PID, jsonTime(o.Since)}
		}
		a.out.json(v)
		return
	case !a.out.tty:
		a.out.row(cell(t.name), map[bool]string{true: "already", false: "cancelled"}[already], inline(d.By), inline(d.Reason), owner(t.info))
	case already:
		a.out.line(cell(t.name) + "  was cancelled already, " + a.decided(d))
	default:
		a.out.line(cell(t.name) + "  cancelled")
	}
	if o != nil {
		a.hint("process %d on %s, which has it open since %s, was told; it stops when what is under way heeds that", o.PID, inline(o.Host), stamp(o.Since))
	}
	a.hint("to go on with it later: pawl reopen %s", t.arg)
}

func (a *app) reopenCommand() *cobra.Command {
	var by signature
	cmd := &cobra.Command{
		Use:     "reopen RUN",
		Short:   "Take a cancellation back, so that the next start goes on",
		GroupID: "change",
		Example: `  pawl reopen research
  pawl reopen order-7 --by ann --reason "the customer wants it after all"`,
		Long: `The next start goes on where the run stopped. Nobody may have it open: an owner that was
told to stop must have done so. Who says so and why stand in the history for good, as they
are given: the program's pawl.Redact is not asked. RUN must be the whole ID.`,
		Annotations:       map[string]string{"exit": "2 not cancelled · 3 not found · 4 owned, complete · 6 damaged"},
		Args:              oneRef,
		ValidArgsFunction: a.completeRef,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.reopen(cmd.Context(), args[0], by) },
	}
	by.flags(cmd)
	return cmd
}

// reopeningJSON is the object that reopen prints.
type reopeningJSON struct {
	head
	Run       string        `json:"run"`
	By        string        `json:"by"`
	Reason    *string       `json:"reason"`
	Cancelled *decisionJSON `json:"cancelled"` // what was taken back
}

func (a *app) reopen(ctx context.Context, arg string, by signature) error {
	t, s, err := a.toChange(ctx, "reopen", arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	if err := s.Reopen(ctx, t.name, by.who(), by.reason); err != nil {
		return &problem{msg: cell(t.name) + " was not reopened", err: err}
	}
	d := t.info.Cancel
	switch {
	case a.json:
		a.out.json(reopeningJSON{head{"Reopening", 1}, t.name, by.who(), text(by.reason), decisionOf(d)})
		return nil
	case !a.out.tty:
		a.out.row(cell(t.name), "reopened", inline(by.who()), inline(by.reason))
	case d != nil:
		a.out.line(cell(t.name) + "  reopened; it was cancelled " + a.decided(d))
	default: // since it was looked at
		a.out.line(cell(t.name) + "  reopened")
	}
	a.startAgain(t)
	return nil
}

// startAgain says what the next start does.
func (a *app) startAgain(t *target) {
	text := "start its program again and it goes on"
	if n := t.info.Done; n > 0 {
		text += fmt.Sprintf("; %s will not run again", count(n, "finished step"))
	}
	if at := t.info.Deadline; !at.IsZero() && !at.After(a.now()) {
		text += fmt.Sprintf(". Its deadline is over since %s: it needs a longer one", at.UTC().Format(time.RFC3339))
	}
	a.hint("%s", text)
}
