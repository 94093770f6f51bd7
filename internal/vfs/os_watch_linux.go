package vfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Touch sets the times of a directory: an inotify watch of the directory above hears that, while
// it hears nothing of what is made inside. UTIME_NOW needs only the right to write, other times
// that of the owner.
func (osFS) Touch(dir string) {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	unix.UtimesNanoAt(unix.AT_FDCWD, dir, now, unix.AT_SYMLINK_NOFOLLOW) //nolint:errcheck // a hint
	if abs, err := filepath.Abs(dir); err == nil {
		bubbles.Touch(abs)
	}
}

// bubbles is those who watch from within a bubble of testing/synctest, see Watch.
var bubbles Watchers

// watched are the events that are asked for. Appending to a file makes none of them.
const watched = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_ONLYDIR

// Watch watches by inotify, with a descriptor and a goroutine that end soon after stop.
func (osFS) Watch(dir string, changed func(name string), lost func()) (stop func(), err error) {
	if timeIsFake() {
		// A goroutine that waits for the kernel would stop the time of the bubble, and with
		// it a test that runs well without us. Only mail of this process is heard there.
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		return bubbles.Add(abs, changed), nil
	}
	if err := shared(dir); err != nil {
		return nil, err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	// Not blocking, so that the runtime waits for it without a thread.
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err = unix.InotifyAddWatch(fd, dir, watched); err != nil {
		err = &os.PathError{Op: "inotify_add_watch", Path: dir, Err: err}
	} else {
		err = f.SetReadDeadline(time.Time{}) // stop will need that
	}
	if err != nil {
		f.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	var stopped atomic.Bool
	go func() {
		err := readEvents(f, changed)
		// Here and not in stop: the kernel takes some milliseconds to end a watch.
		f.Close() //nolint:errcheck // nothing was written
		if err != nil && !stopped.Load() {
			lost()
		}
	}()
	return func() {
		stopped.Store(true)
		f.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // it worked before
	}, nil
}

// readEvents passes events on until reading fails or the directory is gone.
func readEvents(f *os.File, changed func(name string)) error {
	buf := make([]byte, 16<<10)
	for {
		n, err := f.Read(buf)
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			mask := binary.NativeEndian.Uint32(b[4:])
			end := min(unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])), len(b))
			name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				changed("")
			case mask&unix.IN_IGNORED != 0:
				return os.ErrNotExist
			case len(name) > 0: // without a name: the directory itself
				changed(string(name))
			}
			b = b[end:]
		}
	}
}

// shared is the error of a directory that other machines may change without our kernel hearing
// of it: on a network, or behind a program.
func shared(dir string) error {
	var st unix.Statfs_t
	err := untilNotInterrupted(func() error { return unix.Statfs(dir, &st) })
	if err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	switch uint32(st.Type) { // its type differs between architectures
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.AFS_FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC:
		return &os.PathError{Op: "watch", Path: dir, Err: fmt.Errorf("a file system of type %x: %w", st.Type, errors.ErrUnsupported)}
	}
	return nil
}

// timeIsFake reports whether package time shows another time than the kernel, as it does in a
// bubble of testing/synctest, which begins in the year 2000.
func timeIsFake() bool {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &ts) != nil {
		return false
	}
	return time.Since(time.Unix(ts.Unix())).Abs() > time.Hour
}
