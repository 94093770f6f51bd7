//go:build !linux

package bench

import (
	"os"
	"runtime"
	"time"
)

func sync(f *os.File) error { return f.Sync() }

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }

// peakRSS is what the Go runtime took from the system, in bytes.
func peakRSS() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
