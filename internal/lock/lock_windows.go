package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

func tryLock(f *os.File) error       { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }
func tryLockShared(f *os.File) error { return lockFile(f, 0) }

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}

// lockAt is where the locked byte is.
const lockAt = 1 << 30

// lockFile locks one byte far behind the text: Windows locks are mandatory, and
// others must be able to read who the owner is.
func lockFile(f *os.File, flags uint32) error {
	ol := &windows.Overlapped{OffsetHigh: lockAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, ol)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// running reports whether there is a process of that number that is not dead. One that may
// not be asked is there.
func running(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h) //nolint:errcheck // ends with the process at the latest
	const stillActive = 259
	var code uint32
	return windows.GetExitCodeProcess(h, &code) != nil || code == stillActive
}
