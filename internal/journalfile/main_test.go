package journalfile_test

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the model makes and drops file systems by the thousand
	os.Exit(m.Run())
}
