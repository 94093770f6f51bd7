package journalfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Create makes a journal at path with a first record and opens it. Nothing may
// be there, or the error is fs.ErrExist, or [ErrReplaced] if two are at it. The directory must exist. When it returns nil the journal and its
// name are durable.
//
// The file gets its name only when its first record is durable: a journal
// without a readable first record is therefore always damage, never a crash.
func Create(fsys vfs.FS, path string, body []byte, warn func(string)) (*File, error) {
	if _, err := fsys.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &os.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		return nil, err
	}
	temp := path + tempSuffix
	// A leftover of an owner that died here; only the lock's holder comes here.
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	j := newFile(fsys, path, f)
	if err := lockFile(f); err != nil {
		f.Close()         //nolint:errcheck // nothing was written
		fsys.Remove(temp) //nolint:errcheck // removed next time if not now
		return nil, err
	}
	j.end, j.padEnd = line.Ends(line.UID(body))
	j.buf, j.crc = line.AppendEnd(nil, 0, 1, 0, body, j.end)
	if err := j.install(temp, warn); err != nil {
		f.Close()
		fsys.Remove(temp) //nolint:errcheck // the cause is reported; a leftover is removed next time
		return nil, err
	}
	j.durable = 1
	return j, nil
}

const tempSuffix = ".new"

func (j *File) install(temp string, warn func(string)) error {
	if _, err := j.f.WriteAt(j.buf, 0); err != nil {
		return err
	}
	// Content before name: a name that survives must not point to nothing.
	if err := j.f.Sync(); err != nil {
		return err
	}
	// Whoever made a journal meanwhile, without our lock, keeps it; and if it is his file that
	// got the name, he had put it in the place of ours.
	if err := vfs.RenameNew(j.fs, temp, j.path); err != nil {
		return err
	}
	j.seq, j.size, j.filled = 1, int64(len(j.buf)), int64(len(j.buf))
	j.setMark("", 0, j.crc)
	if err := j.identity(); err != nil {
		return err
	}
	return SyncDir(j.fs, dirOf(j.path), warn)
}
