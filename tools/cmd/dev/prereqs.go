package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/pawlgo/pawl/tools/internal/run"
)

// A need is a program that the tests run.
type need struct {
	program string
	why     string   // what uses it
	without string   // what happens where it is missing
	debian  []string // the packages of Debian that bring it
	must    bool     // without it nothing runs
	linux   bool     // wanted on Linux only
}

var needs = []need{
	{
		program: "git", why: "telling sources from leftovers", without: "every file of the folder counts as a source",
		debian: []string{"git"},
	},
	{
		program: "gcc", why: "go test -race", without: "the race detector cannot be linked (RACE=0 runs the tests without it)",
		debian: []string{"gcc", "libc6-dev"}, must: true, linux: true,
	},
	{
		program: "python3", why: "checking the formats with the second reader and with the Python original",
		without: "those tests are skipped, by name", debian: []string{"python3"},
	},
	{
		program: "strace", why: "killing processes at chosen system calls", without: "those tests are skipped, by name",
		debian: []string{"strace"}, linux: true,
	},
}

// prereqs makes sure that the tests find what they need. With everything in
// place it looks at PATH and returns. As root on Debian it installs what is
// missing; elsewhere it says what to install, and fails only if nothing would run
// without it, or in CI, where a skipped test would pass for a passed one.
func prereqs(ctx context.Context, _ *project, fs *flag.FlagSet, args []string) error {
	race := fs.Bool("race", true, "whether the race detector will be used")
	if err := fs.Parse(args); err != nil {
		return err
	}
	missing := lacking(needs, *race, runtime.GOOS, exec.LookPath)
	if len(missing) == 0 {
		return nil
	}
	if canInstall() {
		if err := install(ctx, missing); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n", err)
		}
		missing = lacking(missing, *race, runtime.GOOS, exec.LookPath)
	}
	fatal := false
	for _, n := range missing {
		fmt.Fprintf(os.Stderr, "missing: %s, for %s. Without it %s. On Debian: apt-get install %s\n",
			n.program, n.why, n.without, strings.Join(n.debian, " "))
		fatal = fatal || n.must || os.Getenv("CI") != ""
	}
	if fatal {
		return fmt.Errorf("%d missing programs, named above", len(missing))
	}
	return nil
}

// lacking returns the needs that hold on this system and are not met.
func lacking(all []need, race bool, system string, look func(string) (string, error)) []need {
	var missing []need
	for _, n := range all {
		if n.linux && system != "linux" || n.program == "gcc" && !race {
			continue
		}
		if _, err := look(n.program); err != nil {
			missing = append(missing, n)
		}
	}
	return missing
}

func canInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

func install(ctx context.Context, missing []need) error {
	var packages []string
	for _, n := range missing {
		packages = append(packages, n.debian...)
	}
	fmt.Printf("installing from Debian's packages: %s\n", strings.Join(packages, " "))
	env := []string{"DEBIAN_FRONTEND=noninteractive"}
	if out, err := run.Output(ctx, "", env, "apt-get", "update", "-q"); err != nil {
		fmt.Fprintf(os.Stderr, "%s\napt-get update: %v\n", out, err) // an old list may do
	}
	args := append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)
	if out, err := run.Output(ctx, "", env, "apt-get", args...); err != nil {
		return fmt.Errorf("%s\napt-get install: %w", out, err)
	}
	return nil
}
