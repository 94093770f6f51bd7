//go:build !windows

package pawl

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags of open: not through a link at the end of the path, and not waiting for
// the other end of a FIFO.
const (
	noFollow = unix.O_NOFOLLOW
	noBlock  = unix.O_NONBLOCK
)

// ownerOf returns the user and group of a file; ok is false where there are none.
func ownerOf(fi fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
