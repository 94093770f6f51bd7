package adk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/pawltest/witness"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// child is the program that TestKillEverywhere kills.
func child() error {
	store, err := pawl.Open(filepath.Join(os.Getenv("ADK_DIR"), "store"))
	if err != nil {
		return err
	}
	w := &world{}
	if w.w, err = witness.Open(filepath.Join(os.Getenv("ADK_DIR"), "witness")); err != nil {
		return err
	}
	if w.dieAt, err = strconv.ParseInt(os.Getenv("ADK_DIE_AT"), 10, 64); err != nil {
		return err
	}
	cfg := agent.RunConfig{}
	if os.Getenv("ADK_STREAM") != "" {
		cfg.StreamingMode = agent.StreamingModeSSE
	}
	if _, err = w.durable(context.Background(), store, cfg); err == nil {
		fmt.Println(w.places.Load())
	}
	return err
}

// start runs the child until its end, at a place in it or its own.
func start(t *testing.T, dir string, dieAt int, stream string) (killed bool, places int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ADK_TEST_CHILD=journey", "GORACE=atexit_sleep_ms=0", "ADK_DIR="+dir, "ADK_DIE_AT="+strconv.Itoa(dieAt), "ADK_STREAM="+stream)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		places, _ = strconv.Atoi(strings.TrimSpace(stdout.String()))
		return false, places
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return true, 0
	}
	t.Fatalf("dying at %d: %v\n%s", dieAt, err, &stderr)
	return false, 0
}

// TestKillEverywhere kills a real process before and behind every call of the model, every call of a
// tool and every event that is stored, and sometimes once more in the start that goes on. The witness says that
// nothing acknowledged was done again, and the session holds the transcript of an
// undisturbed journey.
func TestKillEverywhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	whole := t.TempDir()
	_, places := start(t, whole, 0, "")
	want := transcript(t, whole)
	if places < 30 || len(want) != 8 {
		t.Fatalf("%d places, transcript:\n%s", places, strings.Join(want, "\n"))
	}
	kills := 0
	for n := 1; n <= places; n++ {
		dir := t.TempDir()
		stream := []string{"", "sse"}[n%2]
		deaths := []int{n}
		if n%3 == 0 {
			deaths = append(deaths, n/2+1) // the second start dies too: while it replays, or later
		}
		for _, at := range deaths {
			if killed, _ := start(t, dir, at, stream); killed {
				kills++
			}
		}
		if killed, _ := start(t, dir, 0, stream); killed {
			t.Fatal("killed by whom?")
		}
		check(t, dir, n, want)
	}
	t.Logf("%d kills at %d places", kills, places)
}

func check(t *testing.T, dir string, n int, want []string) {
	t.Helper()
	report, err := witness.Check(filepath.Join(dir, "witness"))
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Errorf("dying at %d: %v", n, err)
	}
	// 4 responses, 6 calls of tools; each death may leave what was under way in doubt: a call
	// of the model, or up to 4 of tools.
	if report.Keys != 10 || report.Effects > 10+2*4 {
		t.Errorf("dying at %d: %+v", n, report)
	}
	if got := transcript(t, dir); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("dying at %d:\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// transcript returns the session as it is stored, but for what differs on every start.
func transcript(t *testing.T, dir string) []string {
	t.Helper()
	store, err := pawl.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	return eventsOf(t, adk.NewSessionService(store))
}

func eventsOf(t *testing.T, sessions session.Service) (lines []string) {
	t.Helper()
	resp, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "travel", UserID: "ann", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := resp.Session.State().Get("user:booked"); v != "Rome" {
		t.Errorf("state: %v %v", v, err)
	}
	if v, err := resp.Session.State().Get("sun:Paris"); v != true {
		t.Errorf("state: %v %v", v, err)
	}
	invocation := resp.Session.Events().At(0).InvocationID
	var contents []*genai.Content
	for ev := range resp.Session.Events().All() {
		if ev.InvocationID != invocation {
			t.Errorf("two invocations in one: %s, %s", invocation, ev.InvocationID)
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionCall != nil && p.FunctionCall.Args["city"] == "Rome" && p.FunctionCall.Name == "weather" && !bytes.Equal(p.ThoughtSignature, signature) {
				t.Errorf("signature: %x", p.ThoughtSignature)
			}
		}
		contents = append(contents, ev.Content)
		ev.Content = blank(ev.Content)
		text, err := json.Marshal([]any{ev.Author, ev.Content, ev.Actions})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	if _, err := provider(append(contents, genai.NewContentFromText("and?", genai.RoleUser))); err != nil {
		t.Error(err)
	}
	return lines
}

// blank is a content without IDs and dice.
func blank(c *genai.Content) *genai.Content {
	out := &genai.Content{Role: c.Role}
	for _, p := range c.Parts {
		p := *p
		if p.FunctionCall != nil {
			call := *p.FunctionCall
			call.ID, p.FunctionCall = "", &call
		}
		if p.FunctionResponse != nil {
			r := *p.FunctionResponse
			r.ID, p.FunctionResponse = "", &r
			if r.Name == "roll" {
				r.Response = nil
			}
		}
		out.Parts = append(out.Parts, &p)
	}
	return out
}

// TestCrashAtEveryChange lets the journey die at every change to its store, the same way pawl's own
// programs are tested.
func TestCrashAtEveryChange(t *testing.T) {
	if raceDetector {
		t.Skip("what runs at the same time here does so in TestAgents too; this takes 20 s")
	}
	pawltest.CrashEverywhere(t, func(ctx context.Context, store *pawl.Store) ([]string, error) {
		w := &world{fixed: true}
		return w.durable(ctx, store, agent.RunConfig{})
	})
}
