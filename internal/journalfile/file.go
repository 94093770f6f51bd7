// Package journalfile is the write side of the journal: it creates a journal,
// opens one after whatever happened to its last owner, and appends records.
//
// The caller holds the lock that makes it the only writer.
package journalfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

var (
	// ErrReplaced says that the journal is not at its path any more, or not what we
	// left: deleted, replaced, truncated or written to under us.
	ErrReplaced = errors.New("the journal was deleted, replaced or changed under its owner")
	// ErrInDoubt says that it is not known whether a record is durable.
	ErrInDoubt = errors.New("it is not known whether the record is durable")
	// ErrClosed says that the file is closed.
	ErrClosed = errors.New("journal closed")
)

// File is an open journal. It is safe for concurrent use.
type File struct {
	fs   vfs.FS
	path string
	f    vfs.File

	mu     sync.Mutex // orders records: everything up to durable
	size   int64      // where the next record goes
	filled int64      // length of the file: newlines from size on
	noFill bool
	seq    int64
	crc    uint32
	mark   []byte // what stands at markAt: the beginning of our last line
	markAt int64
	end    []byte // how lines end, see [line.Ends]
	padEnd []byte
	buf    []byte
	err    error // why no further record is taken

	syncMu  sync.Mutex // guards syncing and durable; mu is never taken with it held
	synced  *sync.Cond
	syncing bool
	durable int64
}

func newFile(fsys vfs.FS, path string, f vfs.File) *File {
	j := &File{fs: fsys, path: path, f: f, noFill: !vfs.GainsByFill(fsys)}
	j.synced = sync.NewCond(&j.syncMu)
	return j
}

// Path returns the path given when opening.
func (j *File) Path() string { return j.path }

// Append adds a record whose body is what [line.Body] built. Nil means: the
// record is with the kernel, so it survives the death of the process; and if
// durable, that record and everything before it survive power loss.
//
// Records of concurrent callers share a flush; a lone caller waits for nobody.
//
// After a short write or a full disk the file is cut back and the journal takes
// further records. If cutting back fails, or a flush fails, it takes none: a
// later success would say nothing about earlier data, since the kernel may have
// dropped the pages. The error of a failed flush matches [ErrInDoubt].
func (j *File) Append(body []byte, durable bool) (journal.Span, error) {
	span, err := j.write(body)
	if err != nil || !durable {
		return span, err
	}
	return span, j.flush(span.Seq)
}

func (j *File) write(body []byte) (journal.Span, error) {
	known := j.Durable()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return journal.Span{}, j.err
	}
	if err := j.checkIdentity(); err != nil {
		return journal.Span{}, err
	}
	var crc uint32
	j.buf, crc = line.AppendEnd(j.buf[:0], j.crc, j.seq+1, known, body, j.end)
	end := j.size + int64(len(j.buf))
	if (end-1)%sector == 0 {
		j.buf, crc = line.AppendEnd(j.buf[:0], j.crc, j.seq+1, known, body, j.padEnd)
		end = j.size + int64(len(j.buf))
	}
	if err := j.put(end); err != nil {
		return journal.Span{}, err
	}
	span := journal.Span{Seq: j.seq + 1, Offset: j.size, Len: end - j.size - 1}
	j.setMark(lineEnd, j.size, crc)
	j.seq++
	j.crc = crc
	j.size = end
	if cap(j.buf) > 4<<20 {
		j.buf = nil // one huge record must not hold its memory for ever
	}
	return span, nil
}

// put writes the buffer, whose record ends at end, to the file. Where that goes
// beyond what is filled, it fills ahead: a save that changes neither the length
// of the file nor its allocation costs the device one flush instead of two.
func (j *File) put(end int64) error {
	if end > j.filled && !j.noFill {
		fillEnd := (end + min(max(j.size, fillMin), fillMax) + fillMin - 1) / fillMin * fillMin
		record := len(j.buf)
		j.buf = append(j.buf, bytes.Repeat([]byte{'\n'}, int(fillEnd-end))...)
		_, err := j.f.WriteAt(j.buf, j.size)
		if err == nil {
			j.filled = fillEnd
			return nil
		}
		// The record may still fit where the fill does not.
		if err := j.undo(err); errors.Is(err, ErrInDoubt) {
			return err
		}
		j.buf, j.noFill = j.buf[:record], true
	}
	if _, err := j.f.WriteAt(j.buf, j.size); err != nil {
		return j.undo(err)
	}
	j.filled = max(j.filled, end)
	return nil
}

