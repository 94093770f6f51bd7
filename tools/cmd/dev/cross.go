package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
)

// targets are the systems that the library is for. Tests run on the one that
// the machine has; on the others they are compiled and linked, which proves that
// each has an implementation of everything, and no more than that.
var targets = [][2]string{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// cross runs go test -c for every target and module. With the null device as
// output it takes any number of packages and keeps no binary; packages without
// tests are compiled too. With an empty build cache it compiles the standard
// library and all dependencies once for each target, which takes minutes; with
// a filled one, seconds.
func cross(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range targets {
		env := []string{"GOOS=" + t[0], "GOARCH=" + t[1], "CGO_ENABLED=0"}
		start := time.Now()
		verdict := "ok"
		compiled := 0
		for _, m := range picked {
			// An adapter has no code of its own for any system, and brings hundreds of packages:
			// one architecture of each system shows what there is to see, in half of the time.
			if strings.HasPrefix(m.Dir, "adapters/") && t[1] != "amd64" {
				continue
			}
			compiled++
			text, err := run.Output(ctx, p.dir(m), env, "go", "test", "-c", "-ldflags=-w", "-o", os.DevNull, "./...")
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				fmt.Println(text)
				errs = append(errs, fmt.Errorf("%s/%s: module %s does not compile: %w", t[0], t[1], m.Dir, err))
				verdict = "FAILED"
			}
		}
		fmt.Printf("%-8s %-6s %d modules compiled with their tests  %5.1fs  %s\n",
			t[0], t[1], compiled, time.Since(start).Seconds(), verdict)
	}
	return errors.Join(errs...)
}
