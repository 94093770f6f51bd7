// Command dev does the work behind the targets of the Makefile: make builds it
// into .tools/ and runs it as `dev TARGET`. It finds the repository's modules by
// itself, so that a module added tomorrow is tested, linted, cross-compiled and
// released without a line changed here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// A project is the checkout that a command works on.
type project struct {
	root    string
	modules []tree.Module
}

// A command is one verb of dev. It defines its flags on fs, then parses args.
type command struct {
	name, synopsis string
	run            func(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error
}

func commands() []command {
	return []command{
		{"prereqs", "install, or name, what the tests need beside Go", prereqs},
		{"test", "run the tests of all modules, each against its budget", test},
		{"long", "run the long tests, resumable and with a seed", long},
		{"lint", "vet, staticcheck, gofumpt, go fix, go mod tidy, import rules", lint},
		{"format", "rewrite what lint's gofumpt and go mod tidy complain about", format},
		{"cross", "compile all tests for every supported system", cross},
		{"fuzz", "run every fuzz target for a while", fuzz},
		{"bench", "run the benchmarks and show their medians", bench},
		{"cover", "measure the coverage of each module", cover},
		{"release-dry-run", "publish to a folder, then build and install from it", releaseDryRun},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "dev: %v\n", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command; have:\n%s", usage())
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		return fmt.Errorf("no command %q; have:\n%s", args[0], usage())
	}
	// A workspace above the checkout would replace what the go.mod files say.
	if err := os.Setenv("GOWORK", "off"); err != nil {
		return err
	}
	root, err := tree.Root(".")
	if err != nil {
		return err
	}
	modules, err := tree.Modules(root)
	if err != nil {
		return err
	}
	fs := flag.NewFlagSet("dev "+args[0], flag.ContinueOnError)
	if err := all[i].run(ctx, &project{root, modules}, fs, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

func usage() string {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-16s %s\n", c.name, c.synopsis)
	}
	return b.String()
}

// dir returns the folder of a module on disk.
func (p *project) dir(m tree.Module) string { return filepath.Join(p.root, m.Dir) }

// out returns the path of a folder for a target's output and makes it.
func (p *project) out(name string) (string, error) {
	dir := filepath.Join(p.root, ".out", name)
	return dir, os.MkdirAll(dir, 0o777)
}

// pick returns the modules whose folders are named, all of them for no name.
func (p *project) pick(dirs []string) ([]tree.Module, error) {
	if len(dirs) == 0 {
		return p.modules, nil
	}
	var picked []tree.Module
	for _, dir := range dirs {
		i := slices.IndexFunc(p.modules, func(m tree.Module) bool { return m.Dir == filepath.ToSlash(filepath.Clean(dir)) })
		if i < 0 {
			return nil, fmt.Errorf("no module in folder %q", dir)
		}
		picked = append(picked, p.modules[i])
	}
	return picked, nil
}

// tool builds a program that tools/go.mod names into .tools/ and returns its
// path. Building what is up to date takes a tenth of a second. No C compiler is
// needed.
func (p *project) tool(ctx context.Context, pkg string) (string, error) {
	bin := filepath.Join(p.root, ".tools", filepath.Base(pkg))
	err := run.Stream(ctx, filepath.Join(p.root, "tools"), []string{"CGO_ENABLED=0", "GOOS=", "GOARCH="},
		"go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Dir(bin)+string(filepath.Separator), pkg)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", pkg, err)
	}
	return bin, nil
}
