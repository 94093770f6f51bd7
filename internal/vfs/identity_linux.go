package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// statx is replaced in tests. On a network file system that is mounted so it may be
// interrupted, and package os tries its like again too.
var statx = unix.Statx

// Identify asks statx(2) for no times. Since Linux 6.13 a file system remembers that
// somebody asked for a file's time of change, and then the next write must change the
// inode: each save would pay a third more for a question whose answer nobody reads.
func (o osFS) Identify(f File, name string) (bool, int64, error) {
	of, ok := f.(osFile)
	if !ok {
		return o.identifyByStat(f, name)
	}
	// What file is open does not change, so it is asked once; as long as it has its name,
	// its size is that of the name.
	if id := of.id.Load(); id != nil {
		named, err := statName(name)
		if err != nil || named.id() == *id {
			return err == nil, int64(named.Size), err
		}
	}
	var mine statxResult
	err := control(of.File, "statx", func(fd int) error {
		return untilNotInterrupted(func() error {
			return statx(fd, "", unix.AT_EMPTY_PATH, statxWant, (*unix.Statx_t)(&mine))
		})
	})
	if errors.Is(err, unix.ENOSYS) { // before Linux 4.11, and in some sandboxes
		return o.identifyByStat(f, name)
	}
	if err != nil {
		return false, 0, err
	}
	id := mine.id()
	of.id.Store(&id)
	named, err := statName(name)
	if err != nil {
		return false, 0, err
	}
	return named.id() == id, int64(mine.Size), nil
}

const statxWant = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_SIZE

type statxResult unix.Statx_t

func (r *statxResult) id() fileID { return fileID{r.Ino, r.Dev_major, r.Dev_minor} }

func statName(name string) (r statxResult, err error) {
	err = untilNotInterrupted(func() error {
		return statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, statxWant, (*unix.Statx_t)(&r))
	})
	if err != nil {
		err = &os.PathError{Op: "statx", Path: name, Err: err}
	}
	return r, err
}
