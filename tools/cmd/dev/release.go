package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/tools/internal/release"
	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// userProgram is what somebody writes who just heard of the library.
//
//go:embed user.go.txt
var userProgram []byte

const commandModule = tree.RootModule + "/cmd/pawl"

// releaseDryRun publishes every released module to a folder that serves as a
// module proxy, then does as a user would, in an empty folder and with an empty
// module cache: gets the library, builds and runs a program with it, compiles all
// packages of all modules, and installs the command.
func releaseDryRun(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	version := fs.String("version", "v0.0.1-dryrun", "the version to publish as")
	keep := fs.Bool("keep", false, "keep the folder with the proxy and the user's module")
	if err := fs.Parse(args); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "pawl-release-")
	if err != nil {
		return err
	}
	if *keep {
		fmt.Printf("everything stays in %s\n", tmp)
	} else {
		defer os.RemoveAll(tmp)
	}
	d := dryRun{project: p, tmp: tmp, version: *version, versions: make(map[string]string)}
	if d.env, err = d.environment(ctx); err != nil {
		return err
	}
	if err := d.publish(ctx); err != nil {
		return err
	}
	if err := d.use(ctx); err != nil {
		return err
	}
	return d.install(ctx)
}

// A dryRun is one such release.
type dryRun struct {
	*project
	tmp      string            // the folder of everything
	version  string            // the version published
	versions map[string]string // released module → version
	env      []string          // the user's environment
}

// environment makes a user's environment: our proxy before the usual ones, an
// empty module cache, and no question to the checksum database about us.
func (d *dryRun) environment(ctx context.Context) ([]string, error) {
	usual, err := run.Output(ctx, d.root, nil, "go", "env", "GOPROXY")
	if err != nil {
		return nil, err
	}
	nosum, err := run.Output(ctx, d.root, nil, "go", "env", "GONOSUMDB")
	if err != nil {
		return nil, err
	}
	owner, _, _ := strings.Cut(strings.TrimPrefix(tree.RootModule, "github.com/"), "/")
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(d.tmp, "proxy")) + "," + usual,
		"GOMODCACHE=" + filepath.Join(d.tmp, "modcache"),
		"GOBIN=" + filepath.Join(d.tmp, "bin"),
		"GOFLAGS=-modcacherw", // so that the cache can be removed
		"GONOSUMDB=" + strings.Trim("github.com/"+owner+","+nosum, ","),
		"GOPRIVATE=", "GONOPROXY=",
		// What the proxies do not have is not looked for in a repository.
		"GOVCS=github.com/" + owner + ":off",
	}, nil
}

// publish stages the released modules one by one, those that others require
// first, and resolves each against what is published by then, as a maintainer
// does after tagging.
func (d *dryRun) publish(ctx context.Context) error {
	byPath := make(map[string]tree.Module)
	mods := make(map[string][]byte)
	for _, m := range d.modules {
		if !m.Released {
			continue
		}
		data, err := os.ReadFile(filepath.Join(d.dir(m), "go.mod"))
		if err != nil {
			return err
		}
		byPath[m.Path], mods[m.Path] = m, data
		d.versions[m.Path] = d.version
	}
	order, err := release.Order(mods)
	if err != nil {
		return err
	}
	for _, path := range order {
		m := byPath[path]
		dir := filepath.Join(d.tmp, "stage", filepath.FromSlash(path))
		if err := release.Stage(d.root, m, dir, d.versions); err != nil {
			return fmt.Errorf("%s: %w", m.Dir, err)
		}
		if err := d.run(ctx, dir, "go", "mod", "tidy"); err != nil {
			return err
		}
		if err := release.Publish(filepath.Join(d.tmp, "proxy"), dir, path, d.version); err != nil {
			return fmt.Errorf("publishing %s: %w", path, err)
		}
		fmt.Printf("published %s@%s\n", path, d.version)
	}
	return nil
}

// use gets the published modules into a new module and builds with them.
func (d *dryRun) use(ctx context.Context) error {
	dir := filepath.Join(d.tmp, "user")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	if err := d.run(ctx, dir, "go", "mod", "init", "example.com/user"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), userProgram, 0o666); err != nil {
		return err
	}
	if err := d.run(ctx, dir, "go", "get", tree.RootModule+"@"+d.version); err != nil {
		return err
	}
	if err := d.run(ctx, dir, "go", "build", "-o", "user", "."); err != nil {
		return err
	}
	if err := d.resumes(ctx, dir); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(d.versions)) {
		if err := d.run(ctx, dir, "go", "get", path+"@"+d.version); err != nil {
			return err
		}
		if err := d.run(ctx, dir, "go", "build", "-o", os.DevNull, path+"/..."); err != nil {
			return err
		}
	}
	return nil
}

// resumes starts the user's program twice. The first start dies after its first
// step, and the second must go on from there.
func (d *dryRun) resumes(ctx context.Context, dir string) error {
	program := filepath.Join(dir, "user")
	first, err := run.Output(ctx, dir, d.env, program, "die")
	fmt.Printf("$ ./user die\n%s\n", first)
	if err == nil || first != "working out 40" {
		return fmt.Errorf("the first start: %v, want it to die after its first step", err)
	}
	second, err := run.Output(ctx, dir, d.env, program)
	fmt.Printf("$ ./user\n%s\n", second)
	if err != nil {
		return fmt.Errorf("the second start: %w", err)
	}
	if second != "working out 2\nsum 42" {
		return errors.New("the second start did not go on where the first had died")
	}
	return nil
}

// install installs the command from the proxy and asks it for its version.
func (d *dryRun) install(ctx context.Context) error {
	if !slices.ContainsFunc(d.modules, func(m tree.Module) bool { return m.Path == commandModule }) {
		fmt.Printf("there is no module %s yet: no command was installed\n", commandModule)
		return nil
	}
	if err := d.run(ctx, d.tmp, "go", "install", commandModule+"@"+d.version); err != nil {
		return err
	}
	cmd := run.Command(ctx, d.tmp, d.env, filepath.Join(d.tmp, "bin", "pawl"), "version")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("pawl version: %w", err)
	}
	fmt.Printf("$ pawl version\n%s", out)
	if !bytes.Contains(out, []byte(d.version)) {
		return errors.New("`pawl version` does not name the version that was installed, " + d.version)
	}
	return nil
}

// run runs a command as the user and shows it with what it prints.
func (d *dryRun) run(ctx context.Context, dir, name string, args ...string) error {
	fmt.Printf("$ %s %s\n", name, strings.Join(args, " "))
	if err := run.Stream(ctx, dir, d.env, name, args...); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
