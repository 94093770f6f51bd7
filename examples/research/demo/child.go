package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/pawlgo/pawl/examples/research/corpus"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// patience bounds every wait for a child, far above what it needs.
const patience = 2 * time.Minute

// documents counts the corpus.
func documents() (int, error) {
	l, err := docs.List(corpus.FS())
	if err != nil {
		return 0, err
	}
	return len(l.Docs), nil
}

// build makes the research program, outside the source tree.
func (d *demo) build(ctx context.Context) (string, error) {
	bin := d.path("research")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/pawlgo/pawl/examples/research")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build (to be run in the folder examples of the repository): %w\n%s", err, out)
	}
	return bin, nil
}

// command is the research program with its files in dir. Its progress goes to
// our own standard error: on a terminal it draws its bar there itself.
func (d *demo) command(ctx context.Context, bin, dir string, pace time.Duration) *exec.Cmd {
	cmd := exec.CommandContext(ctx, bin,
		"-store", filepath.Join(dir, "store"), "-out", filepath.Join(dir, "report.md"),
		"-results", filepath.Join(dir, "results.json"), "-witness", filepath.Join(dir, "witness.log"),
		"-pace", pace.String(), "-price", "0.02", "-parallel", fmt.Sprint(d.parallel))
	cmd.Stdout, cmd.Stderr = d.stdout, d.stderr
	// When we are told to stop, so is the child, and it stops in order.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// start runs the program to its end.
func (d *demo) start(ctx context.Context, bin, dir string, pace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return d.command(ctx, bin, dir, pace).Run()
}

// killed is how the first start ended.
type killed struct {
	state string // as the operating system tells
	acked int    // documents acknowledged by then, by the witness
}

// startAndKill starts the program and kills it as soon as the witness holds
// acks acknowledgements and the extra time has passed.
func (d *demo) startAndKill(ctx context.Context, bin string, acks int, extra time.Duration) (killed, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := d.command(ctx, bin, d.dir, d.pace)
	if err := cmd.Start(); err != nil {
		return killed{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	due := (<-chan time.Time)(nil)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			return killed{}, fmt.Errorf("the program ended by itself before it was killed: %w", whyEnded(ctx, err))
		case <-poll.C:
			if n, err := d.acknowledged(); err != nil {
				cmd.Process.Kill()
				<-ended
				return killed{}, err
			} else if n >= acks && due == nil {
				due = time.After(extra)
			}
		case <-due:
			if err := cmd.Process.Kill(); err != nil {
				return killed{}, fmt.Errorf("kill: %w", err)
			}
			<-ended
			if f, ok := d.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
				fmt.Fprintln(f) // it died in the middle of its bar
			}
			k := killed{state: cmd.ProcessState.String()}
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && runtime.GOOS != "windows" && ws.Signal() != syscall.SIGKILL {
				return k, fmt.Errorf("the program was to die by SIGKILL, but: %s", k.state)
			}
			if _, err := os.Stat(d.path("report.md")); err == nil {
				return k, errors.New("the killed program has already written its report, so it was not killed half-way")
			}
			var err error
			k.acked, err = d.acknowledged()
			return k, err
		}
	}
}

// whyEnded prefers the reason why we stopped the child to how it ended then.
func whyEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// acknowledged counts the documents that the witness holds as acknowledged.
func (d *demo) acknowledged() (int, error) {
	r, err := witness.Check(d.path("witness.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // not started yet
	}
	if err != nil {
		return 0, err
	}
	return len(r.AckedKeys()), nil
}
