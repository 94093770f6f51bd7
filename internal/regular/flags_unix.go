//go:build unix

package regular

import "syscall"

// Flags of open: not through a link at the end of the path, and not waiting for
// the other end of a FIFO.
const (
	NoFollow = syscall.O_NOFOLLOW
	NoBlock  = syscall.O_NONBLOCK
)
