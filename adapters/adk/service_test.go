package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// TestFrameworksSuite: the tests that adk-go has for every session.Service.
func TestFrameworksSuite(t *testing.T) {
	opts := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}
	t.Run("directory", func(t *testing.T) {
		sessiontestsuite.RunServiceTests(t, opts, func(t *testing.T) session.Service {
			return adk.NewSessionService(openStore(t, filepath.Join(t.TempDir(), "store")))
		})
	})
	t.Run("memory", func(t *testing.T) {
		sessiontestsuite.RunServiceTests(t, opts, func(t *testing.T) session.Service {
			return adk.NewSessionService(pawltest.NewStore(t))
		})
	})
}

func openStore(t *testing.T, dir string) *pawl.Store {
	t.Helper()
	store, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func event(text string) *session.Event {
	ev := session.NewEvent(context.Background(), "i")
	ev.Author = "user"
	ev.Content = genai.NewContentFromText(text, genai.RoleUser)
	return ev
}

var theSession = session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"}

func create(t *testing.T, s session.Service) session.Session {
	t.Helper()
	resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func get(t *testing.T, s session.Service) session.Session {
	t.Helper()
	resp, err := s.Get(t.Context(), &theSession)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func texts(s session.Session) (all []string) {
	for ev := range s.Events().All() {
		all = append(all, ev.Content.Parts[0].Text)
	}
	return all
}

// TestConflicts: what an append is refused for, and that nothing is written then.
func TestConflicts(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	s := adk.NewSessionService(store)
	first := create(t, s)
	second := get(t, s)
	if err := s.AppendEvent(t.Context(), first, event("a")); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(t.Context(), second, event("b")); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("behind another's event: %v", err)
	}
	if err := s.AppendEvent(t.Context(), get(t, s), event("b")); err != nil {
		t.Errorf("read again: %v", err)
	}
	if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s"}); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("created twice: %v", err)
	}

	// Another process, here another handle on the store, has the session's run open.
	other := openStore(t, dir)
	r, err := other.Begin(t.Context(), "adk/session/app/u/s")
	if err != nil {
		t.Fatal(err)
	}
	stale := get(t, s)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.AppendEvent(short, stale, event("c")); !errors.Is(err, pawl.ErrLocked) {
		t.Errorf("owned elsewhere: %v", err)
	}
	if got := texts(get(t, s)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("readers: %q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(t.Context(), stale, event("c")); err != nil {
		t.Errorf("let go: %v", err)
	}

	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: "app", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(t.Context(), stale, event("d")); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if _, err := s.Get(t.Context(), &theSession); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	create(t, s)
	if err := s.AppendEvent(t.Context(), stale, event("d")); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("created again: %v", err)
	}
	if got := texts(get(t, s)); got != nil {
		t.Errorf("%q", got)
	}
}

// TestRunMovedOn: a session that somebody else changed while a run was down is not changed by what
// that run still has to say.
func TestRunMovedOn(t *testing.T) {
	store := pawltest.NewStore(t)
	s := adk.NewSessionService(store)
	w := &world{}
	run := func(die bool) error {
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
			script := calls("look")
			if die {
				script = script[:1] // the second call of the model fails
			}
			look := newTool(t, "look", func(agent.Context, none) (map[string]any, error) { return map[string]any{"seen": true}, nil })
			a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{look}, Model: adk.Model(&scripted{world: w, script: script})})
			return drive(ctx, a, s, hello(), agent.RunConfig{}, adk.Plugin())
		})
		return err
	}
	if err := run(true); err == nil {
		t.Fatal("it did not die")
	}
	before := get(t, s).Events().Len()
	if err := s.AppendEvent(t.Context(), get(t, s), event("never mind")); err != nil {
		t.Fatal(err)
	}
	if err := run(false); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("%v", err)
	}
	if got := get(t, s).Events().Len(); before != 3 || got != before+1 {
		t.Errorf("%d events, then %d", before, got)
	}
}

