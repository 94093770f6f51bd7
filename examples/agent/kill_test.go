package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/interrupt"
	"github.com/pawlgo/pawl/pawltest/fakeopenai"
	"github.com/pawlgo/pawl/pawltest/witness"
	"github.com/pawlgo/pawl/wait"
)

// The test binary is the program too, so that there is a process to kill; under the name agent it is
// nothing else.
const (
	childWitness = "AGENT_TEST_WITNESS" // its witness file; a child has it
	childDeaths  = "AGENT_TEST_DEATHS"  // the places where it has died
	childDieAt   = "AGENT_TEST_DIE_AT"  // the place where it dies; "" is each once, "never" none
)

func TestMain(m *testing.M) {
	if os.Getenv(childWitness) != "" {
		os.Exit(child())
	}
	if filepath.Base(os.Args[0]) == "agent" {
		main()
	}
	os.Exit(m.Run())
}

// child is the program, with a watch that keeps the witness and kills the process.
func child() int {
	log, err := witness.Open(os.Getenv(childWitness))
	if err != nil {
		panic(err)
	}
	ctx, stop := interrupt.Context(context.Background(), 10*time.Second)
	defer stop()
	var mu sync.Mutex
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr, func(what, where string, result []byte) {
		mu.Lock()
		defer mu.Unlock()
		var err error
		switch what {
		case "effect":
			err = log.Effect(where)
		case "acked":
			err = log.Acked(where, result)
		}
		if err != nil {
			panic(err)
		}
		if firstTime(what+" "+where) && (os.Getenv(childDieAt) == "" || os.Getenv(childDieAt) == what+" "+where) {
			die()
		}
	})
}

// firstTime notes a place, and reports whether no process has been there before.
func firstTime(place string) bool {
	old, err := os.ReadFile(os.Getenv(childDeaths))
	if err != nil && !os.IsNotExist(err) {
		panic(err)
	}
	if slices.Contains(strings.Split(string(old), "\n"), place) {
		return false
	}
	f, err := os.OpenFile(os.Getenv(childDeaths), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(place + "\n"); err != nil {
		panic(err)
	}
	f.Close()
	return true
}

// scene is a run of the program with all that looks at it from outside.
type scene struct {
	t      *testing.T
	dir    string
	model  *script
	srv    *httptest.Server
	mu     sync.Mutex
	bodies map[string][]byte // requests by turn: all that came for a turn are equal
}

// newScene calls hold, if it is not nil, with each request to the model.
func newScene(t *testing.T, hold func(*http.Request)) *scene {
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	s := &scene{t: t, dir: t.TempDir(), model: newScript(fakeopenai.Config{Idempotent: true}, 0), bodies: map[string][]byte{}}
	s.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process was killed
		}
		if hold != nil {
			hold(r)
		}
		s.mu.Lock()
		turn := fmt.Sprint(bytes.Count(body, []byte(`"role":"assistant"`)))
		if old, ok := s.bodies[turn]; ok && !bytes.Equal(old, body) {
			t.Errorf("turn %s: the model saw\n%s\nand then\n%s", turn, old, body)
		}
		s.bodies[turn] = body
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.model.ServeHTTP(w, r)
	}))
	t.Cleanup(s.srv.Close)
	return s
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

func (s *scene) command(die string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), os.Args[0],
		"-store", s.path("store"), "-refunds", s.path("refunds.txt"), "-base-url", s.srv.URL+"/v1", "-model", "m", "-rpm", "600000")
	cmd.Env = append(os.Environ(), childWitness+"="+s.path("witness"), childDeaths+"="+s.path("deaths"), childDieAt+"="+die)
	return cmd
}

// start runs the program until it ends or dies, and returns what it answered, and how it ended: an
// exit code, or -1.
func (s *scene) start(die string) (answer string, code int) {
	s.t.Helper()
	cmd := s.command(die)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil && code != exitWaiting && !(ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL) {
		s.t.Fatalf("%v\n%s", err, &stderr)
	}
	return stdout.String(), code
}

// decide answers the question from another process, this one.
func (s *scene) decide(says wait.Approval) {
	s.t.Helper()
	store, err := pawl.Open(s.path("store"), pawl.MustExist())
	if err == nil {
		err = store.Answer(s.t.Context(), "ticket-1", question0, says, "ann", "")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	store.Close()
}

// play starts the program until it has ended, and returns its answer and how often it was killed.
func (s *scene) play(e ending, die string) (answer string, kills int) {
	s.t.Helper()
	decided := false
	for {
		answer, code := s.start(die)
		if code == 0 {
			return answer, kills
		}
		last := "waiting"
		if code == -1 {
			kills++
			deaths := strings.Fields(strings.ReplaceAll(s.read("deaths"), " ", "\t"))
			last = strings.Join(deaths[len(deaths)-2:], " ")
		} else if decided {
			s.t.Fatal("it waits for an answer that it has")
		}
		if !decided && (last == e.when || last == "waiting") {
			decided = true
			s.decide(e.says)
		}
	}
}

func (s *scene) read(name string) string {
	b, err := os.ReadFile(s.path(name))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(b)
}

// judge looks at what happened from outside.
func (s *scene) judge(e ending, answer string) {
	t, effects := s.t, 7
	t.Helper()
	if e.paid != "" {
		effects++
	}
	if answer != e.answer {
		t.Errorf("answer %q, want %q", answer, e.answer)
	}
	_, paid, _ := strings.Cut(strings.TrimSpace(s.read("refunds.txt")), " ")
	if paid != e.paid {
		t.Errorf("paid %q, want %q", paid, e.paid)
	}
	w, err := witness.Check(s.path("witness"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	if w.Keys != effects || w.Acks < effects {
		t.Errorf("witness: %+v, want %d keys", w, effects)
	}
	for turn := range 3 {
		if n := s.model.Effects(fmt.Sprint("turn ", turn)); n != 1 {
			t.Errorf("the answer of turn %d was paid for %d times", turn, n)
		}
	}
	for status, n := range s.model.Statuses() {
		if status != http.StatusOK && status != 0 { // 0: the process died meanwhile
			t.Errorf("the model refused a conversation: %d × %d", n, status)
		}
	}
	store, err := pawl.Open(s.path("store"), pawl.MustExist())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	kinds := map[string]int{}
	for ev, err := range store.History(t.Context(), "ticket-1") {
		if err != nil {
			t.Fatal(err)
		}
		kinds[ev.Kind]++
	}
	if kinds["await"] != 1 || kinds["answer"] != 1 || kinds["refuse"] != 0 {
		t.Errorf("asked %d times, answered %d times, refused %d times", kinds["await"], kinds["answer"], kinds["refuse"])
	}
}
