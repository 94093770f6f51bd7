package journalfile

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// Recovery says what opening found behind the last good record and did about it. It
// is zero if that was nothing, or nothing but fill.
type Recovery struct {
	Torn   int64  // bytes cut off
	Offset int64  // where
	Reason string // why they count as an interrupted write
	Aside  string // file that keeps them
}

// Open opens the journal at path for appending and folds its records.
//
// What a crash left behind the last record is kept in a file beside the journal
// and cut off, and the cut is durable before Open returns. Damage is refused with
// an error that matches [journal.ErrCorrupt]; then not a byte was changed. An
// absent file is fs.ErrNotExist.
func Open(fsys vfs.FS, path string, warn func(string)) (*File, *journal.Fold, Recovery, error) {
	return OpenChecked(fsys, path, nil, warn)
}

// OpenChecked is Open with a check of the journal's header, made before anything in the
// file is touched; its error is returned as it is.
func OpenChecked(fsys vfs.FS, path string, check func(journal.Header) error, warn func(string)) (*File, *journal.Fold, Recovery, error) {
	var fold *journal.Fold
	var rec Recovery
	// From the beginning if the file was replaced by another machine in the midst of it:
	// a recovery may be cut short anywhere, and the next believes nothing it has not read.
	j, err := vfs.OnceMore(func() (j *File, err error) {
		j, fold, rec, err = openChecked(fsys, path, check, warn)
		return j, err
	})
	return j, fold, rec, err
}

func openChecked(fsys vfs.FS, path string, check func(journal.Header) error, warn func(string)) (*File, *journal.Fold, Recovery, error) {
	info, err := fsys.Lstat(path)
	if err != nil {
		return nil, nil, Recovery{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, Recovery{}, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := fsys.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return nil, nil, Recovery{}, err
	}
	j := newFile(fsys, path, f)
	var fold *journal.Fold
	var rec Recovery
	if err = lockFile(f); err == nil {
		fold, rec, err = j.recover(check, warn)
	}
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written that an error of closing could lose
		return nil, nil, Recovery{}, journal.WithPath(err, path)
	}
	return j, fold, rec, nil
}

// recover reads the journal, distrusting what only the page cache may know.
//
// After a failed write-back the kernel shows pages that the device never got,
// and the next fdatasync of a new descriptor returns success. What the journal
// itself says was durable when it was written (dur) went through a successful
// flush; of everything behind that, recover flushes, drops the cached pages and
// looks whether the device tells the same.
func (j *File) recover(check func(journal.Header) error, warn func(string)) (*journal.Fold, Recovery, error) {
	if err := j.f.Sync(); err != nil {
		return nil, Recovery{}, fmt.Errorf("flushing before reading: %w", err)
	}
	s, err := j.scan()
	if err != nil {
		return nil, Recovery{}, err
	}
	changed, err := j.rereadFrom(s.claimed, s.size)
	if err != nil {
		return nil, Recovery{}, err
	}
	if changed {
		if s, err = j.scan(); err != nil {
			return nil, Recovery{}, err
		}
	}
	if check != nil {
		if err := check(s.fold.Header); err != nil {
			return nil, Recovery{}, err
		}
	}
	// What a creation, a compaction or a recovery left that died. The lock's holder comes here
	// only, so that it is nobody's; and what cannot be removed is in nobody's way yet.
	for _, name := range [...]string{j.path + tempSuffix, j.path + asideTemp, j.path + originalTemp} {
		j.fs.Remove(name) //nolint:errcheck // see above; usually there is none
	}
	if s.records == 1 || s.fold.Header.Incarnation > 1 {
		// Create or Compact may have died between giving the file its name and
		// making the name durable. Nobody appends to a name that is not; so
		// behind a record that was appended to a first incarnation, it is.
		if err := SyncDir(j.fs, dirOf(j.path), warn); err != nil {
			return nil, Recovery{}, err
		}
	}
	rec, err := j.cut(s, warn)
	if err != nil {
		return nil, Recovery{}, err
	}
	j.seq, j.crc, j.durable = s.seq, s.crc, s.seq
	j.setMark("", s.last, s.crc)
	j.end, j.padEnd = line.Ends(s.uid)
	return s.fold, rec, nil
}

// lockFile locks the journal itself, besides the lock that its owner holds: if
// somebody removes the lock file ("a stale lock", they thought), a second owner can lock
// a new file of that name, and would write into the same journal. In-memory file
// systems have no locks.
func lockFile(f vfs.File) error {
	if l, ok := f.(interface{ TryLock() error }); ok {
		return l.TryLock()
	}
	return nil
}

// TryOwn says whether somebody has the journal at path open for work, by a
// *lock.HeldError. It changes nothing.
func TryOwn(fsys vfs.FS, path string) error {
	f, err := vfs.OpenRegular(fsys, path)
	if err != nil {
		return err
	}
	defer f.Close() // and with it the lock
	return lockFile(f)
}

// scanned is what one pass over the file found.
type scanned struct {
	fold    *journal.Fold
	tail    journal.Tail
	size    int64
	records int64
	seq     int64
	crc     uint32
	last    int64  // offset of the last record
	claimed int64  // offset behind the last record that a later one calls durable
	uid     string // if lines are marked with it
}

func (j *File) scan() (*scanned, error) {
	info, err := j.f.Stat()
	if err != nil {
		return nil, err
	}
	s := &scanned{fold: journal.NewFold(), size: info.Size()}
	sc := journal.NewScanner(j.f, s.size)
	// Ends of the records that no later record has called durable yet.
	type end struct{ seq, off int64 }
	var pending []end
	for sc.Scan() {
		r := sc.Record()
		for len(pending) > 0 && pending[0].seq <= r.Dur {
			s.claimed = pending[0].off
			pending = pending[1:]
		}
		pending = append(pending, end{r.Seq, r.Offset + int64(len(r.Text)) + 1})
		s.fold.Apply(r)
		if s.records == 0 && line.Tag(r.Text) != nil {
			s.uid = s.fold.Header.UID
		}
		s.records++
		s.seq, s.crc, s.last = r.Seq, r.CRC(), r.Offset
	}
	s.tail = sc.Tail()
	return s, sc.Err()
}

// rereadFrom drops cached pages from off on and reports whether the bytes there
// changed by that.
func (j *File) rereadFrom(off, size int64) (bool, error) {
	seed := maphash.MakeSeed()
	before, err := j.sum(seed, off, size)
	if err != nil {
		return false, err
	}
	if err := j.f.DropCache(off &^ (folioMax - 1)); err != nil {
		return false, err
	}
	after, err := j.sum(seed, off, size)
	return before != after, err
}

// sum hashes the bytes from off to size, as far as the file has them.
func (j *File) sum(seed maphash.Seed, off, size int64) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(seed)
	buf := make([]byte, max(0, min(size-off, fillMin)))
	for off < size {
		n, err := j.f.ReadAt(buf[:min(size-off, int64(len(buf)))], off)
		h.Write(buf[:n]) //nolint:errcheck // never fails
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		off += int64(n)
	}
	return h.Sum64(), nil
}

// folioMax is the largest unit in which a page cache may hold a file, in bytes, with
// the largest pages that Linux knows. The kernel drops whole units only, and leaves
// one that begins before the given offset as it is: filling a megabyte ahead makes
// units of a megabyte on ext4.
const folioMax = 128 << 20

func (j *File) bytes(off, size int64) ([]byte, error) {
	b := make([]byte, max(0, size-off))
	n, err := j.f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// cut removes what stands behind the last record and writes the newline that
// belongs there if it is missing. The bytes are copied aside first.
func (j *File) cut(s *scanned, warn func(string)) (Recovery, error) {
	var rec Recovery
	j.size, j.filled = s.tail.End, s.size
	if s.tail.Torn == 0 && !s.tail.NoNewline && (s.size == s.tail.End || s.size%sector == 0) {
		return rec, nil // what is left, if anything, is fill
	}
	// Fill that ends inside a sector goes too: that sector would be half newlines
	// and, as soon as the file grows, half NUL, which no reader takes for unwritten.
	j.filled = s.tail.End
	if s.tail.Torn > 0 {
		torn, err := j.bytes(s.tail.End, s.size)
		if err != nil {
			return rec, err
		}
		// Nothing but fill, or NUL that a power cut made of fill, is nothing that
		// anybody wrote: it is not worth a word.
		if torn = withoutFill(torn); len(torn) > 0 {
			rec = Recovery{Torn: s.tail.Torn, Offset: s.tail.End, Reason: s.tail.Reason}
			if rec.Aside, err = j.keepAside(torn, s.tail.End, warn); err != nil {
				return rec, fmt.Errorf("keeping %d torn bytes aside: %w", len(torn), err)
			}
		}
	}
	if err := j.f.Truncate(s.tail.End); err != nil {
		return rec, err
	}
	if s.tail.NoNewline {
		if _, err := j.f.WriteAt([]byte{'\n'}, s.tail.End); err != nil {
			return rec, err
		}
		j.size++
		j.filled++
	}
	// Before anything is appended: else a power cut could bring the torn bytes
	// back behind new records.
	return rec, j.f.Sync()
}

// SyncDir makes the names in dir durable. Where the file system cannot do that,
// it warns and goes on: refusing to work there would help nobody.
func SyncDir(fsys vfs.FS, dir string, warn func(string)) error {
	err := fsys.SyncDir(dir)
	if err != nil && vfs.IsUnsupported(err) {
		warn(fmt.Sprintf("%s: this file system cannot sync a directory; a power cut right after creating a file may lose it", dir))
		return nil
	}
	return err
}

func dirOf(path string) string { return filepath.Dir(path) }
