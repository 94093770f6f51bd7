//go:build !windows

package lock

import (
	"os"
	"syscall"
)

func shareOwner(f *os.File, mine, theirs os.FileInfo) {
	m, ok := mine.Sys().(*syscall.Stat_t)
	t, ok2 := theirs.Sys().(*syscall.Stat_t)
	if ok && ok2 && (m.Uid != t.Uid || m.Gid != t.Gid) {
		_ = f.Chown(int(t.Uid), int(t.Gid))
	}
}