// A file is filled ahead by its own size within these bounds, in bytes.
const (
	fillMin = 64 << 10
	fillMax = 1 << 20
)

// sector is what a disk writes whole or not at all, in bytes. A reader tells a
// damaged record from an interrupted write by sectors that were never written: so a
// newline at the start of a sector, which alone could be missing without a trace,
// is avoided by a longer record.
const sector = 512

// undo removes what a failed write may have left, so that no record is ever
// appended to a fragment. The cut is synced: after a power cut the fragment must
// not come back in front of later records.
func (j *File) undo(cause error) error {
	if err := j.f.Truncate(j.size); err != nil {
		j.err = fmt.Errorf("%w: after a failed write (%w) the fragment could not be cut off: %w", ErrInDoubt, cause, err)
		return j.err
	}
	j.filled = j.size
	if err := j.f.Sync(); err != nil {
		j.fail(err)
		return j.err
	}
	return cause
}

// fail makes the journal refuse further records. The caller holds mu.
func (j *File) fail(cause error) {
	if j.err == nil {
		j.err = fmt.Errorf("%w: flushing failed: %w", ErrInDoubt, cause)
	}
}

// Flush returns when the record seq, and everything before it, is durable.
func (j *File) Flush(seq int64) error { return j.flush(seq) }

// flush returns when the record seq is durable. One caller at a time flushes, for
// all that was written before it began; the others wait for it.
func (j *File) flush(seq int64) error {
	for j.beginFlush(seq) {
		upTo, err := j.flushFile()
		j.endFlush(upTo)
		if err != nil {
			return err
		}
	}
	return nil
}

// beginFlush waits until the record seq is durable, or nobody flushes: then it is the
// caller's turn, until endFlush.
func (j *File) beginFlush(seq int64) bool {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	for j.syncing && j.durable < seq {
		j.synced.Wait()
	}
	if j.durable >= seq {
		return false
	}
	j.syncing = true
	return true
}

// endFlush ends the caller's turn and says what is durable by it, 0 for nothing.
func (j *File) endFlush(upTo int64) {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.syncing = false
	j.durable = max(j.durable, upTo)
	j.synced.Broadcast()
}

// flushFile flushes once and returns the seq of the last record written before it began.
//
// The flush of another call, behind a write that failed (see undo), may have failed beside
// this one: the kernel tells each failure once, and this flush returned nil for lack of news. It
// holds mu from its write on, so this one, which looks when it has it, knows.
func (j *File) flushFile() (int64, error) {
	j.mu.Lock()
	upTo, err := j.seq, j.err
	f := j.f
	j.mu.Unlock()
	if err != nil {
		return 0, err // where it was replaced, too: nobody will find what is flushed
	}
	err = f.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.fail(err)
	}
	if j.err != nil {
		return 0, j.err
	}
	if err := j.lookAgain(); err != nil {
		return 0, err
	}
	return upTo, nil
}

// Durable returns the highest seq known to be durable.
func (j *File) Durable() int64 {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	return j.durable
}

// Seq returns the seq of the last record.
func (j *File) Seq() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seq
}

// Size returns the length of the journal in bytes, without the fill behind it.
func (j *File) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Sync makes everything appended so far durable.
func (j *File) Sync() error { return j.flush(j.Seq()) }

// Record reads one record again, checking it.
func (j *File) Record(span journal.Span) (*journal.Record, error) {
	r, err := journal.RecordAt(j.f, span)
	return r, journal.WithPath(err, j.path)
}

// Close makes everything appended durable, cuts off the fill and closes the file.
// It returns the error of the flush if there was no earlier one.
func (j *File) Close() error {
	j.mu.Lock()
	earlier := j.err
	j.mu.Unlock()
	// A flush of another caller looks at the file when it is done: until then it must be open,
	// and as long as it was.
	j.beginFlush(math.MaxInt64)
	var upTo int64
	var err error
	if j.Durable() < j.Seq() {
		upTo, err = j.flushFile()
	}
	defer j.endFlush(upTo)
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.err, ErrClosed) {
		return nil
	}
	if earlier != nil {
		err = nil // reported when it happened
	} else if err == nil && j.err == nil && j.filled > j.size && j.checkIdentity() == nil {
		// Not synced: fill that comes back after a power cut is only fill.
		err = j.f.Truncate(j.size)
	}
	j.err = ErrClosed
	return errors.Join(err, j.f.Close())
}
