package journalfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Compact replaces the journal by one that means the same and holds no more than
// that takes, see [journal.Fold.Compact]. It returns the fold of the new file, with an
// error too if the new file is in use but its name is not known to be durable. No
// append may be under way and none may begin before it returns.
//
// The new file is whole and durable before it takes the old one's name, so that at
// every moment one of the two is there. If taking the name cannot be made durable,
// the journal takes no further record: a power cut could bring the old file back,
// without what was appended to the new one.
func (j *File) Compact(warn func(string)) (*journal.Fold, error) {
	if err := j.Sync(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return nil, j.err
	}
	if err := j.checkIdentity(); err != nil {
		return nil, err
	}
	old := journal.NewFold()
	sc := journal.NewScanner(j.f, j.size)
	for sc.Scan() {
		old.Apply(sc.Record())
	}
	if err := journal.WithPath(sc.Err(), j.path); err != nil {
		return nil, err
	}
	w, err := newWriter(j.fs, j.path+tempSuffix, j.f, j.seq, j.crc, warn)
	if err != nil {
		return nil, err
	}
	if err = old.Compact(j.f, j.size, w.add); err == nil {
		err = w.finish()
	}
	var fold *journal.Fold
	if err == nil {
		fold, err = w.check()
	}
	if err == nil {
		err = j.fs.Rename(w.name, j.path)
	}
	if err != nil {
		w.discard()
		return nil, err
	}
	j.f.Close() //nolint:errcheck // everything in it is durable, and it has no name any more
	j.f = w.f
	j.seq, j.crc, j.size, j.filled = w.seq, w.crc, w.size, w.size
	j.setMark("", w.last, w.crc)
	j.end, j.padEnd = w.end, w.padEnd
	j.syncMu.Lock()
	j.durable = w.seq
	j.syncMu.Unlock()
	if err := SyncDir(j.fs, dirOf(j.path), warn); err != nil {
		j.fail(err)
		return fold, j.err
	}
	return fold, nil
}

// writer writes a new file that goes on with a journal's numbers.
type writer struct {
	fs   vfs.FS
	name string
	f    vfs.File
	buf  []byte
	size int64
	last int64 // where the last record begins
	off  int64 // written to the file
	seq  int64
	crc  uint32

	end, padEnd []byte // how lines end, see [line.Ends]
}

const writerBuffer = 1 << 20

// newWriter begins a file whose first record follows record seq. If it takes the place of
// old it gets its mode and, if that is allowed, its owner.
func newWriter(fsys vfs.FS, name string, old vfs.File, seq int64, crc uint32, warn func(string)) (*writer, error) {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	var info fs.FileInfo
	if old != nil {
		info, err = old.Stat()
	}
	if err = errors.Join(err, lockFile(f)); err != nil {
		f.Close()         //nolint:errcheck // nothing was written
		fsys.Remove(name) //nolint:errcheck // removed next time if not now
		return nil, err
	}
	if old != nil {
		vfs.KeepOwner(f, info, warn)
	}
	return &writer{fs: fsys, name: name, f: f, seq: seq, crc: crc}, nil
}

// add appends a record. It says of every record before that it is durable, which
// holds as soon as the file has its name.
func (w *writer) add(body []byte) error {
	start := len(w.buf)
	var crc uint32
	if w.end == nil { // the first record
		w.end, w.padEnd = line.Ends(line.UID(body))
	}
	w.buf, crc = line.AppendEnd(w.buf, w.crc, w.seq+1, w.seq, body, w.end)
	if (w.size+int64(len(w.buf)-start)-1)%sector == 0 {
		w.buf, crc = line.AppendEnd(w.buf[:start], w.crc, w.seq+1, w.seq, body, w.padEnd)
	}
	w.last = w.size
	w.size += int64(len(w.buf) - start)
	w.seq++
	w.crc = crc
	if len(w.buf) >= writerBuffer {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	_, err := w.f.WriteAt(w.buf, w.off)
	w.off += int64(len(w.buf))
	w.buf = w.buf[:0]
	return err
}

func (w *writer) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.f.Sync()
}

// check reads the new file as a reader will: what replaces a journal must be one.
func (w *writer) check() (*journal.Fold, error) {
	fold := journal.NewFold()
	sc := journal.NewScanner(w.f, w.size)
	for sc.Scan() {
		fold.Apply(sc.Record())
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("the new journal does not read back: %w", err)
	}
	if fold.LastSeq != w.seq {
		return nil, fmt.Errorf("the new journal ends at record %d instead of %d", fold.LastSeq, w.seq)
	}
	return fold, nil
}

func (w *writer) discard() {
	w.f.Close()         //nolint:errcheck // it goes
	w.fs.Remove(w.name) //nolint:errcheck // removed next time if not now
}
