package pawl_test

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
	"time"

	"github.com/pawlgo/pawl"
)

func init() { children["second-start"] = secondStartProgram }

// cell is a cell of the table "what happens on a second start": a program that is
// started again and again in processes of its own and dies where the cell says.
type cell struct {
	row     string // its row in the package documentation, first column
	name    string // which of the row's cells, "" if it has one
	program func(p *program) error
	// What the outside saw of each start: the effects in their order, and at last how
	// the process ended: "killed", "exit 3", "= RESULT" or "! SENTINEL".
	want []string
	// between is called by the parent after each start, with the number of it.
	between func(t *testing.T, start int, store string)
}

// program is what a cell's program has: the outside witness above all.
type program struct {
	start int // 1 on the first start
	store *pawl.Store
	log   *os.File
}

// secondStartProgram is one start of one cell's program.
func secondStartProgram() error {
	p := &program{}
	var err error
	if p.start, err = strconv.Atoi(os.Getenv("SS_START")); err != nil {
		return err
	}
	if p.log, err = os.OpenFile(os.Getenv("SS_LOG"), os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return err
	}
	if p.store, err = pawl.Open(os.Getenv("SS_STORE")); err != nil {
		return err
	}
	for _, c := range cells() {
		if c.title() == os.Getenv("SS_CELL") {
			return c.program(p)
		}
	}
	return fmt.Errorf("no such cell: %s", os.Getenv("SS_CELL"))
}

func (c cell) title() string { return c.row + "|" + c.name }

// effect has an effect on the outside world: one write, so that it is there whatever
// happens to the process next.
func (p *program) effect(what string) {
	if _, err := fmt.Fprintln(p.log, what); err != nil {
		panic(err)
	}
}

// die kills the process at once: nothing deferred runs, nothing is flushed.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// end tells the witness what a call returned to the program.
func (p *program) end(v any, err error) error {
	if err != nil {
		p.effect("! " + sentinelOf(err))
		return nil
	}
	text, err := json.Marshal(v)
	p.effect("= " + string(text))
	return err
}

// do runs fn in run "r", tells the witness that it was called, and what Do returned.
func (p *program) do(fn func(ctx context.Context) (string, error), opts ...pawl.RunOption) error {
	v, err := pawl.Do(context.Background(), p.store, "r", func(ctx context.Context) (string, error) {
		p.effect("fn")
		return fn(ctx)
	}, opts...)
	return p.end(v, err)
}

// once does it on the first start only.
func (p *program) once(fn func()) {
	if p.start == 1 {
		fn()
	}
}

// step is a step with an effect of its name and a value that tells in which start it
// was made.
func (p *program) step(ctx context.Context, key string, opts ...pawl.StepOption) (string, error) {
	return pawl.Step(ctx, key, p.work(key), opts...)
}

func (p *program) work(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		p.effect(key)
		return p.value(key), nil
	}
}

func (p *program) value(key string) string { return fmt.Sprint(key, "@", p.start) }

// sentinelOf names the sentinel that an error matches.
func sentinelOf(err error) string {
	for name, sentinel := range map[string]error{
		"ErrLocked": pawl.ErrLocked, "ErrCorrupt": pawl.ErrCorrupt, "ErrNewerFormat": pawl.ErrNewerFormat, "ErrInputChanged": pawl.ErrInputChanged,
		"ErrInDoubt": pawl.ErrInDoubt, "ErrStateNotLoaded": pawl.ErrStateNotLoaded, "ErrNotFound": pawl.ErrNotFound, "ErrWaiting": pawl.ErrWaiting,
		"ErrCancelled": pawl.ErrCancelled, "ErrBudget": pawl.ErrBudget, "ErrPoison": pawl.ErrPoison, "context.DeadlineExceeded": context.DeadlineExceeded,
	} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return err.Error()
}

// TestSecondStart starts the program of every cell of the table as often as it says, and
// compares what the outside saw. Pawl's own counters are not asked.
func TestSecondStart(t *testing.T) {
	t.Parallel() // processes that wait for each other's start, mostly
	for _, c := range cells() {
		t.Run(strings.TrimSuffix(c.title(), "|"), func(t *testing.T) {
			dir := t.TempDir()
			log := filepath.Join(dir, "witness")
			ckNil(t, os.WriteFile(log, nil, 0o600))
			h := &starts{t: t, cell: c, dir: dir, log: log}
			for start := range len(c.want) {
				h.run(start + 1)
			}
		})
	}
}

