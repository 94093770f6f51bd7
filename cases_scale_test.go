package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// TestC71C72C73ManySteps is the small form of three cases: what is held in memory, what a
// step costs in the file, and what opening, asking and saving cost behind many steps. The
// large forms (200 MB, a million steps) are in bench/memory_test.go and bench/resume_test.go.
func TestC71C72C73ManySteps(t *testing.T) {
	n := 5000
	if raceEnabled || testing.Short() {
		n = 1000
	}
	s, err := pawl.Open(fastDir(t) + "/store")
	if err != nil {
		t.Fatal(err)
	}
	const payload = 4000
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	if _, err := run(t, s, func(ctx context.Context) (int, error) {
		_, err := pawl.Map(ctx, "m", items, func(i int) string { return fmt.Sprint(i) }, func(_ context.Context, i int) (string, error) {
			return strings.Repeat("v", payload), nil
		}, pawl.Parallel(64))
		return 0, errors.Join(err, errors.New("stop"))
	}); err == nil || err.Error() != "stop" {
		t.Fatal(err)
	}
	path := inspect(t, s).Path
	size := func() int64 {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	whole := size()
	if most := int64(n)*(payload+600) + 1<<16; whole > most {
		t.Errorf("C-72: %d steps of %d bytes take %d bytes, want at most %d", n, payload, whole, most)
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	info := inspect(t, s)
	steps, err := s.Steps(t.Context(), "r")
	if err != nil || info.Done != n || len(steps) != n {
		t.Fatal(info.Done, len(steps), err)
	}
	if held := heap() - before; held > whole/4+1<<20 {
		t.Errorf("C-71: looking at a run of %d bytes holds %d", whole, held)
	}
	runtime.KeepAlive(steps)
	steps = nil
	before = heap()
	started := time.Now()
	r := begin(t, s)
	if d := time.Since(started); d > 10*time.Second {
		t.Errorf("C-73: opening took %v", d)
	}
	if held := heap() - before; held > whole/4+1<<20 {
		t.Errorf("C-71: an open run of %d bytes holds %d", whole, held)
	}
	started = time.Now()
	const asked = 500
	m := pawl.Scope(r.Context(t.Context()), "m")
	for i := range asked {
		if _, err := pawl.Step(m, fmt.Sprint(i*n/asked), func(context.Context) (string, error) { t.Error("ran"); return "", nil }); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(started) / asked; d > 10*time.Millisecond {
		t.Errorf("C-73: asking for a step took %v", d)
	}
	if _, err := pawl.Step(m, "new", func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // cuts off the fill
		t.Fatal(err)
	}
	if grew := size() - whole; grew <= 0 || grew > 2000 {
		t.Errorf("C-73: one more step, in one more attempt, took %d bytes", grew)
	}
}
