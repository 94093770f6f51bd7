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
// show the medians, next to those of an earlier run if one is named. When all of bench/
// ran, it writes bench/RESULTS.md.
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
	dir, pkgs, own := benchPackages(p)
	flags := []string{"test", "-run=^$", "-bench=" + *match, "-count=" + strconv.Itoa(*count), "-timeout=0"}
	if own {
		flags = append(flags, "-benchtime=1x") // each takes its medians of a fixed number of turns
	} else {
		flags = append(flags, "-benchmem")
	}
	load := loadAverage()
	if err := record(ctx, file, dir, "go", append(flags, pkgs)...); err != nil {
		return err
	}
	if own && *match == "." {
		m := machine(ctx, p.root)
		m.count, m.load = *count, load+" before, "+loadAverage()+" after"
		if err := writeResults(filepath.Join(p.root, "bench"), file, m); err != nil {
			return err
		}
		fmt.Println("\nwrote bench/RESULTS.md")
	}
	fmt.Printf("\nMedians of %d runs, from %s\n", *count, file)
	if *old != "" {
		return run.Stream(ctx, p.root, nil, benchstat, "old="+*old, "new="+file)
	}
	return run.Stream(ctx, p.root, nil, benchstat, "now="+file)
}

// benchPackages returns where to run go test and on which packages. Own says that these
// are the benchmarks of bench/.
func benchPackages(p *project) (dir, pkgs string, own bool) {
	dir = filepath.Join(p.root, "bench")
	if _, err := os.Stat(dir); err != nil {
		return p.root, "./...", false
	}
	if _, err := p.pick([]string{"bench"}); err == nil {
		return dir, "./...", true
	}
	return p.root, "./bench/...", true
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
