package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest/witness"
)

const (
	demoJob   = "demo-job" // hidden command: the process that the demo kills
	demoRun   = "demo"
	demoSteps = 20
	demoPace  = 120 * time.Millisecond
)

func (a *app) demoJobCommand() *cobra.Command {
	return &cobra.Command{
		Use:     demoJob + " DIR",
		Short:   "The job of pawl demo",
		Example: "  pawl demo",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runDemoJob(cmd.Context(), args[0]) },
	}
}

// runDemoJob is an ordinary program with pawl: one step after the other, each
// recorded. It does not know whether it was started before.
func runDemoJob(ctx context.Context, dir string) (err error) {
	store, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer store.Close()
	w, err := witness.Open(filepath.Join(dir, "witness.log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	_, err = pawl.Do(ctx, store, demoRun, func(ctx context.Context) (map[string]string, error) {
		finished := map[string]string{}
		for i := range demoSteps {
			key := fmt.Sprintf("page-%02d", i+1)
			v, err := pawl.Step(ctx, key, func(context.Context) (string, error) {
				if err := w.Effect(key); err != nil { // from here on, it costs
					return "", err
				}
				time.Sleep(demoPace) // a model, in real life
				return fmt.Sprintf("summary of page %d", i+1), nil
			})
			if err != nil {
				return nil, err
			}
			finished[key] = v
			if err := w.Acked(key, []byte(v)); err != nil {
				return nil, err
			}
		}
		return finished, nil
	}, pawl.RunKind("demonstration"))
	return err
}
