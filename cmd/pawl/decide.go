package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/runs"
)

// signature says who decides something, and why.
type signature struct{ by, reason string }

// flags adds the flags of a signature to a command.
func (s *signature) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.reason, "reason", "", "why, for the history: a `TEXT`")
	cmd.Flags().StringVar(&s.by, "by", "", "who says so, a `NAME` (default user@host)")
}

// who is the name that is recorded.
func (s *signature) who() string { return cmp.Or(s.by, whoAmI()) }

// whoAmI names who types this, for the history.
func whoAmI() string {
	name := cmp.Or(os.Getenv("USER"), os.Getenv("USERNAME"), "unknown")
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// decisionJSON is what somebody decided about a run.
type decisionJSON struct {
	By     *string  `json:"by"`
	Reason *string  `json:"reason"`
	At     jsonTime `json:"at"`
}

// decisionOf is null for no decision.
func decisionOf(d *runs.Decision) *decisionJSON {
	if d == nil {
		return nil
	}
	return &decisionJSON{text(d.By), text(d.Reason), jsonTime(d.At)}
}

// decided says who decided it, when and why.
func (a *app) decided(d *runs.Decision) string {
	s := "at " + a.time(d.At)
	if d.By != "" {
		s = "by " + inline(d.By) + " " + s
	}
	if d.Reason != "" {
		s += ", because: " + a.errorText(d.Reason)
	}
	return s
}

// mustBeStep says which steps a mistyped key may have meant: those of a status first.
func (a *app) mustBeStep(t *target, steps []stepView, key, status string) error {
	var keys, wanted []string
	for _, s := range steps {
		if s.Key == key {
			return nil
		}
		keys = append(keys, s.Key)
		if s.Status == status {
			wanted = append(wanted, s.Key)
		}
	}
	p := &problem{exit: exitNotFound, code: "not_found", msg: fmt.Sprintf("%s has no step %q", cell(t.name), key), hint: "nothing was changed"}
	words := map[string]string{"in_doubt": "in doubt", "failed": "failed"}[status]
	if len(wanted) == 0 {
		p.candidates = nearest(key, keys, 3)
		if words != "" {
			p.hint += "; no step of it " + map[string]string{"in doubt": "is in doubt", "failed": "has failed"}[words]
		}
		return p
	}
	p.candidates = nearest(key, wanted, 3)
	p.hint += "; " + words + ": " + names(p.candidates, 3)
	if more := len(wanted) - len(p.candidates); more > 0 {
		p.hint += fmt.Sprintf(", and %d more", more)
	}
	return p
}

// completeStep proposes runs, and then those steps of the run that was given whose status
// is the one given, or all if it is "".
func (a *app) completeStep(status string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return a.completeRefs(cmd, args, begin)
		}
		a.storeSet = cmd.Flags().Changed("store")
		ctx, cancel := context.WithTimeout(cmd.Context(), completeFor)
		defer cancel()
		t, err := a.resolve(ctx, args[0])
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		steps, _, _ := readSteps(ctx, t.info.Path, t.info.Owner != nil) //nolint:errcheck // what was found
		var proposed []cobra.Completion
		for _, s := range slices.DeleteFunc(steps, func(s stepView) bool { return status != "" && s.Status != status }) {
			if strings.HasPrefix(s.Key, begin) && cell(s.Key) == s.Key {
				proposed = append(proposed, s.Key)
			}
		}
		return proposed, cobra.ShellCompDirectiveNoFileComp
	}
}

// when says a time that something waits for: for people also how long that is.
func (a *app) when(t time.Time) string {
	if !a.out.tty || t.IsZero() {
		return stamp(t)
	}
	if d := t.Sub(a.now()); d > 0 {
		return fmt.Sprintf("%s (in %s)", stamp(t), took(d.Round(time.Second)))
	}
	return fmt.Sprintf("%s (over, %s)", stamp(t), age(t, a.now()))
}
