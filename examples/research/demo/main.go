// Command demo proves on a real process what pawl promises. It starts the
// research program as a child, kills it with SIGKILL at a random moment
// half-way, starts it again, and shows from a witness file outside the store
// that nothing acknowledged was done again or lost. See README.md.
//
//	go run ./research/demo            # in the folder examples
//	go run ./research/demo -seed 42   # the same moment again
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// demo is one demonstration.
type demo struct {
	seed           uint64
	pace           time.Duration
	parallel       int
	dir            string // everything that it writes
	stdout, stderr io.Writer
}

func main() {
	d := demo{stdout: os.Stdout, stderr: os.Stderr}
	flag.Uint64Var(&d.seed, "seed", 0, "repeats the random moment of an earlier demonstration (default: a new one)")
	flag.DurationVar(&d.pace, "pace", 500*time.Millisecond, "think time for each document, in place of a paid model's")
	flag.IntVar(&d.parallel, "parallel", 4, "documents analysed at a time")
	flag.Parse()
	for d.seed == 0 {
		d.seed = rand.Uint64N(1_000_000)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "pawl-demo-")
	if err == nil {
		d.dir = dir
		err = d.run(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: FAILED: %v\n", err)
		if d.dir != "" {
			fmt.Fprintf(os.Stderr, "demo: everything it left is in %s; repeat it with -seed %d\n", d.dir, d.seed)
		}
		os.Exit(1)
	}
}

// run is the demonstration. An error means that a promise did not hold, or
// that it could not be tried.
func (d *demo) run(ctx context.Context) error {
	begin := time.Now()
	total, err := documents()
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(d.seed, 0))
	killAt := total*3/10 + rnd.IntN(total*4/10+1)
	extra := time.Duration(rnd.Int64N(int64(d.pace) + 1))
	d.say("Seed %d, everything is written to %s", d.seed, d.dir)
	d.say("Building the research program ...")
	bin, err := d.build(ctx)
	if err != nil {
		return err
	}

	d.say("\n1. The first start: %d documents, %d at a time, each with %v and some cents of a pretended model.", total, d.parallel, d.pace)
	d.say("   It is killed %v after document %d is acknowledged.", extra.Round(time.Millisecond), killAt)
	killed, err := d.startAndKill(ctx, bin, killAt, extra)
	if err != nil {
		return err
	}
	d.say("   The process ended by: %s. Acknowledged until then: %d of %d documents.", killed.state, killed.acked, total)

	d.say("\n2. The same command again:")
	second := time.Now()
	if err := d.start(ctx, bin, d.dir, d.pace); err != nil {
		return fmt.Errorf("second start: %w", err)
	}
	took := time.Since(second)
	p, err := d.prove(total)
	if err != nil {
		return err
	}
	d.say("   Finished in %v. %s", took.Round(100*time.Millisecond), p)

	d.say("\n3. Once more, now that the run is complete:")
	third := time.Now()
	if err := d.start(ctx, bin, d.dir, d.pace); err != nil {
		return fmt.Errorf("third start: %w", err)
	}
	took = time.Since(third)
	if err := d.proveNothingNew(p); err != nil {
		return err
	}
	d.say("   The recorded result was there in %v; the witness saw no new analysis.", took.Round(time.Millisecond))

	d.say("\n4. For comparison, a run that nobody kills, in a store of its own:")
	reference := filepath.Join(d.dir, "reference")
	if err := os.Mkdir(reference, 0o700); err != nil {
		return err
	}
	if err := d.start(ctx, bin, reference, 0); err != nil {
		return fmt.Errorf("uninterrupted run: %w", err)
	}
	if err := d.proveSameReport(reference); err != nil {
		return err
	}
	d.say("   Its report is the same, byte for byte.")
	d.summary(bin, killed, p, total, time.Since(begin))
	return nil
}

func (d *demo) summary(bin string, killed killed, p proof, total int, took time.Duration) {
	d.say("\nAll proofs hold (%v, seed %d), by the witness file and not by pawl's own counters:", took.Round(100*time.Millisecond), d.seed)
	d.say("  acknowledged before the SIGKILL    %d of %d documents", killed.acked, total)
	d.say("  of these analysed again            %d", p.again)
	d.say("  acknowledged and lost              %d", p.missing)
	d.say("  analysed twice, unacknowledged     %d (killed between the analysis and its record; at most %d)", p.repeated, d.parallel)
	d.say("\n  report   %s", d.path("report.md"))
	d.say("  witness  %s", d.path("witness.log"))
	d.say("  store    %s", d.path("store"))
	d.say("\nNext:")
	d.say("  pawl ls --store %s", d.path("store"))
	d.say("  pawl show --store %s research", d.path("store"))
	d.say("      look at the run; the command is in cmd/pawl")
	d.say("  %s -store %s -out -", bin, d.path("store"))
	d.say("      the complete run again: at once, from its record")
	d.say("  go run ./research -docs FOLDER")
	d.say("      your own documents, in the folder examples; kill it whenever you like")
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.stdout, format+"\n", args...) }

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }
