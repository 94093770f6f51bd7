package journalfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Check says why the journal takes no further record, if it does not, or that it is not the
// file any more that was left.
func (j *File) Check() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	return j.checkIdentity()
}

// checkIdentity looks whether the file is still ours, at its path, and what we left:
// somebody may have deleted it, restored a backup over it, or truncated it, and appending
// would then acknowledge what nobody can find again. Then the journal takes no further
// record. The caller holds mu.
//
// It looks before each write, so that a foreign file is not touched, and again behind
// each flush, before anything is acknowledged. It cannot look at the moment of the write, nor
// at that of the return.
func (j *File) checkIdentity() error {
	err := j.identity()
	if errors.Is(err, ErrReplaced) {
		j.err = err
	}
	return err
}

// lookAgain looks behind a flush: who deleted or replaced the file since the look before the
// write has made what was flushed go nowhere. If looking fails, nobody knows. The caller
// holds mu.
func (j *File) lookAgain() error {
	err := j.checkIdentity()
	if err != nil && j.err == nil {
		err = fmt.Errorf("%w: it was flushed, and looking at the file then failed: %w", ErrInDoubt, err)
		j.err = err
	}
	return err
}

func (j *File) identity() error {
	same, size, err := vfs.Identify(j.fs, j.f, j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it is gone from its path", ErrReplaced)
	case err != nil:
		return err
	case !same:
		return fmt.Errorf("%w: another file is at its path", ErrReplaced)
	case size != j.filled:
		return fmt.Errorf("%w: it has %d bytes and we left %d", ErrReplaced, size, j.filled)
	}
	return j.readBack()
}

// readBack looks whether the end of the file is what we left. A backup that is copied over
// the file in place keeps the inode, and, because the file is filled ahead, the length as
// well. But if it is older, there is fill where our last line begins; and if it is one that
// somebody else went on with, there is another line, or one more.
func (j *File) readBack() error {
	behind := int(min(1, j.filled-j.size)) // how many bytes of fill to look at
	n := len(j.mark)
	near := j.size+int64(behind)-j.markAt <= readBackMax
	if near {
		n = int(j.size-j.markAt) + behind
	}
	b, err := j.peek(j.markAt, n)
	if err != nil {
		return err
	}
	if len(b) < n || string(b[:len(j.mark)]) != string(j.mark) {
		return fmt.Errorf("%w: our record %d is not at byte %d", ErrReplaced, j.seq, j.markAt)
	}
	if !near {
		if b, err = j.peek(j.size, behind); err != nil {
			return err
		}
	}
	if behind > 0 && (len(b) == 0 || b[len(b)-1] != '\n') {
		return fmt.Errorf("%w: somebody wrote at byte %d, behind our record %d", ErrReplaced, j.size, j.seq)
	}
	return nil
}

// readBackMax is how many bytes are read at once to look at both ends of a line, since a
// second call costs more than they do.
const readBackMax = 4 << 10

// peek reads up to n bytes into j.buf, less at the end of the file.
func (j *File) peek(off int64, n int) ([]byte, error) {
	j.buf = slices.Grow(j.buf[:0], n)[:n]
	k, err := j.f.ReadAt(j.buf, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return j.buf[:k], err
}

// setMark remembers what stands where our last line begins: its checksum, which covers
// all of the line and, by those before it, all of the journal; and before it, the end of the line
// that it follows. That tells if somebody put an older file there just before we wrote.
func (j *File) setMark(before string, off int64, crc uint32) {
	j.markAt = off - int64(len(before))
	j.mark = append(append(j.mark[:0], before...), line.Prefix...)
	j.mark = hex.AppendEncode(j.mark, binary.BigEndian.AppendUint32(nil, crc))
}

// lineEnd ends each line.
const lineEnd = "}\n"
