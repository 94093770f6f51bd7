package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
)

const benchstatPkg = "golang.org/x/perf/cmd/benchstat"

// bench runs the benchmarks of bench/ if there is such a folder, of the root
// module otherwise, several times each, keeps what they print, and lets benchstat
// show the medians, next to those of an earlier run if one is named.
func bench(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	count := fs.Int("count", 6, "how often each benchmark runs; with less than 6 there are no confidence intervals")
	match := fs.String("match", ".", "only benchmarks that match this expression")
	old := fs.String("old", "", "a file of an earlier run to compare with")
	if err := fs.Parse(args); err != nil {
		return err
	}
	benchstat, err := p.tool(ctx, benchstatPkg)
	if err != nil {
		return err
	}
	out, err := p.out("bench")
	if err != nil {
		return err
	}
	file := filepath.Join(out, time.Now().Format("20060102-150405")+".txt")
	dir, pkgs := benchPackages(p)
	if err := record(ctx, file, dir, "go", "test", "-run=^$", "-bench="+*match, "-benchmem",
		"-count="+strconv.Itoa(*count), "-timeout=0", pkgs); err != nil {
		return err
	}
	fmt.Printf("\nMedians of %d runs, from %s\n", *count, file)
	if *old != "" {
		return run.Stream(ctx, p.root, nil, benchstat, "old="+*old, "new="+file)
	}
	return run.Stream(ctx, p.root, nil, benchstat, "now="+file)
}

// benchPackages returns where to run go test and on which packages.
func benchPackages(p *project) (dir, pkgs string) {
	dir = filepath.Join(p.root, "bench")
	if _, err := os.Stat(dir); err != nil {
		return p.root, "./..."
	}
	if _, err := p.pick([]string{"bench"}); err == nil {
		return dir, "./..."
	}
	return p.root, "./bench/..."
}

// record runs a command, shows what it prints and keeps it in a file.
func record(ctx context.Context, file, dir, name string, args ...string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	cmd := run.Command(ctx, dir, nil, name, args...)
	cmd.Stdout = io.MultiWriter(os.Stdout, f)
	err = cmd.Run()
	run.End(cmd)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
