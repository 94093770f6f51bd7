package journalfile_test

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	// The model makes and drops file systems by the thousand: collect them seldom, and
	// yet stay small beside the hashes of millions.
	debug.SetGCPercent(1600)
	debug.SetMemoryLimit(600 << 20)
	os.Exit(m.Run())
}
