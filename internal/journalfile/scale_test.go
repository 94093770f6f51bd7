package journalfile_test

import (
	"os"
	"strconv"
	"testing"
)

// scale says how much of its work a test shall do: 1 is the whole, less is under the
// race detector, more if PAWL_LONG is set.
func scale() float64 {
	switch {
	case os.Getenv("PAWL_LONG") != "":
		return 100
	case raceEnabled:
		return 0.1
	default:
		return 1
	}
}

// seed returns PAWL_SEED, or 1, and prints it.
func seed(t *testing.T) uint64 {
	n, err := strconv.ParseUint(os.Getenv("PAWL_SEED"), 10, 64)
	if err != nil {
		n = 1
	}
	t.Logf("seed: PAWL_SEED=%d", n)
	return n
}
