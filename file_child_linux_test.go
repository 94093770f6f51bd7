package pawl_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
)

func init() { children["file"] = fileProgram }

// padded is a state of any size.
type padded struct {
	Cursor int    `json:"cursor"`
	Pad    string `json:"pad,omitempty"`
}

// fileProgram opens a checkpoint, saves until F_TO and prints what happens, a line
// each, so that tests can kill it, let its system calls fail, or run it where little
// is allowed. Environment: F_PATH, F_TO, F_PAD (bytes of state), F_KEEP (versions),
// F_COMPLETE (the result), F_UID (who to be), F_GOON (do not stop at an error).
func fileProgram() error {
	// strace counts calls per thread.
	runtime.LockOSThread()
	num := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	if uid := num("F_UID"); uid > 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(uid), syscall.Setuid(uid)); err != nil {
			return err
		}
	}
	var opts []pawl.FileOption
	if n := num("F_KEEP"); n > 0 {
		opts = append(opts, pawl.KeepVersions(n))
	}
	ck, err := pawl.OpenFile[padded](os.Getenv("F_PATH"), opts...)
	if err != nil {
		fmt.Println("open:", err)
		return nil
	}
	var result string
	if done, err := ck.Result(&result); done || err != nil {
		fmt.Println("result:", result, err)
		return err
	}
	fmt.Println("at", ck.State().Cursor)
	for i := ck.State().Cursor + 1; i <= num("F_TO"); i++ {
		err := ck.Save(padded{i, strings.Repeat("x", num("F_PAD"))})
		if err != nil {
			fmt.Println("save:", i, err)
			if os.Getenv("F_GOON") == "" {
				return nil
			}
			continue
		}
		fmt.Println("ack", i)
	}
	if r := os.Getenv("F_COMPLETE"); r != "" {
		fmt.Println("complete:", ck.Complete(r))
	}
	for _, w := range ck.Warnings() {
		fmt.Println("warning:", w)
	}
	return ck.Close()
}

// runFile runs fileProgram, under a command if there is one, and returns its lines.
func runFile(t *testing.T, env map[string]string, under ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	ckNil(t, err)
	args := append(under, exe)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=file")
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() == 1 || exit.ExitCode() == 2) {
		t.Fatalf("%v: %v\n%s%s", args, err, out.String(), stderr.String())
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// need skips a test whose tool is not there, or not allowed, and says so.
func need(t *testing.T, try ...string) {
	t.Helper()
	if out, err := exec.Command(try[0], try[1:]...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this test needs %q, which fails: %v %s", strings.Join(try, " "), err, out)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: this test needs root")
	}
}

// lastAck returns the last acknowledged number in a program's lines.
func lastAck(lines []string) (n int) {
	for _, l := range lines {
		if s, ok := strings.CutPrefix(l, "ack "); ok {
			n, _ = strconv.Atoi(s)
		}
	}
	return n
}
