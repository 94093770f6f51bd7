package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl/tools/internal/run"
	"github.com/pawlgo/pawl/tools/internal/suite"
	"github.com/pawlgo/pawl/tools/internal/tree"
)

// cover measures which statements of a module its own tests run, in whichever of
// its packages the test is, prints the share per package, and leaves a page that
// shows the source in .out/cover.
func cover(ctx context.Context, p *project, fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	picked, err := p.pick(fs.Args())
	if err != nil {
		return err
	}
	out, err := p.out("cover")
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range picked {
		if err := coverModule(ctx, p.dir(m), out, m); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.Dir, err))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

func coverModule(ctx context.Context, dir, out string, m tree.Module) error {
	base := filepath.Join(out, strings.ReplaceAll(m.Dir, "/", "-"))
	if m.Dir == "." {
		base = filepath.Join(out, "root")
	}
	text, err := run.Output(ctx, dir, suite.Env(), "go", "test", "-coverpkg=./...", "-coverprofile="+base+".out", "./...")
	if err != nil {
		fmt.Println(text)
		return err
	}
	f, err := os.Open(base + ".out")
	if err != nil {
		return err
	}
	defer f.Close()
	shares, err := readProfile(f)
	if err != nil {
		return err
	}
	fmt.Printf("\n== coverage of %s\n", m.Dir)
	for _, pkg := range slices.Sorted(maps.Keys(shares)) {
		fmt.Printf("  %5.1f%%  %s\n", shares[pkg].percent(), pkg)
	}
	var all share
	for _, s := range shares {
		all.covered += s.covered
		all.total += s.total
	}
	fmt.Printf("  %5.1f%%  of the module's %d statements\n", all.percent(), all.total)
	if err := run.Stream(ctx, dir, nil, "go", "tool", "cover", "-html="+base+".out", "-o="+base+".html"); err != nil {
		return err
	}
	fmt.Printf("  source: %s.html\n", base)
	return nil
}

// A share counts statements.
type share struct{ covered, total int }

func (s share) percent() float64 {
	if s.total == 0 {
		return 100
	}
	return 100 * float64(s.covered) / float64(s.total)
}

// readProfile sums up a coverage profile by package. A block that several test
// binaries saw stands in it once for each and counts once.
func readProfile(r io.Reader) (map[string]share, error) {
	type block struct {
		statements int
		run        bool
	}
	blocks := make(map[string]block) // file:from,to → the block
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		fields := strings.Fields(sc.Text())
		if len(fields) != 3 { // the line that names the mode
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("coverage profile: %w", err)
		}
		b := blocks[fields[0]]
		blocks[fields[0]] = block{n, b.run || fields[2] != "0"}
	}
	shares := make(map[string]share)
	for pos, b := range blocks {
		pkg := path.Dir(pos[:strings.LastIndex(pos, ":")])
		s := shares[pkg]
		s.total += b.statements
		if b.run {
			s.covered += b.statements
		}
		shares[pkg] = s
	}
	return shares, sc.Err()
}
