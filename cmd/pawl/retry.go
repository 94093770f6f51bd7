package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

func (a *app) retryCommand() *cobra.Command {
	var by signature
	cmd := &cobra.Command{
		Use:     "retry RUN [STEP]",
		Short:   "Let steps that failed for good be tried anew",
		GroupID: "change",
		Example: `  pawl retry research                  all that failed finally, or are poison
  pawl retry research fetch/a.txt --reason "the file is there now"`,
		Long: `What fails is tried again by the next start anyway, unless it failed finally (package retry)
or is poison, which means that too many processes in a row died while it was under way.
When the cause is mended this command lets it be tried as if it never had failed: with a
new series of tries, and no wait. With STEP, the whole key of a step that failed, it is
for that one alone, also if its series of tries only waits.

Who says so and why stand in the history for good, as they are given: the program's
pawl.Redact is not asked. Nobody may have the run open, and RUN must be the whole ID.`,
		Annotations:       map[string]string{"exit": "2 nothing has failed · 3 not found · 4 owned, complete, or it has a result · 6 damaged"},
		ValidArgsFunction: a.completeStep("failed"),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && args[1] == "":
				return usage(cmd, "the step's key is empty; leave it out to try anew all that failed finally")
			case len(args) == 1 || len(args) == 2:
				return nil
			}
			return usage(cmd, "which run? give its ID, and the key of a step if it is not for all of them")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.retry(cmd.Context(), args[0], args[1:], by)
		},
	}
	by.flags(cmd)
	return cmd
}

// retryJSON is the object that retry prints.
type retryJSON struct {
	head
	Run    string   `json:"run"`
	Steps  []string `json:"steps"` // that are tried anew
	By     string   `json:"by"`
	Reason *string  `json:"reason"`
}

func (a *app) retry(ctx context.Context, arg string, step []string, by signature) error {
	t, s, err := a.toChange(ctx, "retry", arg)
	if err != nil {
		return err
	}
	defer s.Close()
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	key, what := "", cell(t.name)
	if len(step) > 0 {
		key, what = step[0], cell(step[0])
		steps, _, err := readSteps(ctx, t.info.Path, false)
		if err != nil {
			return &problem{msg: cell(t.name), err: err}
		}
		if err := a.mustBeStep(t, steps, key, "failed"); err != nil {
			return err
		}
	}
	keys, err := s.Retry(ctx, t.name, key, by.who(), by.reason)
	switch {
	case errors.Is(err, pawl.ErrInDoubt):
		return &problem{exit: exitConflict, code: "in_doubt", msg: what + " is not tried anew", err: err}
	case err != nil:
		return &problem{msg: what + " is not tried anew", err: err}
	}
	a.retried(t, keys, by)
	return nil
}

func (a *app) retried(t *target, keys []string, by signature) {
	if a.json {
		a.out.json(retryJSON{head{"Retry", 1}, t.name, keys, by.who(), text(by.reason)})
		return
	}
	for _, key := range keys {
		if a.out.tty {
			a.out.line(cell(key) + "  is tried anew by the next start")
		} else {
			a.out.row(cell(key), inline(by.who()), inline(by.reason))
		}
	}
	if t.info.Status == runs.Cancelled {
		a.hint("the run is cancelled: pawl reopen %s", t.arg)
		return
	}
	a.startAgain(t)
}
