// Package regular opens plain files and nothing else: opening a FIFO may wait for ever, a
// device may do anything, and a link leads elsewhere.
package regular

import (
	"io/fs"
	"os"
)

// NotRegularError says that something else stands where a plain file belongs. It matches
// fs.ErrInvalid.
type NotRegularError struct{ What string }

func (e *NotRegularError) Error() string { return "not a regular file but " + e.What }

// Is reports whether target is fs.ErrInvalid.
func (e *NotRegularError) Is(target error) bool { return target == fs.ErrInvalid }

// Check refuses everything but a plain file, with a *[NotRegularError].
func Check(fi fs.FileInfo) error {
	what := "something unusual"
	switch m := fi.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		what = "a directory"
	case m&fs.ModeNamedPipe != 0:
		what = "a FIFO"
	case m&fs.ModeDevice != 0:
		what = "a device"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeSymlink != 0:
		what = "a link"
	}
	return &NotRegularError{what}
}

// Open opens the plain file at path for reading.
func Open(path string) (*os.File, error) {
	return OpenWith(path, os.Lstat, func(name string, flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) })
}

// File is an open file.
type File interface {
	Stat() (fs.FileInfo, error)
	Close() error
}

// OpenWith is Open with the calls of another file system.
func OpenWith[F File](path string, lstat func(string) (fs.FileInfo, error), open func(name string, flag int) (F, error)) (F, error) {
	var none F
	fi, err := lstat(path)
	if err != nil {
		return none, err
	}
	if err := Check(fi); err != nil {
		return none, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	// Not to follow or to wait if it became something else in this very moment.
	f, err := open(path, os.O_RDONLY|NoFollow|NoBlock)
	if err != nil {
		return none, err
	}
	if fi, err = f.Stat(); err == nil {
		if err = Check(fi); err != nil {
			err = &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	if err != nil {
		f.Close() //nolint:errcheck // it was only looked at
		return none, err
	}
	return f, nil
}
