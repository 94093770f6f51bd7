package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// command is this program as the job.
func (d *demo) command(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, demoJob, d.dir)
	cmd.Stdout, cmd.Stderr = d, d.a.stderr
	return cmd, nil
}

// start runs the job to its end.
func (d *demo) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	cmd, err := d.command(ctx)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			d.tell()
			return err
		case <-tick.C:
			d.tell()
		}
	}
}

// startAndKill kills the job when so many steps are finished and some time passed.
func (d *demo) startAndKill(ctx context.Context, steps int, extra time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	cmd, err := d.command(ctx)
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var due <-chan time.Time
	for {
		select {
		case err := <-ended:
			return "", fmt.Errorf("the job ended by itself before it was killed (%v)", err)
		case <-tick.C:
			if n := d.tell(); n >= steps && due == nil {
				due = time.After(extra)
			}
		case <-due:
			if err := cmd.Process.Kill(); err != nil {
				return "", err
			}
			<-ended
			d.tell()
			how := cmd.ProcessState.String()
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && runtime.GOOS != "windows" && ws.Signal() != syscall.SIGKILL {
				return how, fmt.Errorf("the job was to die by SIGKILL, but: %s", how)
			}
			return how, nil
		}
	}
}

// tell says which steps are finished, by the witness, and returns their number.
func (d *demo) tell() int {
	w, err := witness.Check(d.path("witness.log"))
	if err != nil {
		return 0 // not begun, or a line is being written
	}
	keys := w.AckedKeys()
	for ; d.last < len(keys); d.last++ {
		d.say("   step %2d of %d finished", d.last+1, demoSteps)
	}
	return len(keys)
}

// demoResult reads the recorded result of the job.
func demoResult(ctx context.Context, dir string) (map[string][]byte, error) {
	s, err := pawl.Open(dir, pawl.MustExist())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r, err := s.Begin(ctx, demoRun, pawl.MustExist())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var final map[string]string
	done, err := r.Result(&final)
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, fmt.Errorf("the run is not complete: %w", fs.ErrInvalid)
	}
	out := map[string][]byte{}
	for key, v := range final {
		out[key] = []byte(v)
	}
	return out, nil
}
