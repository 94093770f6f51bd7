package pawl_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/pawlgo/pawl"
)

// Exports of a live run, while it saves: each is good, and has what was acknowledged before
// it was begun.
func TestExportWhileItSaves(t *testing.T) { // C-70
	const steps = 300
	s := openStore(t)
	var mu sync.Mutex
	acked := map[string]bool{}
	done := make(chan error, 1)
	go func() {
		_, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) (int, error) {
			items := make([]int, steps)
			for i := range items {
				items[i] = i
			}
			_, err := pawl.Map(ctx, "m", items, func(i int) string { return fmt.Sprint(i) }, func(ctx context.Context, i int) (string, error) {
				key := fmt.Sprint("m/", i, "/s")
				v, err := pawl.Step(ctx, "s", func(context.Context) (string, error) { return strings.Repeat(key+" ", 40), nil })
				mu.Lock()
				defer mu.Unlock()
				acked[key] = err == nil
				return v, err
			}, pawl.Parallel(4))
			return 0, err
		})
		done <- err
	}()
	exports, partial := 0, 0
	for running := true; running; exports++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if _, err := s.Inspect(t.Context(), "r"); err != nil {
			continue // not there yet
		}
		mu.Lock()
		before := len(acked)
		want := make(map[string]bool, before)
		maps.Copy(want, acked)
		mu.Unlock()
		to := imported(t, s)
		infos, err := to.Steps(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, st := range infos {
			have[st.Key] = st.Status == "done"
		}
		for k := range want {
			if !have[k] {
				t.Errorf("%s was acknowledged and is not in the export", k)
			}
		}
		if before < steps {
			partial++
		}
	}
	t.Logf("%d exports, %d of them of an unfinished run", exports, partial)
	if partial < 2 {
		t.Error("the run was over too soon")
	}
}
