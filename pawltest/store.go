package pawltest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/internal/runid"
)

// NewStore returns a new, empty store in memory. It behaves like one that [pawl.Open]
// opens in a directory, but that nothing is written to a file and it cannot be opened a
// second time: its paths ("memory/runs/...") name nothing outside of it. A run that was
// closed, or whose Do returned, can be started again, as after a crash.
//
// The store is closed at the end of the test. A run that is still open then is an error
// of the test: what a goroutine left behind would do to it is not tested.
func NewStore(t testing.TB, opts ...pawl.StoreOption) *pawl.Store {
	t.Helper()
	fsys := memfs.New()
	in := hook.StoreFS(fsys).(pawl.StoreOption)
	store, err := pawl.Open("memory", append([]pawl.StoreOption{in}, opts...)...)
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		for _, path := range fsys.Locked() {
			t.Errorf("pawltest: run %q is still open at the end of the test: close it, or wait for the goroutine that uses it", runOf(path))
		}
		if err := store.Close(); err != nil {
			t.Errorf("pawltest: %v", err)
		}
	})
	return store
}

// runOf returns the ID of the run that a lock belongs to, or the beginning of it.
func runOf(lockPath string) string {
	name := filepath.Base(lockPath)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if id, whole, ok := runid.FromFileName(name); ok && whole {
		return id
	}
	return name
}
