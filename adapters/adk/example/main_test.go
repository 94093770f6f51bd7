package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest/witness"
	"google.golang.org/adk/v2/session"
)

func TestMain(m *testing.M) {
	if os.Getenv("EXAMPLE_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the program as a process.
func start(t *testing.T, dir string, kill int) (output string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-dir", dir, "-kill", fmt.Sprint(kill))
	cmd.Env = append(os.Environ(), "EXAMPLE_CHILD=1", "GORACE=atexit_sleep_ms=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.String(), false
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return out.String(), true
	}
	t.Fatalf("%v\n%s", err, &out)
	return "", false
}

// TestKills kills the program at each place that it has, until there is none more, and lets it
// go on: no call that was acknowledged is made again, the answer and the session are
// those of a program that nobody killed.
func TestKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	kills := 0
	for n := 1; ; n++ {
		dir := t.TempDir()
		_, killed := start(t, dir, n)
		if !killed {
			break
		}
		kills++
		output, killed := start(t, dir, 0)
		if killed || !strings.HasSuffix(output, "You fly with PA 17 and stay at the Albergo Rome.\n") {
			t.Fatalf("killed at %d, then\n%s", n, output)
		}
		report, err := witness.Check(filepath.Join(dir, "witness"))
		if err != nil {
			t.Fatal(err)
		}
		// 3 calls of the model and 3 of tools, 2 of which run at once.
		if report.Err() != nil || report.Keys != 6 || len(report.AckedKeys()) != 6 || report.Effects > 6+2 {
			t.Errorf("killed at %d: %v %+v", n, report.Err(), report)
		}
		if again, _ := start(t, dir, 0); strings.Contains(again, "calling") {
			t.Errorf("complete, and still\n%s", again)
		}
		store, err := pawl.Open(filepath.Join(dir, "store"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := adk.NewSessionService(store).Get(t.Context(), &session.GetRequest{AppName: "travel", UserID: "ann", SessionID: "holidays"})
		if err != nil || resp.Session.Events().Len() != 6 {
			t.Errorf("killed at %d: %v", n, err)
		} else if v, err := resp.Session.State().Get("user:booked"); v != "PA 17 to Rome" {
			t.Errorf("killed at %d: %v %v", n, v, err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	if kills != 17 {
		t.Errorf("%d kills", kills)
	}
}
