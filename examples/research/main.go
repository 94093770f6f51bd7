// Command research reads a folder of documents and writes a Markdown report
// with sources. It is pawl's main example: kill it at any moment, start it
// again with the same flags, and it goes on where it stopped. No finished
// document is analysed, or paid for, twice.
//
// Without -endpoint the built-in method works offline. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pawlgo/pawl/examples/research/corpus"
	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/llm"
)

// settings are the command line.
type settings struct {
	docs, store, run, out, results, witness string
	endpoint, model, progress               string
	parallel                                int
	pace, timeout                           time.Duration
	price                                   float64
}

const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports a program that SIGINT ended
)

func main() {
	// After the first signal the default is restored, so a second Ctrl-C ends
	// the program at once; pawl loses nothing by that.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process around it. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return exitUsage
	}
	err = research(ctx, set, stdout, stderr)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "research: interrupted; what was finished is recorded. The same command goes on from there.")
		return exitInterrupted
	default:
		fmt.Fprintln(stderr, "research:", err)
		return exitFailed
	}
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("research", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.docs, "docs", "", "`folder` of documents: .txt, .md, .html (default: the corpus shipped in this program)")
	f.StringVar(&s.store, "store", "research-store", "`folder` in which pawl keeps the run")
	f.StringVar(&s.run, "run", "research", "`ID` of the run; another ID is other work")
	f.StringVar(&s.out, "out", "report.md", "`file` for the report, - for standard output")
	f.StringVar(&s.results, "results", "", "`file` for the analyses as JSON")
	f.IntVar(&s.parallel, "parallel", 4, "documents analysed at a time")
	f.StringVar(&s.endpoint, "endpoint", "", "base `URL` of an OpenAI-compatible server, such as http://localhost:11434/v1; its key is read from OPENAI_API_KEY")
	f.StringVar(&s.model, "model", "", "`name` of the model at the endpoint")
	f.DurationVar(&s.timeout, "timeout", 2*time.Minute, "for one request to the endpoint with its whole answer")
	f.StringVar(&s.progress, "progress", "auto", "bar, plain, none, or auto: a bar on a terminal and plain lines elsewhere")
	f.DurationVar(&s.pace, "pace", 0, "think this long about each document before the analysis, as a paid model would (for demonstrations)")
	f.Float64Var(&s.price, "price", 0, "meter this many `dollars` for a thousand words, as a paid model would cost (for demonstrations)")
	f.StringVar(&s.witness, "witness", "", "`file` to which every effect and acknowledgement is appended (for tests)")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return s, err
		}
		return s, errors.New("see research -help") // the flag set has said what is wrong
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q; a folder is given with -docs", f.Arg(0))
	case s.parallel < 1:
		return s, fmt.Errorf("-parallel %d: at least one document at a time", s.parallel)
	case s.pace < 0 || s.timeout <= 0 || !(s.price >= 0):
		return s, errors.New("-pace, -timeout and -price cannot be negative")
	case s.endpoint == "" && s.model != "":
		return s, errors.New("-model needs the -endpoint that serves it")
	case !validProgress(s.progress):
		return s, fmt.Errorf("-progress %q: want auto, bar, plain or none", s.progress)
	}
	return s, nil
}

// method returns the analyzer that the flags ask for.
func (s settings) method() (analysis.Analyzer, error) {
	if s.endpoint == "" {
		return analysis.Offline{}, nil
	}
	return llm.New(llm.Config{BaseURL: s.endpoint, Model: s.model, APIKey: os.Getenv("OPENAI_API_KEY"), Timeout: s.timeout})
}

// folder opens the documents. It is opened as a root: no path in it leads
// outside. The name tells one folder from another on this machine.
func (s settings) folder() (fsys fs.FS, name string, closer io.Closer, err error) {
	if s.docs == "" {
		return corpus.FS(), "the shipped corpus", io.NopCloser(nil), nil
	}
	abs, err := filepath.Abs(s.docs)
	if err != nil {
		return nil, "", nil, fmt.Errorf("documents: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, "", nil, fmt.Errorf("documents: %w", err)
	}
	return root.FS(), abs, root, nil
}
