package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// A target is one fuzz function of one package.
type target struct {
	dir  string // the package's folder, relative to the module's, as ./x/y
	name string
}

// fuzz runs each fuzz target of each module for a while: go test -fuzz takes one
// target of one package at a time. What it finds is left in the package's
// testdata/fuzz, to be committed with the mend.
func fuzz(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	each := fs.Duration("time", 20*time.Second, "how long each target runs")
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	var errs []error
	n := 0
	for _, m := range picked {
		found, err := fuzzTargets(p.dir(m), m)
		if err != nil {
			return err
		}
		for _, t := range found {
			n++
			fmt.Printf("\n== fuzz %s %s %s for %s\n", m.Dir, t.dir, t.name, *each)
			err := t.fuzz(ctx, p.dir(m), *each)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", path.Join(m.Path, t.dir), t.name, err))
			}
		}
	}
	fmt.Printf("\nfuzz targets: %d passed, %d failed\n", n-len(errs), len(errs))
	if n == 0 {
		fmt.Println("No module has a function like FuzzX(f *testing.F): nothing was fuzzed.")
	}
	return errors.Join(errs...)
}

// fuzz runs one target. Inputs are minimised by count, not for a minute each, which
// would leave no time to look for others. On a loaded machine go test sometimes fails at
// the end of the time without a finding ("context deadline exceeded"): a failure that
// leaves no input behind is tried once more.
func (t target) fuzz(ctx context.Context, dir string, each time.Duration) error {
	corpus := filepath.Join(dir, t.dir, "testdata", "fuzz", t.name)
	inputs := func() int {
		names, err := os.ReadDir(corpus)
		if err != nil {
			return 0
		}
		return len(names)
	}
	before := inputs()
	var err error
	for range 2 {
		err = run.Stream(ctx, dir, nil, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+each.String(), "-fuzzminimizetime=50x", t.dir)
		if err == nil || ctx.Err() != nil || inputs() != before {
			break
		}
	}
	return err
}

// fuzzTargets finds the fuzz functions of a module in its source.
func fuzzTargets(dir string, m tree.Module) ([]target, error) {
	var found []target
	for _, name := range m.GoFiles() {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") && takesF(fn) {
				found = append(found, target{"./" + path.Dir(name), fn.Name.Name})
			}
		}
	}
	return found, nil
}

func takesF(fn *ast.FuncDecl) bool {
	params := fn.Type.Params.List
	if len(params) != 1 {
		return false
	}
	star, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "F"
}
