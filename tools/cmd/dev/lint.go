package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

const (
	staticcheckPkg = "honnef.co/go/tools/cmd/staticcheck"
	gofumptPkg     = "mvdan.cc/gofumpt"
)

// A check looks at one module and returns its complaints. An error without a
// complaint means that the check itself could not run.
type check struct {
	name string
	run  func(ctx context.Context, dir string, m tree.Module) (complaints string, err error)
}

// lint runs all checks on all modules, shows every complaint, and fails at the
// end if there was one.
func lint(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	staticcheck, err := p.tool(ctx, staticcheckPkg)
	if err != nil {
		return err
	}
	gofumpt, err := p.tool(ctx, gofumptPkg)
	if err != nil {
		return err
	}
	checks := []check{
		{"gofumpt", func(ctx context.Context, dir string, m tree.Module) (string, error) {
			return unformatted(ctx, gofumpt, dir, m)
		}},
		{"vet", exits("go", "vet", "./...")},
		{"staticcheck", exits(staticcheck, "./...")},
		{"fix", exits("go", "fix", "-diff", "./...")},
		{"tidy", exits("go", "mod", "tidy", "-diff")},
		{"imports", foreignInternals},
	}
	var failed []string
	for _, m := range picked {
		for _, c := range checks {
			start := time.Now()
			text, err := c.run(ctx, p.dir(m), m)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			verdict := "ok"
			if err != nil {
				failed = append(failed, m.Dir+" "+c.name)
				verdict = "FAILED: " + err.Error()
			}
			fmt.Printf("%-12s %-12s %5.1fs  %s\n", m.Dir, c.name, time.Since(start).Seconds(), verdict)
			if err != nil && text != "" {
				fmt.Println(text)
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// exits makes a check of a command that complains by its exit code.
func exits(name string, args ...string) func(context.Context, string, tree.Module) (string, error) {
	return func(ctx context.Context, dir string, _ tree.Module) (string, error) {
		return run.Output(ctx, dir, nil, name, args...)
	}
}

// unformatted lists the files that gofumpt would change.
func unformatted(ctx context.Context, gofumpt, dir string, m tree.Module) (string, error) {
	text, err := run.Output(ctx, dir, nil, gofumpt, append([]string{"-l"}, m.GoFiles()...)...)
	if err == nil && text != "" {
		err = errors.New("`make format` would change these files")
	}
	return text, err
}

// foreignInternals lists the imports of internal packages of another module.
// The go command lets a nested module import those of a module above it, for
// their paths nest; once published, the two have versions of their own and what
// is internal may change between them.
func foreignInternals(_ context.Context, dir string, m tree.Module) (string, error) {
	var found []string
	for _, name := range m.GoFiles() {
		file := filepath.Join(dir, name)
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return "", err
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return "", err
			}
			if foreignInternal(m.Path, imported) {
				found = append(found, fmt.Sprintf("%s imports %s", path.Join(m.Dir, name), imported))
			}
		}
	}
	if len(found) > 0 {
		return strings.Join(found, "\n"), errors.New("internal packages of another module")
	}
	return "", nil
}

func foreignInternal(module, imported string) bool {
	ours := imported == tree.RootModule || strings.HasPrefix(imported, tree.RootModule+"/")
	if !ours || !strings.Contains(imported+"/", "/internal/") {
		return false
	}
	return module != tree.RootModule && !strings.HasPrefix(imported, module+"/")
}

// format mends what the checks gofumpt and tidy complain about.
func format(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	gofumpt, err := p.tool(ctx, gofumptPkg)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range picked {
		errs = append(errs,
			run.Stream(ctx, p.dir(m), nil, gofumpt, append([]string{"-l", "-w"}, m.GoFiles()...)...),
			run.Stream(ctx, p.dir(m), nil, "go", "mod", "tidy"))
	}
	return errors.Join(errs...)
}
