//go:build !windows

package journalfile

import "syscall"

// noFollow refuses a link in the place of a file that pawl named.
const noFollow = syscall.O_NOFOLLOW
