package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/pawltest/witness"
)

const demoPatience = time.Minute // for one start, which takes seconds

func (a *app) demoCommand() *cobra.Command {
	var seed uint64
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Show a job that is killed half-way and goes on, in a few seconds",
		GroupID: "more",
		Example: `  pawl demo
  pawl demo --seed 42      the same moment again`,
		Long: fmt.Sprintf(`Runs a job of %d steps in a process of its own and a temporary directory, kills the
process with SIGKILL at a random moment half-way, and starts it again. A file outside
the store, to which the job itself writes what it did, proves that no finished step
ran again and none was lost. What the steps cost is made up. Nothing is downloaded,
nothing leaves this machine.`, demoSteps),
		Annotations: map[string]string{"exit": "1 a proof does not hold"},
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64N(1_000_000)
			}
			return a.demo(cmd.Context(), seed)
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 0, "repeat the moment of an earlier demo")
	return cmd
}

// demo is one demonstration.
type demo struct {
	a    *app
	dir  string
	last int // acknowledged steps told last

	mu sync.Mutex // held while something is said
}

// Write says what the job writes.
func (d *demo) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		d.say("   it %s", strings.TrimRight(line, "\n"))
	}
	return len(b), nil
}

// demoJSON is what it found, by the witness and not by pawl's own counters.
type demoJSON struct {
	head
	Seed    uint64  `json:"seed"`
	Dir     string  `json:"dir"`
	Store   string  `json:"store"`
	Run     string  `json:"run"`
	Steps   int     `json:"steps"`
	Killed  string  `json:"killed"`         // how the first process ended
	Before  int     `json:"finished"`       // steps acknowledged before the kill
	Rerun   int     `json:"rerun"`          // of these, run again: 0
	Lost    int     `json:"lost"`           // of all acknowledged, missing in the result: 0
	InDoubt int     `json:"repeated"`       // under way at the kill, so run again: at most 1
	Second  float64 `json:"second_seconds"` // what the second start took
	Third   float64 `json:"third_seconds"`  // what the third took, of the complete run

	effects int
}

func (a *app) demo(ctx context.Context, seed uint64) error {
	dir, err := os.MkdirTemp("", "pawl-demo-")
	if err != nil {
		return err
	}
	d := &demo{a: a, dir: dir}
	found, err := d.run(ctx, seed)
	if err != nil {
		return &problem{exit: exitFailed, code: "failed", msg: "demo", err: err, hint: fmt.Sprintf("what it left is in %s; repeat it with: pawl demo --seed %d", dir, seed)}
	}
	if a.json {
		a.out.json(found)
		return nil
	}
	d.conclude(found)
	return nil
}

func (d *demo) run(ctx context.Context, seed uint64) (demoJSON, error) {
	found := demoJSON{head: head{"Demo", 1}, Seed: seed, Dir: d.dir, Store: d.path("store"), Run: demoRun, Steps: demoSteps}
	rnd := rand.New(rand.NewPCG(seed, 0))
	killAt := demoSteps*3/10 + rnd.IntN(demoSteps*3/10+1)
	extra := time.Duration(rnd.Int64N(int64(demoPace)))

	d.say("Everything is written to %s (seed %d).", d.dir, seed)
	d.say("\n1. A job of %d steps, each of %v. It will be killed in or behind step %d.", demoSteps, demoPace, killAt+1)
	how, err := d.startAndKill(ctx, killAt, extra)
	if err != nil {
		return found, err
	}
	before, err := witness.Check(d.path("witness.log"))
	if err != nil {
		return found, err
	}
	found.Killed, found.Before = how, len(before.AckedKeys())
	if found.Before >= demoSteps {
		return found, errors.New("the job was finished before it could be killed; this machine is too busy for the demo")
	}
	d.say("   The process ended by: %s. Finished until then: %d of %d steps.", how, found.Before, demoSteps)

	d.say("\n2. The same job again:")
	begin := time.Now()
	if err := d.start(ctx); err != nil {
		return found, err
	}
	found.Second = seconds(time.Since(begin))
	d.say("   Finished after %v.", took(time.Since(begin)))
	if err := d.prove(ctx, &found); err != nil {
		return found, err
	}

	d.say("\n3. And again, now that it is complete:")
	effects := found.effects
	begin = time.Now()
	if err := d.start(ctx); err != nil {
		return found, err
	}
	found.Third = seconds(time.Since(begin))
	if err := d.prove(ctx, &found); err != nil {
		return found, err
	}
	if found.effects != effects {
		return found, fmt.Errorf("a complete run did %d more steps", found.effects-effects)
	}
	d.say("   Its recorded result was there after %v; no step ran.", took(time.Since(begin)))
	return found, nil
}

// prove judges by the witness file and the result, by nothing else.
func (d *demo) prove(ctx context.Context, found *demoJSON) error {
	w, err := witness.Check(d.path("witness.log"))
	if err != nil {
		return err
	}
	final, err := demoResult(ctx, d.path("store"))
	if err != nil {
		return err
	}
	found.Rerun, found.Lost, found.InDoubt, found.effects = len(w.Violations), len(w.Missing(final)), len(w.Repeated), w.Effects
	switch {
	case w.Err() != nil:
		return w.Err()
	case found.Lost > 0:
		return fmt.Errorf("finished, but not in the result: %s", strings.Join(w.Missing(final), ", "))
	case len(w.AckedKeys()) != demoSteps || len(final) != demoSteps:
		return fmt.Errorf("%d steps were finished and %d are in the result, not %d", len(w.AckedKeys()), len(final), demoSteps)
	case found.InDoubt > 1:
		return fmt.Errorf("%d unfinished steps ran twice, and only one was under way", found.InDoubt)
	}
	return nil
}

func (d *demo) conclude(found demoJSON) {
	d.say("\nProved by %s, which the job writes and pawl does not:", d.path("witness.log"))
	d.say("  finished before the kill    %d of %d steps", found.Before, found.Steps)
	d.say("  of these, run again         %d", found.Rerun)
	d.say("  lost                        %d", found.Lost)
	d.say("  under way at the kill       %d%s", found.InDoubt, map[bool]string{true: ", run again: nobody can know how far it came"}[found.InDoubt > 0])
	d.say("\nNext:")
	for _, cmd := range []string{"ls", "show " + demoRun, "log " + demoRun, "verify"} {
		d.say("  pawl %s --store %s", cmd, quoteArg(found.Store))
	}
	d.say("  rm -r %s", quoteArg(d.dir))
}

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

func (d *demo) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.a.json {
		fmt.Fprintf(d.a.out, format+"\n", args...)
		d.a.out.flush() //nolint:errcheck // kept for the end
	}
}
