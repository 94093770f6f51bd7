package delta

import (
	"os"
	"testing"
)

// many scales a number of cases to the time at hand: a tenth under the race detector,
// which has little to find in code without goroutines, and ten times in a long run.
func many(n int) int {
	switch {
	case testing.Short() || raceEnabled:
		return n / 10
	case os.Getenv("PAWL_LONG") != "":
		return n * 10
	}
	return n
}