// TestConcurrent: goroutines on one session, on many, and several readings.
func TestConcurrent(t *testing.T) {
	s := adk.NewSessionService(pawltest.NewStore(t))
	sess := create(t, s)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				ev := event(fmt.Sprint(g, "-", i))
				ev.Actions.StateDelta = map[string]any{fmt.Sprint("app:", g, "-", i): i, "k": g}
				if err := s.AppendEvent(t.Context(), sess, ev); err != nil {
					t.Error(err)
				}
				for range sess.Events().All() {
					sess.State().Get("k")
				}
			}
		})
		wg.Go(func() {
			resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: fmt.Sprint(g), SessionID: "s"})
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				if err := s.AppendEvent(t.Context(), resp.Session, event("x")); err != nil {
					t.Error(err)
				}
				if _, err := s.List(t.Context(), &session.ListRequest{AppName: "app"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	again := get(t, s)
	if again.Events().Len() != 40 || !slices.Equal(texts(again), texts(sess)) {
		t.Errorf("%q\n%q", texts(again), texts(sess))
	}
	shared := 0
	for k := range again.State().All() {
		if strings.HasPrefix(k, "app:") {
			shared++
		}
	}
	if shared != 40 {
		t.Errorf("%d changes of what is shared", shared)
	}
}

// TestProcesses: several processes append to one session, each reading it again when it is refused.
// All that was acknowledged is there, once.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, filepath.Join(dir, "store"))
	s := adk.NewSessionService(store)
	create(t, s)
	const processes, each = 3, 8
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ADK_TEST_CHILD=appends", "GORACE=atexit_sleep_ms=0", "ADK_DIR="+dir, fmt.Sprintf("ADK_WHO=%d", p), fmt.Sprintf("ADK_EACH=%d", each))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	got := texts(get(t, s))
	slices.Sort(got)
	if len(slices.Compact(got)) != processes*each {
		t.Errorf("%d events: %q", len(got), got)
	}
	if v, err := get(t, s).State().Get("user:n"); err != nil || v == nil {
		t.Error(v, err)
	}
}

// appends is the child of TestProcesses.
func appends() error {
	store, err := pawl.Open(filepath.Join(os.Getenv("ADK_DIR"), "store"))
	if err != nil {
		return err
	}
	s := adk.NewSessionService(store)
	each, err := strconv.Atoi(os.Getenv("ADK_EACH"))
	if err != nil {
		return err
	}
	for i := 0; i < each; {
		resp, err := s.Get(context.Background(), &theSession)
		if err != nil {
			return err
		}
		ev := event(os.Getenv("ADK_WHO") + "-" + strconv.Itoa(i))
		ev.Actions.StateDelta = map[string]any{"user:n": i}
		switch err := s.AppendEvent(context.Background(), resp.Session, ev); {
		case err == nil:
			i++
		case !errors.Is(err, pawl.ErrConflict):
			return err
		}
	}
	return store.Close()
}

// TestExact: what is stored comes back with its bytes, or is refused.
func TestExact(t *testing.T) {
	s := adk.NewSessionService(pawltest.NewStore(t))
	sess := create(t, s)
	ev := event("tabs\t, \u2028 and <html>")
	ev.Content.Parts = append(ev.Content.Parts, &genai.Part{
		FunctionCall:     &genai.FunctionCall{ID: "c", Name: "f", Args: map[string]any{"big": 9007199254740993, "small": 1.5, "list": []any{uint64(18446744073709551615), nil}}},
		ThoughtSignature: signature,
	})
	ev.CustomMetadata = map[string]any{"vendor": map[string]any{"opaque": "\u0085é"}}
	if err := s.AppendEvent(t.Context(), sess, ev); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	stored := get(t, s).Events().At(0)
	got, err := json.Marshal(stored)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s\n%s %v", want, got, err)
	}
	args := stored.Content.Parts[1].FunctionCall.Args
	if _, ok := args["small"].(float64); !ok || fmt.Sprint(args["big"]) != "9007199254740993" {
		t.Errorf("%T %T", args["small"], args["big"])
	}
	for _, bad := range []*session.Event{event("\xff"), {Output: math.NaN()}, {Actions: session.EventActions{StateDelta: map[string]any{"f": func() {}}}}} {
		if err := s.AppendEvent(t.Context(), sess, bad); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v", err)
		}
	}
	if n := get(t, s).Events().Len(); n != 1 || sess.Events().Len() != 1 {
		t.Errorf("%d events", n)
	}
}

// TestSharedStateStaysSmall: the run of a state that changes often does not grow with the changes.
func TestSharedStateStaysSmall(t *testing.T) {
	store := pawltest.NewStore(t)
	s := adk.NewSessionService(store)
	sess := create(t, s)
	for i := range 130 {
		ev := event(fmt.Sprint(i))
		ev.Actions.StateDelta = map[string]any{"app:n": i}
		if err := s.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	info, err := store.Inspect(t.Context(), "adk/state/app")
	if err != nil || info.Size > 48*1024 {
		t.Errorf("%d bytes, %v", info.Size, err)
	}
	if v, err := get(t, s).State().Get("app:n"); v != 129.0 {
		t.Error(v, err)
	}
	for i, text := range texts(get(t, s)) { // the session's run was compacted too
		if text != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, text)
		}
	}
}
