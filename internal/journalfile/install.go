package journalfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/vfs"
)

// Install makes a journal at path, where nothing may be, of the records whose bodies
// records gives to add, the first one's being its header. Its first record follows record
// seq, whose checksum is crc: both are 0 for a journal that continues no other. The caller
// holds the lock, and the directory must exist.
//
// The journal is whole, durable and read back before it gets its name; when Install returns
// nil, the name is durable too. An error that matches [ErrInDoubt] says that the journal is
// there and its name may not survive a power cut; after any other, nothing is there.
func Install(fsys vfs.FS, path string, seq int64, crc uint32, records func(add func(body []byte) error) error, warn func(string)) error {
	if _, err := fsys.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &os.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		return err
	}
	w, err := newWriter(fsys, path+tempSuffix, nil, seq, crc, warn)
	if err != nil {
		return err
	}
	if err = records(w.add); err == nil {
		err = w.finish()
	}
	if err == nil {
		_, err = w.check()
	}
	if err == nil {
		if err = vfs.RenameNew(fsys, w.name, path); err != nil && !errors.Is(err, fs.ErrExist) {
			if _, there := fsys.Lstat(path); there == nil {
				err = fmt.Errorf("%w: giving it its name failed: %w", ErrInDoubt, err)
			}
		}
	}
	if err != nil {
		w.discard()
		return err
	}
	w.f.Close() //nolint:errcheck // everything in it is durable
	if err := SyncDir(fsys, dirOf(path), warn); err != nil {
		return fmt.Errorf("%w: making its name durable failed: %w", ErrInDoubt, err)
	}
	return nil
}
