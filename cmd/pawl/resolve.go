package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
)

type resolveFlags struct {
	signature
	done  string
	rerun bool
}

func (a *app) resolveCommand() *cobra.Command {
	var f resolveFlags
	cmd := &cobra.Command{
		Use:     "resolve RUN STEP",
		Short:   "Say of a step in doubt whether it happened",
		GroupID: "change",
		Example: `  pawl resolve order-7 pay --done '{"receipt":"r-1"}' --reason "it is on the statement"
  pawl resolve order-7 pay --done @receipt.json
  pawl resolve order-7 pay --rerun --reason "the provider knows nothing of it" --by ann`,
		Long: `A step in doubt was under way when its process died. Most steps then just run again. One
with pawl.AtMostOnce does not, nor does any in a run that was imported under another ID:
the run stops there until somebody looks and says

  --done JSON   it happened, and this is what its function would have returned: the next
                start returns it. "-" reads it from standard input, "@FILE" from a file
  --rerun       it did not happen: the next start calls the function, with another
                idempotency key. Of steps inside it that says nothing

Who has erred says it anew; that is possible until the run is complete.
Who says so and why stand in the history for good. The result and the reason are recorded
as they are given: the program's pawl.Redact is not asked, so leave out of them what it
would hide. STEP is the step's whole key, as pawl show and pawl steps print it. Nobody may
have the run open.`,
		Annotations:       map[string]string{"exit": "3 not found · 4 owned, or it has a result · 6 damaged"},
		ValidArgsFunction: a.completeStep("in_doubt"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(cmd, "which step? give the run's ID and the step's key")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("done") == f.rerun {
				return usage(cmd, "did it happen? give either --done with its result, or --rerun")
			}
			return a.resolveStep(cmd, args[0], args[1], f)
		},
	}
	cmd.Flags().StringVar(&f.done, "done", "", "it happened; its result is `JSON`, - or @FILE")
	cmd.Flags().BoolVar(&f.rerun, "rerun", false, "it did not happen")
	f.flags(cmd)
	return cmd
}

// resolutionJSON is the object that resolve prints.
type resolutionJSON struct {
	head
	Run    string  `json:"run"`
	Step   string  `json:"step"`
	Action string  `json:"action"` // done or rerun
	By     string  `json:"by"`
	Reason *string `json:"reason"`
}

func (a *app) resolveStep(cmd *cobra.Command, id, key string, f resolveFlags) error {
	ctx := cmd.Context()
	var result json.RawMessage
	if !f.rerun {
		var err error
		if result, err = a.readJSON(cmd, f.done, "--done", "a text needs quotes of its own: --done '\"paid\"'"); err != nil {
			return err
		}
	}
	t, s, err := a.toChange(ctx, "resolve", id)
	if err != nil {
		return err
	}
	defer s.Close()
	if t.info.Err != nil {
		return a.readProblem(t)
	}
	steps, _, err := readSteps(ctx, t.info.Path, false)
	if err != nil {
		return &problem{msg: cell(t.name), err: err}
	}
	if err := a.mustBeStep(t, steps, key, "in_doubt"); err != nil {
		return err
	}
	v := resolutionJSON{head: head{"Resolution", 1}, Run: t.name, Step: key, Action: "done", By: f.who(), Reason: text(f.reason)}
	if f.rerun {
		v.Action = "rerun"
		err = s.ResolveRerun(ctx, t.name, key, v.By, f.reason)
	} else {
		err = s.ResolveDone(ctx, t.name, key, result, v.By, f.reason)
	}
	switch {
	case errors.Is(err, pawl.ErrComplete), errors.Is(err, pawl.ErrConflict):
		return &problem{exit: exitConflict, code: "conflict", msg: cell(key) + " was not resolved", err: err}
	case err != nil:
		return &problem{msg: cell(key) + " was not resolved", err: err}
	}
	a.resolved(t, steps, v)
	return nil
}

func (a *app) resolved(t *target, steps []stepView, v resolutionJSON) {
	if a.json {
		a.out.json(v)
		return
	}
	what := "done: the next start returns this result"
	if v.Action == "rerun" {
		what = "rerun: the next start calls its function, with another idempotency key"
	}
	if a.out.tty {
		a.out.line(cell(v.Step) + "  " + what)
	} else {
		a.out.row(cell(v.Step), v.Action, inline(v.By), inline(orEmpty(v.Reason)))
	}
	left := 0
	for _, s := range steps {
		if s.Status == "in_doubt" && s.AtMostOnce && s.Key != v.Step {
			left++
		}
	}
	if left > 0 {
		a.hint("%s still in doubt: pawl show %s", count(left, "step"), t.arg)
		return
	}
	a.hint("start its program again and it goes on")
}

// orEmpty is a text that may be absent.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// readJSON returns the value that an argument holds or names; from is where the argument
// stands, and hint for who has given something else.
func (a *app) readJSON(cmd *cobra.Command, arg, from, hint string) (json.RawMessage, error) {
	data := []byte(arg)
	var err error
	switch path, isFile := strings.CutPrefix(arg, "@"); {
	case arg == "-":
		from = "standard input"
		data, err = io.ReadAll(a.stdin)
	case isFile:
		from = cell(path)
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, &problem{msg: from, err: err, hint: "nothing was changed"}
	}
	data = bytes.TrimSpace(data)
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		p := usage(cmd, "%s is not JSON: %v", from, err)
		p.hint = "nothing was changed; " + hint
		return nil, p
	}
	return v, nil
}
