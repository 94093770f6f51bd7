package journalfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// keepAside writes torn bytes to a file of their own. The file gets its name when its content is durable, so that a recovery that is
// cut short leaves no half of it.
func (j *File) keepAside(torn []byte, off int64, warn func(string)) (string, error) {
	name := fmt.Sprintf("%s.torn-%d", j.path, off)
	for n := 2; ; n++ {
		same, err := j.holds(name, torn)
		if same {
			// An earlier recovery was cut short behind the rename. Its removal of the
			// half that one before it had left may not have reached the disk.
			j.fs.Remove(j.path + asideTemp) //nolint:errcheck // most often it is not there
			return name, SyncDir(j.fs, dirOf(j.path), warn)
		}
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s.torn-%d.%d", j.path, off, n)
	}
	w, err := newWriter(j.fs, j.path+asideTemp, j.f, 0, 0, warn)
	if err != nil {
		return "", err
	}
	w.buf = torn
	if err = w.finish(); err == nil {
		err = j.fs.Rename(w.name, name)
	}
	if err != nil {
		w.discard()
		return "", err
	}
	if err := w.f.Close(); err != nil {
		return "", err
	}
	return name, SyncDir(j.fs, dirOf(j.path), warn)
}

// asideTemp ends the name of a file of torn bytes until it is durable.
const asideTemp = ".torn" + tempSuffix

// withoutFill returns b without the newlines and NUL bytes at its end, of which there
// may be a megabyte.
func withoutFill(b []byte) []byte {
	const newlines = 0x0a0a0a0a0a0a0a0a
	n := len(b)
	for n > 0 && (b[n-1] == 0 || b[n-1] == '\n') {
		n--
		for n >= 8 {
			if w := binary.LittleEndian.Uint64(b[n-8:]); w != 0 && w != newlines {
				break
			}
			n -= 8
		}
	}
	return b[:n]
}

func (j *File) holds(name string, want []byte) (bool, error) {
	f, err := j.fs.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(got[:n], want), nil
}
