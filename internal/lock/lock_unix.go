//go:build !windows

package lock

import (
	"errors"
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
