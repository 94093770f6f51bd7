package crashfs

import "syscall"

// Errnos are the errors that calls of the seam may return, the most usual one first: rules 2,
// 3, 19 and 20 of docs/testing.md. Tests of faults take theirs from here.
var Errnos = []syscall.Errno{
	syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EINTR, syscall.EMFILE, syscall.ESTALE, syscall.EINVAL,
	syscall.EFBIG, syscall.EPERM,
}

// Times says how often an operation fails: once, twice in a row, for good.
var Times = []int{1, 2, -1}

// FaultsOf lists how an operation of a kind may fail with an error.
func FaultsOf(kind Kind, errno syscall.Errno) []Fault {
	switch kind {
	case SyncDir:
		if errno == syscall.EINVAL {
			return nil // no failure: the file system has no such thing
		}
		return []Fault{{Err: errno}, {Err: errno, Done: true}}
	case Write:
		return []Fault{{Err: errno}, {Err: errno, Short: 1}, {Err: errno, Short: 300}, {Err: errno, Short: 1 << 20}}
	case Sync:
		return []Fault{{Err: errno}, {Err: errno, Reached: 1}, {Err: errno, Reached: -1}, {Err: errno, Done: true}}
	case Rename, Truncate:
		return []Fault{{Err: errno}, {Err: errno, Done: true}}
	default:
		return []Fault{{Err: errno}}
	}
}
