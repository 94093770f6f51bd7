package adk_test

import (
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
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
