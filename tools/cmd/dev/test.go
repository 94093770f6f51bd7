package main

import (
	"context"
	"flag"
	"os"

	"github.com/pawlgo/pawl/tools/internal/suite"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// test runs the suites one after another; each shares the machine with nothing
// but itself, or the budgets would mean little.
func test(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	o := suite.Options{Out: os.Stdout, Fresh: os.Getenv("CI") != ""}
	fs.BoolVar(&o.Race, "race", true, "use the race detector")
	fs.BoolVar(&o.Verbose, "v", false, "show what passing tests print")
	fs.StringVar(&o.Match, "run", "", "only tests that match this expression")
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	table, err := tree.LoadTable(p.root)
	if err != nil {
		return err
	}
	var results []suite.Result
	for _, m := range picked {
		results = append(results, suite.Run(ctx, p.root, m, o))
		if ctx.Err() != nil {
			break
		}
	}
	return suite.Sum(os.Stdout, results, table.Total)
}
