package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/tools/internal/ledger"
	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/suite"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// long runs every test with PAWL_LONG=1, which makes the long ones do all that
// they can, and PAWL_SEED set, from which those that draw at random start. Each
// test is a process of its own, and each that passed is remembered for this exact
// state of the sources: a second start goes on where the first was interrupted. Tests
// that are parts of one find in PAWL_LONG_DIR what those before them left there.
// There is no budget; a test that takes longer than -timeout is taken to hang.
func long(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	seed := fs.Uint64("seed", 0, "the seed, to repeat a run; drawn at random by default")
	fresh := fs.Bool("fresh", false, "forget what passed before")
	limit := fs.Duration("timeout", 2*time.Hour, "the longest that one test may take")
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	out, err := p.out("long")
	if err != nil {
		return err
	}
	hash, err := tree.Hash(p.root)
	if err != nil {
		return err
	}
	draw := func() uint64 { return uint64(rand.Uint32()) + 1 } // short enough to type, never 0
	led, err := ledger.Open(filepath.Join(out, hash+".jsonl"), draw, *seed, *fresh)
	if err != nil {
		return err
	}
	defer led.Close()
	fmt.Printf("long tests of sources %s, seed %d (again: make long SEED=%d)\n", hash, led.Seed, led.Seed)

	s := longSuite{led: led, bin: filepath.Join(out, "pkg.test"), limit: *limit}
	s.dir = filepath.Join(out, fmt.Sprintf("%s-%d", hash, led.Seed))
	if *fresh {
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	defer os.Remove(s.bin)
	var results []suite.Result
	for _, m := range picked {
		r := suite.Result{Suite: m.Dir, Report: suite.Report{Skips: make(map[string][]string)}}
		r.Err = s.module(ctx, p.dir(m), &r)
		results = append(results, r)
		if ctx.Err() != nil {
			fmt.Println("interrupted; the same command goes on from here")
			break
		}
	}
	fmt.Printf("\n%d tests had passed before for these sources and were not run again (FRESH=1 runs all)\n", s.before)
	if err := suite.Sum(os.Stdout, results, 0); err != nil {
		return fmt.Errorf("%w (seed %d)", err, led.Seed)
	}
	return nil
}

// A longSuite runs long tests one by one.
type longSuite struct {
	led    *ledger.Ledger
	bin    string // the test binary of the package at hand
	dir    string // what tests leave for others
	limit  time.Duration
	before int // tests that were not run, for they had passed
}

// module runs the tests of each package of the module in dir.
func (s *longSuite) module(ctx context.Context, dir string, r *suite.Result) error {
	list, err := run.Output(ctx, dir, nil, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}", "./...")
	if err != nil {
		return fmt.Errorf("%w: %s", err, list)
	}
	var errs []error
	for line := range strings.Lines(list) {
		pkg, pkgDir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if err := s.pkg(ctx, pkg, pkgDir, r); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", pkg, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (s *longSuite) pkg(ctx context.Context, pkg, dir string, r *suite.Result) error {
	start := time.Now()
	if text, err := run.Output(ctx, dir, nil, "go", "test", "-c", "-o", s.bin, "."); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	r.Build += time.Since(start)
	list, err := run.Output(ctx, dir, nil, s.bin, "-test.list=^(Test|Fuzz|Example)")
	if err != nil {
		return fmt.Errorf("listing tests: %w: %s", err, list)
	}
	var errs []error
	for name := range strings.Lines(list) {
		errs = append(errs, s.test(ctx, pkg, dir, strings.TrimSpace(name), r))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

func (s *longSuite) test(ctx context.Context, pkg, dir, name string, r *suite.Result) error {
	full := pkg + "." + name
	if _, ok := s.led.Passed(full); ok {
		s.before++
		return nil
	}
	env := append(suite.Env(), "PAWL_LONG=1", "PAWL_LONG_DIR="+s.dir, "PAWL_SEED="+strconv.FormatUint(s.led.Seed, 10))
	start := time.Now()
	rep, err := suite.Start(ctx, dir, env, suite.Options{Out: os.Stdout}, "go", "tool", "test2json", "-p", pkg,
		s.bin, "-test.v=test2json", "-test.run=^"+name+"$", "-test.timeout="+s.limit.String())
	took := time.Since(start)
	r.Run += took
	r.Report.Add(rep)
	if err != nil {
		fmt.Printf("FAIL %8.1fs %s (again: make long SEED=%d)\n", took.Seconds(), full, s.led.Seed)
		return err
	}
	fmt.Printf("ok   %8.1fs %s\n", took.Seconds(), full)
	if rep.Passed == 0 { // skipped: where it can run, it shall
		return nil
	}
	return s.led.Pass(full, took)
}
