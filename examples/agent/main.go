// Command agent is a loop of a model and tools that can be killed at any moment: start it again with
// the same flags, and it goes on where it stopped. No answer of the model is paid for twice, no
// tool that has ended runs again, and before money leaves the house a person is asked, who may
// answer days later, while no process runs.
//
// Without -base-url the model is played, offline. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/interrupt"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// settings are the command line.
type settings struct {
	task, run, store, refunds  string
	baseURL, model, key, dieAt string
	inPrice, outPrice, budget  float64
	rpm, turns, parallel       int
	pace                       time.Duration
	prices                     meter.Prices
}

const (
	exitUsage   = 2
	exitWaiting = 5 // not finished: somebody is asked
)

func main() {
	// At the first Ctrl-C or SIGTERM what is under way has ten seconds to end, and is recorded then.
	ctx, stop := interrupt.Context(context.Background(), 10*time.Second)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, nil)
	stop()
	os.Exit(code)
}

// run is main without the process around it. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, w watch) int {
	set, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "agent:", err)
		return exitUsage
	}
	if w == nil {
		w = dieAt(set.dieAt)
	}
	answer, err := work(ctx, set, stderr, w)
	switch {
	case err == nil:
		fmt.Fprintln(stdout, answer)
		return 0
	case errors.Is(err, pawl.ErrWaiting):
		return exitWaiting // the questions were printed
	}
	fmt.Fprintf(stderr, "agent: %v\nagent: what is done is recorded; the same command goes on from there\n", err)
	return interrupt.ExitCode(ctx, err)
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.task, "task", "One of the two lamps of my order 9007199254740993 is broken. And where is my other order?", "what the customer writes, a `text`")
	f.StringVar(&s.run, "run", "ticket-1", "`ID` of the run; another ID is another conversation")
	f.StringVar(&s.store, "store", ".pawl", "`folder` in which pawl keeps the run")
	f.StringVar(&s.refunds, "refunds", "refunds.txt", "`file` of the bank, a line for each payment")
	f.StringVar(&s.baseURL, "base-url", "", "base `URL` of an OpenAI-compatible server, such as http://localhost:11434/v1; its key is read from OPENAI_API_KEY (default: a model that is played)")
	f.StringVar(&s.model, "model", "", "`name` of the model there")
	f.Float64Var(&s.inPrice, "in-price", 0, "`dollars` for a million tokens read")
	f.Float64Var(&s.outPrice, "out-price", 0, "`dollars` for a million tokens written")
	f.Float64Var(&s.budget, "budget", 0, "`dollars` that the run may cost, over all starts (0: no bound)")
	f.IntVar(&s.rpm, "rpm", 600, "requests a minute to the model")
	f.IntVar(&s.turns, "turns", 20, "how often the model may be asked")
	f.IntVar(&s.parallel, "parallel", 4, "tools at once")
	f.DurationVar(&s.pace, "pace", 0, "how long the played model thinks")
	f.StringVar(&s.dieAt, "die-at", "", "kill -9 this process at a `place` such as 'effect turn/1/model' (for demonstrations)")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return s, err
		}
		return s, errors.New("see agent -help") // the flag set has said what is wrong
	}
	s.key = os.Getenv("OPENAI_API_KEY")
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case s.rpm < 1 || s.turns < 1 || s.parallel < 1:
		return s, errors.New("-rpm, -turns and -parallel are 1 or more")
	case (s.baseURL == "") != (s.model == ""):
		return s, errors.New("-base-url and -model come together")
	case !(s.inPrice >= 0 && s.outPrice >= 0 && s.budget >= 0):
		return s, errors.New("prices and budgets are 0 or more")
	case s.baseURL == "":
		s.model, s.prices = "played", meter.Prices{"played": {Input: 3, Output: 15}}
	case s.inPrice > 0 || s.outPrice > 0:
		s.prices = meter.Prices{"*": {Input: s.inPrice, Output: s.outPrice}} // servers add a date to the name
	case s.budget > 0:
		return s, errors.New("-budget needs -in-price and -out-price: without them nobody knows what a call costs")
	}
	return s, nil
}

// play serves the played model.
func (s *settings) play() (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: newScript(fakeopenai.Config{Delay: s.pace}, 1), ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.Serve(l) //nolint:errcheck // it says that it was closed
	}()
	s.baseURL = fmt.Sprintf("http://%s/v1", l.Addr())
	return func() { srv.Close(); <-ended }, nil
}
