package pawltest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// Seed records results of steps in a run, as if an earlier process had done them: a test
// then begins where the expensive part is over. Results are by full key ("report",
// "analyze/doc-17", "turn/3/model"; a slash in a step's own name is written ~1, a tilde ~0),
// and are what the steps' functions would have returned. The run is created if it is absent.
func Seed(t testing.TB, store *pawl.Store, runID string, results map[string]any) {
	t.Helper()
	run, err := store.Begin(context.Background(), runID)
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	for _, key := range slices.Sorted(maps.Keys(results)) {
		ctx, name := run.Context(context.Background()), key
		if i := strings.LastIndexByte(key, '/'); i >= 0 {
			ctx, name = hook.ScopeOfKey(ctx, key[:i]), key[i+1:]
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if _, err := pawl.Step(ctx, name, func(context.Context) (any, error) { return results[key], nil }); err != nil {
			t.Fatalf("pawltest: seeding step %q: %v", key, err)
		}
	}
	if err := run.Close(); err != nil {
		t.Fatalf("pawltest: %v", err)
	}
}
