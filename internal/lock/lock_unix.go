//go:build !windows

package lock

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK // nor waiting for the other end of a FIFO

func tryLock(f *os.File) error       { return flock(f, unix.LOCK_EX) }
func tryLockShared(f *os.File) error { return flock(f, unix.LOCK_SH) }
func unlock(f *os.File) error        { return flock(f, unix.LOCK_UN) }

// sysFlock is replaced in tests.
var sysFlock = unix.Flock

func flock(f *os.File, how int) error {
	for {
		err := sysFlock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

// running reports whether there is a process of that number that is not dead. A dead one
// that its parent has not asked after yet holds no locks; where there is no Linux /proc it
// counts as running.
func running(pid int) bool {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}
