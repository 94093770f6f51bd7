package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeFor bounds what pressing the tab key may take.
const completeFor = time.Second

// completeRefs proposes the IDs of runs, with their status, and the names of files.
func (a *app) completeRefs(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.Args != nil && len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp // one REF only
	}
	a.storeSet = cmd.Flags().Changed("store")
	s, _, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), completeFor)
	defer cancel()
	var ids []cobra.Completion
	for info, err := range s.Runs(ctx) {
		if err != nil {
			break
		}
		// The shell reads lines; what is not plain cannot be typed either.
		if strings.HasPrefix(info.ID, begin) && cell(info.ID) == info.ID {
			ids = append(ids, cobra.CompletionWithDesc(info.ID, statusOf(info)))
		}
	}
	return ids, cobra.ShellCompDirectiveDefault
}

// completeFlag proposes the values that a flag may have.
func (a *app) completeFlag(cmd *cobra.Command, name string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
