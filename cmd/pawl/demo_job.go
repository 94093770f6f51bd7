package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
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
		RunE:    func(cmd *cobra.Command, args []string) error { return runDemoJob(cmd.Context(), os.Stdout, args[0]) },
	}
}

// demoPrices are made up, but in the range of what models cost.
var demoPrices = meter.Prices{"demo-model": {Input: 3, Output: 15}}

// meterDemo meters what a model would have used for the ith page.
func meterDemo(ctx context.Context, i int) error {
	u := meter.Usage{Model: "demo-model", Input: int64(40_000 + 1_700*(i*7%13)), Output: int64(1_900 + 130*(i*5%11))}
	usd, _ := demoPrices.Cost(u)
	return errors.Join(
		meter.Add(ctx, "usd", usd),
		meter.Add(ctx, "input_tokens", float64(u.Input)),
		meter.Add(ctx, "output_tokens", float64(u.Output)),
	)
}

// runDemoJob is an ordinary program with pawl: one step after the other, each
// recorded. It does not know whether it was started before.
func runDemoJob(ctx context.Context, out io.Writer, dir string) (err error) {
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
		if r := pawl.Resumed(ctx); r.Attempt > 1 {
			fmt.Fprintln(out, skipped(r))
		}
		finished := map[string]string{}
		for i := range demoSteps {
			key := fmt.Sprintf("page-%02d", i+1)
			v, err := pawl.Step(ctx, key, func(ctx context.Context) (string, error) {
				if err := w.Effect(key); err != nil { // from here on, it costs
					return "", err
				}
				time.Sleep(demoPace) // a model, in real life
				return fmt.Sprintf("summary of page %d", i+1), meterDemo(ctx, i)
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
