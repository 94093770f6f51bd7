package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// start runs the program as a process and returns its lines, and whether it was killed.
func start(t *testing.T, args ...string) (lines []string, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=example")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != -1) {
		t.Fatalf("%q: %v\n%s", args, err, &errs)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err != nil
}

// TestKilledAtEachCall: whatever call it dies at, that one is made again and no other.
func TestKilledAtEachCall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a killed process has an exit code here")
	}
	const answer = "Oslo has snow, Rome has sun: go to Rome."
	for _, mode := range []string{"-stream=false", "-stream"} {
		whole, killed := start(t, mode, "-store", filepath.Join(t.TempDir(), "s"))
		if killed || len(whole) != 6 || whole[5] != answer {
			t.Fatalf("undisturbed: %q", whole)
		}
		for die := 1; die <= 5; die++ {
			store := filepath.Join(t.TempDir(), "s")
			first, killed := start(t, mode, "-store", store, "-die", fmt.Sprint(die))
			if !killed {
				t.Fatalf("die %d: %q", die, first)
			}
			second, killed := start(t, mode, "-store", store)
			if want := whole[die-1:]; killed || strings.Join(second, "|") != strings.Join(want, "|") {
				t.Errorf("%s die %d: the second start said %q, want %q", mode, die, second, want)
			}
			third, killed := start(t, mode, "-store", store)
			if killed || len(third) != 1 || third[0] != answer {
				t.Errorf("%s die %d: the third start said %q", mode, die, third)
			}
		}
	}
}
