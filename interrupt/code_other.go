//go:build !windows

package interrupt

import "os"

// code is the exit code after a signal: 128 and its number.
func code(sig os.Signal) int {
	if sig == os.Interrupt {
		return 128 + 2
	}
	return 128 + 15
}
