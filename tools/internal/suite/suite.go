package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// slack is how long a suite may go on past its budget before it is stopped: a
// single test that hangs is ended by go test's own -timeout at the budget, with
// the stacks of all goroutines, which says more than a kill.
const slack = 30 * time.Second

// Options say how suites run.
type Options struct {
	Race    bool      // with the race detector
	Fresh   bool      // never take a result from go's test cache
	Verbose bool      // show what passing tests print too
	Match   string    // only tests that match this expression of go test -run
	Out     io.Writer // where everything is printed
}

// A Result is what came of one suite.
type Result struct {
	Suite  string
	Report Report
	Build  time.Duration // compiling, which no budget counts
	Run    time.Duration // go test, with linking
	Budget time.Duration
	Err    error // why the suite failed, nil if it passed
}

var errOver = errors.New("over budget")

// Env is the environment of every test run. By default a program built with the
// race detector sleeps for a second before it exits, and crash tests start the
// test binary again and again.
func Env() []string {
	if os.Getenv("GORACE") != "" {
		return nil
	}
	return []string{"GORACE=atexit_sleep_ms=20"}
}

// Run runs the tests of module m of the checkout at root.
func Run(ctx context.Context, root string, m tree.Module, o Options) Result {
	res := Result{Suite: m.Dir, Budget: m.Budget}
	dir := filepath.Join(root, m.Dir)
	fmt.Fprintf(o.Out, "\n== suite %s (%s, budget %s)\n", m.Dir, m.Path, m.Budget)

	start := time.Now()
	if err := build(ctx, dir, o); err != nil {
		res.Build = time.Since(start)
		res.Err = fmt.Errorf("build failed: %w", err)
		res.Report = Report{Failed: 1, Failures: []string{m.Path + " (build)"}}
		return res
	}
	res.Build = time.Since(start)

	start = time.Now()
	res.Report, res.Err = test(ctx, dir, m.Budget, o)
	res.Run = time.Since(start)
	if res.Err == nil && res.Run > m.Budget {
		res.Err = errOver
	}
	return res
}

// build compiles every package and test of the module, and links nothing: asking
// for export data is what makes go list compile.
func build(ctx context.Context, dir string, o Options) error {
	args := append([]string{"list"}, o.flags()...)
	args = append(args, "-test", "-deps", "-export", "-f", "{{/* compiled, nothing to print */}}", "./...")
	cmd := run.Command(ctx, dir, nil, "go", args...)
	cmd.Stdout, cmd.Stderr = o.Out, o.Out
	return cmd.Run()
}

func test(ctx context.Context, dir string, budget time.Duration, o Options) (Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, budget+slack, errors.New("stopped, far over budget"))
	defer cancel()
	args := append([]string{"test", "-json", "-timeout=" + budget.String()}, o.flags()...)
	if o.Fresh {
		args = append(args, "-count=1")
	}
	if o.Match != "" {
		args = append(args, "-run="+o.Match)
	}
	return Start(ctx, dir, Env(), o, "go", append(args, "./...")...)
}

func (o Options) flags() []string {
	if o.Race {
		return []string{"-race"}
	}
	return nil
}

// Start runs a command that prints the JSON stream of go test and reports on it.
func Start(ctx context.Context, dir string, env []string, o Options, name string, args ...string) (Report, error) {
	cmd := run.Command(ctx, dir, env, name, args...)
	cmd.Stderr = o.Out
	stream, err := cmd.StdoutPipe()
	if err != nil {
		return Report{}, err
	}
	if err := cmd.Start(); err != nil {
		return Report{}, err
	}
	rep, readErr := Read(stream, o.Out, o.Verbose)
	err = cmd.Wait()
	run.End(cmd)
	rep.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil:
		return rep, context.Cause(ctx)
	case rep.Failed > 0:
		return rep, fmt.Errorf("%d failed", rep.Failed)
	case err != nil:
		return rep, err
	}
	return rep, readErr
}
