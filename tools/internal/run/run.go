// Package run starts the commands that the targets are made of. Each command
// gets a process group of its own, so that one that hangs is ended together
// with everything it started.
package run

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// grace is how long a command may take to end after it was asked to.
const grace = 10 * time.Second

// Command returns a command that runs in dir with the variables env ("K=V")
// set on top of this process's own. When ctx ends it is asked to stop, and
// killed if it does not. Its standard error is this process's.
func Command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = grace
	ownGroup(cmd)
	return cmd
}

// Stream runs a command and shows what it prints.
func Stream(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := Command(ctx, dir, env, name, args...)
	cmd.Stdout = os.Stdout
	err := cmd.Run()
	End(cmd)
	return err
}

// Output runs a command and returns what it printed to both outputs.
func Output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := Command(ctx, dir, env, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	End(cmd)
	return strings.TrimRight(out.String(), "\n"), err
}