// starts is the history of one cell's starts.
type starts struct {
	t    *testing.T
	cell cell
	dir  string
	log  string
	seen int // bytes of the witness file that earlier starts wrote

	holder *exec.Cmd // process that holds the run while another start is made
}

// run starts the program and compares what it did. A start that is to hold ("hold" is
// its last effect) stays alive during the next one and is killed then.
func (h *starts) run(start int) {
	h.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PAWL_TEST_CHILD=second-start", "SS_STORE="+filepath.Join(h.dir, "store"),
		"SS_LOG="+h.log, "SS_CELL="+h.cell.title(), "SS_START="+strconv.Itoa(start))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ckNil(h.t, cmd.Start())
	want := h.cell.want[start-1]
	if strings.HasSuffix(want, "hold") {
		h.holder = cmd
		h.t.Cleanup(h.release) // also if this start is not what it should be
		h.waitFor("hold\n")
		h.compare(start, want, "")
		return
	}
	err := cmd.Wait()
	h.release()
	h.compare(start, want, endOf(err)+stderrHead(want, stderr.String()))
	if h.cell.between != nil {
		h.cell.between(h.t, start, filepath.Join(h.dir, "store"))
	}
}

// release kills the process that holds the run.
func (h *starts) release() {
	if h.holder != nil {
		_ = h.holder.Process.Kill()
		_ = h.holder.Wait()
		h.holder = nil
	}
}

// endOf says how a process ended, "" if it returned from main without an error.
func endOf(err error) string {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return ""
	case ok && (exit.ExitCode() == -1 || runtime.GOOS == "windows" && exit.ExitCode() == 1):
		return "killed"
	case ok:
		return fmt.Sprint("exit ", exit.ExitCode())
	}
	return err.Error()
}

// stderrHead is what a process said that was not to end with an error.
func stderrHead(want, text string) string {
	if text == "" || strings.HasSuffix(want, "exit 2") || strings.HasSuffix(want, "exit 3") {
		return ""
	}
	return " " + text
}

func (h *starts) waitFor(line string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(h.log)
		ckNil(h.t, err)
		if bytes.Contains(text[h.seen:], []byte(line)) {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the process does not come to %q: %s", line, text)
		}
	}
}

func (h *starts) compare(start int, want, end string) {
	h.t.Helper()
	text, err := os.ReadFile(h.log)
	ckNil(h.t, err)
	got := strings.Join(strings.Fields(string(text[h.seen:])+" "+end), " ")
	h.seen = len(text)
	if got != want {
		h.t.Fatalf("start %d:\n got %s\nwant %s", start, got, want)
	}
}

// cells are all cells of the table.
func cells() []cell {
	return append(append(append(doCells(), stepCells()...), valueCells()...), append(endCells(), waitCells()...)...)
}

// TestEveryRowHasACell: the table in the package documentation and the cells that are
// tested have the same rows.
func TestEveryRowHasACell(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	ckNil(t, err)
	rows := map[string]bool{}
	inTable := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		row, inside := strings.CutPrefix(line, "//\t")
		switch {
		case strings.HasPrefix(line, "// # What happens on a second start"):
			inTable = true
		case strings.HasPrefix(line, "// # "):
			inTable = false
		case inTable && inside && !strings.HasPrefix(row, " "):
			name, _, _ := strings.Cut(row, "  ")
			if name != "call" && name != "how fn ends" {
				rows[name] = true
			}
		}
	}
	if len(rows) < 20 {
		t.Fatalf("only %d rows were found in doc.go", len(rows))
	}
	tested, seen := map[string]bool{}, map[string]bool{}
	for _, c := range cells() {
		tested[c.row] = true
		if !rows[c.row] {
			t.Errorf("the cell %q is of no row in doc.go", c.title())
		}
		if seen[c.title()] {
			t.Errorf("two cells are called %q", c.title())
		}
		seen[c.title()] = true
	}
	for row := range rows {
		if !tested[row] {
			t.Errorf("the row %q in doc.go has no cell that is tested", row)
		}
	}
}
