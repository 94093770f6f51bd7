package main

import (
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"
)

// consent is what pawl approve and pawl reject say.
type consent struct {
	signature
	yes        bool
	edit, file string
}

func (a *app) approveCommand() *cobra.Command {
	v := consent{yes: true}
	cmd := &cobra.Command{
		Use:     "approve RUN [KEY]",
		Short:   "Say yes to what a run asks",
		GroupID: "change",
		Example: `  pawl approve research
  pawl approve research 'delete files' --by ann --reason "they are copies"
  pawl approve research 'send mail' --edit '{"to":"ann","text":"shorter"}'`,
		Long: `Answers a question that waits for a bool with true, and one that waits for wait.Approval, or
another object with a member "approved", with {"approved":true}. To that --reason adds
"reason", if there is such a member, so that the program, and the model behind it, hears why.
--edit adds "edited": what is to be done instead of what was asked for. Questions that take
anything else are answered with pawl answer.

KEY may be left out if the run asks one thing only. Look at what it asks before: pawl show.
Who says so and why stand in the history for good, as they are given: the program's
pawl.Redact is not asked. For the rest see pawl answer. RUN must be the whole ID.`,
	}
	cmd.Flags().StringVar(&v.edit, "edit", "", "yes, but do this: `JSON`, - or @FILE")
	cmd.Flags().StringVar(&v.file, "edit-file", "", "the same, read from `FILE`, - is standard input")
	return a.consentCommand(cmd, &v)
}

func (a *app) rejectCommand() *cobra.Command {
	return a.consentCommand(&cobra.Command{
		Use:     "reject RUN [KEY]",
		Short:   "Say no to what a run asks",
		GroupID: "change",
		Example: `  pawl reject research
  pawl reject research 'delete files' --reason "two of them are no copies"`,
		Long: `Answers like pawl approve, with no: false, or {"approved":false}, with the reason if there is
such a member. The run goes on with that answer; to stop it there is pawl cancel.`,
	}, &consent{})
}

// consentCommand adds what the two have in common.
func (a *app) consentCommand(cmd *cobra.Command, v *consent) *cobra.Command {
	v.flags(cmd)
	cmd.Annotations = map[string]string{"exit": "2 it does not fit its question · 3 not found · 4 answered, complete, cancelled · 6 damaged"}
	cmd.ValidArgsFunction = a.completeStep(statusWaiting)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 2 && args[1] == "":
			return usage(cmd, "the key is empty; leave it out if the run asks one thing only")
		case len(args) == 1 || len(args) == 2:
			return nil
		}
		return usage(cmd, "which question? give the run's ID, and the key if it asks more than one thing")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.consent(cmd, args, v) }
	return cmd
}

func (a *app) consent(cmd *cobra.Command, args []string, v *consent) error {
	r := reply{command: "reject", done: "rejected", by: v.signature}
	if v.yes {
		r.command, r.done = "approve", "approved"
	}
	edited, err := a.readEdit(cmd, v)
	if err != nil {
		return err
	}
	if r.instead = edited; len(args) == 2 {
		r.key = args[1]
	}
	r.value = func(t *target, key string, s *shape) (json.RawMessage, error) {
		if s == nil {
			return nil, nil // what is not asked takes nobody knows what
		}
		return a.consentTo(t, key, *s, v, edited)
	}
	return a.reply(cmd.Context(), args[0], r, "")
}

// readEdit returns what is to be done instead, nil for nothing.
func (a *app) readEdit(cmd *cobra.Command, v *consent) (json.RawMessage, error) {
	edit, file := cmd.Flags().Changed("edit"), cmd.Flags().Changed("edit-file")
	arg, from := v.edit, "--edit"
	switch {
	case edit && file:
		return nil, usage(cmd, "--edit and --edit-file: give one of them")
	case file && v.file == "-":
		arg = v.file
	case file:
		arg = "@" + v.file
	case !edit:
		return nil, nil
	}
	return a.readJSON(cmd, arg, from, `a text needs quotes of its own: --edit '"shorter"'`)
}

// consentTo returns yes or no as a question takes it.
func (a *app) consentTo(t *target, key string, s shape, v *consent, edited json.RawMessage) (json.RawMessage, error) {
	refuse := func(code, msg, hint string) error {
		return &problem{exit: exitUsage, code: code, msg: msg, hint: "nothing was recorded; " + hint}
	}
	needs := func(name string) bool { return slices.Contains(s.Required, name) }
	switch {
	case !s.yesNo():
		return nil, refuse("mismatch", cell(key)+" takes no yes or no, but: "+s.String(), "answer it with: "+a.answerWith("answer", t, key, s.example()))
	case edited != nil && !s.takesEdited():
		return nil, refuse("mismatch", "--edit: "+cell(key)+" takes yes or no as it is: "+s.String(), "say no, and why, or yes without it")
	case needs("reason") && v.reason == "":
		return nil, refuse("usage", cell(key)+" takes no answer without a reason", "give --reason")
	case needs("edited") && edited == nil:
		return nil, refuse("usage", cell(key)+" takes no answer without what is to be done", "give --edit, or: "+a.answerWith("answer", t, key, s.example()))
	case s.Type == "boolean":
		return encode(v.yes), nil
	}
	answer := struct {
		Approved bool            `json:"approved"`
		Reason   string          `json:"reason,omitempty"`
		Edited   json.RawMessage `json:"edited,omitempty"`
	}{Approved: v.yes, Edited: edited}
	if s.takesReason() {
		answer.Reason = v.reason
	}
	return encode(answer), nil
}
