//go:build !windows

package pawl

import "golang.org/x/sys/unix"

// Flags of open: not through a link at the end of the path, and not waiting for
// the other end of a FIFO.
const (
	noFollow = unix.O_NOFOLLOW
	noBlock  = unix.O_NONBLOCK
)
