package interrupt_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/interrupt"
	"github.com/pawlgo/pawl/pawltest/witness"
)

// children are programs that tests run as processes of their own, by executing the test
// binary again: what ends a process needs one that may end. They get the context and the
// exit code as the documentation shows.
var children = map[string]func(c *child) error{}

func TestMain(m *testing.M) {
	name := os.Getenv("PAWL_TEST_CHILD")
	if name == "" {
		os.Exit(m.Run())
	}
	c := &child{mode: os.Getenv("I_MODE")}
	grace, err := time.ParseDuration(os.Getenv("I_GRACE"))
	if err == nil {
		c.log, err = witness.Open(os.Getenv("I_LOG"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	c.ctx, c.stop = interrupt.Context(context.Background(), grace)
	err = children[name](c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
	}
	os.Exit(interrupt.ExitCode(c.ctx, err))
}

// child is what such a program has.
type child struct {
	ctx  context.Context
	stop context.CancelFunc
	mode string
	log  *witness.Log
}

// at says how far the program is, to the test that signals it then.
func (c *child) at(place string) { fmt.Println("at " + place) }

// effect tells the witness of an effect.
func (c *child) effect(key string) {
	if err := c.log.Effect(key); err != nil {
		panic(err)
	}
}

// acked tells the witness that a result was acknowledged.
func (c *child) acked(key, value string) {
	if err := c.log.Acked(key, []byte(value)); err != nil {
		panic(err)
	}
}

// history is the starts of one child program over one directory.
type history struct {
	t    *testing.T
	name string
	dir  string
	seen int // lines of the witness that earlier starts wrote
}

func newHistory(t *testing.T, name string) *history {
	return &history{t: t, name: name, dir: t.TempDir()}
}

func (h *history) path(name string) string { return filepath.Join(h.dir, name) }

// process is a child that runs.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr bytes.Buffer
}

// start starts the program; a wrapper is put before its name.
func (h *history) start(mode string, grace time.Duration, wrapper ...string) *process {
	h.t.Helper()
	p := h.prepare(mode, grace, wrapper...)
	p.run()
	return p
}

func (h *history) prepare(mode string, grace time.Duration, wrapper ...string) *process {
	args := append(slices.Clone(wrapper), os.Args[0])
	p := &process{t: h.t, cmd: exec.Command(args[0], args[1:]...)}
	p.cmd.Dir = h.dir
	p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD="+h.name,
		"I_LOG="+h.path("witness"), "I_MODE="+mode, "I_GRACE="+grace.String())
	p.cmd.Stderr = &p.stderr
	return p
}

func (p *process) run() {
	p.t.Helper()
	pipe, err := p.cmd.StdoutPipe()
	check(p.t, err)
	p.out = bufio.NewReader(pipe)
	check(p.t, p.cmd.Start())
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // if the test ended early
}

// at waits until the program says that it is there.
func (p *process) at(place string) {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			_ = p.cmd.Wait()
			p.t.Fatalf("the program ended before %q: %s", place, p.stderr.String())
		}
		if line == "at "+place+"\n" {
			return
		}
	}
}

// signal sends a signal to the program.
func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	check(p.t, p.cmd.Process.Signal(sig))
}

// ends waits for the program, at most as long, and compares its exit code; -1 means that it
// was killed. It returns what the program said on stderr.
func (p *process) ends(code int, within time.Duration) string {
	p.t.Helper()
	begin := time.Now()
	timer := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	err := p.cmd.Wait()
	if took := time.Since(begin); took > within {
		p.t.Errorf("the program took %v to end, want less than %v", took, within)
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		p.t.Fatal(err)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("exit code %d (%v), want %d\n%s", got, exit, code, p.stderr.String())
	}
	return p.stderr.String()
}

// saw compares what the witness saw since the last call with events like "effect step-1".
func (h *history) saw(want ...string) {
	h.t.Helper()
	text, err := os.ReadFile(h.path("witness"))
	check(h.t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var got []string
	for _, line := range lines[h.seen:] {
		f := strings.Fields(line) // a kind, a quoted key, and a digest with "acked"
		got = append(got, f[0]+" "+strings.Trim(f[1], `"`))
	}
	h.seen = len(lines)
	if !slices.Equal(got, want) {
		h.t.Errorf("the witness saw\n%q, want\n%q", got, want)
	}
	report, err := witness.Check(h.path("witness"))
	check(h.t, err)
	if err := report.Err(); err != nil {
		h.t.Error(err)
	}
}

// store opens the store in which the program keeps its runs.
func (h *history) store() *pawl.Store {
	h.t.Helper()
	s, err := pawl.Open(h.path("store"), pawl.MustExist())
	check(h.t, err)
	h.t.Cleanup(func() { check(h.t, s.Close()) })
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
