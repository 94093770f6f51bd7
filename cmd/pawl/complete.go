package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completeFor bounds what pressing the tab key may take.
const completeFor = time.Second

// completeRef proposes what one REF may be, and nothing behind it.
func (a *app) completeRef(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRefs(cmd, args, begin)
}

// completeRefs proposes the IDs of runs, says which are running, and leaves the
// names of files to the shell.
func (a *app) completeRefs(cmd *cobra.Command, _ []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.storeSet = cmd.Flags().Changed("store")
	s, _, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), completeFor)
	defer cancel()
	found, _ := runIDs(ctx, s, begin) // what was found in time
	var proposed []cobra.Completion
	for _, id := range found {
		// The shell reads lines; what is not plain cannot be typed either.
		if cell(id) != id {
			continue
		}
		if o, err := s.Owner(id); err == nil && o != nil {
			id = cobra.CompletionWithDesc(id, statusRunning)
		}
		proposed = append(proposed, id)
	}
	return proposed, cobra.ShellCompDirectiveDefault
}

// completeFlag proposes the values that a flag may have.
func (a *app) completeFlag(cmd *cobra.Command, name string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
