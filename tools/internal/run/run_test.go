//go:build unix

package run

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command that is stopped takes along what it started, or a hung test would
// leave its processes to slow down all later suites.
func TestStopsWholeGroup(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	start := time.Now()
	_, err := Output(ctx, "", []string{"PID_FILE=" + pidFile}, "sh", "-c", `sleep 60 & echo $! > "$PID_FILE"; wait`)
	if err == nil || time.Since(start) > grace {
		t.Errorf("stopped after %s with %v", time.Since(start), err)
	}
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
			return
		}
		if state(pid) == "Z" { // dead, and its new parent has not asked yet
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d, started by the command, is still there", pid)
}

func state(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(data), ") ")
	return after[:1]
}

func TestOutput(t *testing.T) {
	out, err := Output(t.Context(), "", []string{"WORD=hello"}, "sh", "-c", `echo $WORD; echo err >&2; exit 3`)
	if err == nil || out != "hello\nerr" {
		t.Errorf("%q, %v", out, err)
	}
}
