package pawl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/vfs"
)

const untouched = "nothing was changed"

// openFile finds, locks and reads the file at path.
func openFile(path string, cfg *fileConfig) (*fileBacking, error) {
	resolved, err := resolveFile(cfg.fs, path)
	if err != nil {
		return nil, &RunError{Op: "open", Path: path, Err: err, Hint: untouched + "; give the path of a file"}
	}
	b := &fileBacking{cfg: cfg, fs: cfg.fs, path: resolved}
	if err := b.open(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *fileBacking) open() error {
	// Before the lock file is made: nothing may appear beside a device.
	there, err := b.look()
	if err != nil {
		return err
	}
	if err := b.own(there); err != nil {
		return err
	}
	// And again as the owner: the last one may have saved, or removed it.
	there, err = b.look()
	if err != nil {
		return err
	}
	if err := b.listVersions(); err != nil {
		return b.fail("open", err, untouched)
	}
	if there == nil {
		if len(b.versions) > 0 {
			b.warn("there is no file, though there are older versions of it; this is a fresh start")
		}
		return b.checkWritable()
	}
	if err := b.read(); err != nil {
		return err
	}
	if err := b.checkWritable(); err != nil && (b.damaged || !b.rec.Complete) {
		return err
	}
	return nil
}

// look returns what stands at the path, nil if nothing does.
func (b *fileBacking) look() (fs.FileInfo, error) {
	fi, err := vfs.OnceMore(func() (fs.FileInfo, error) { return b.fs.Lstat(b.path) })
	if isAbsent(err) {
		return nil, nil
	}
	if err == nil {
		err = checkRegular(fi)
	}
	if err != nil {
		return nil, b.fail("open", err, untouched)
	}
	return fi, nil
}

// own takes the lock. Where that is not possible because nothing can be written,
// the file can still be read, and is of use if it is complete.
func (b *fileBacking) own(there fs.FileInfo) error {
	if there == nil {
		if err := makeDir(b.fs, b.dir()); err != nil {
			return b.fail("open", err, "no state could be saved there, so nothing was started; make the directory or choose another")
		}
	} else if isMountPoint(b.path) {
		b.readOnly = errMountPoint
	}
	l, err := b.cfg.lock(b.beside(lockSuffix))
	if err == nil {
		b.lock = l
		if there != nil {
			l.ShareLike(there)
		}
		return nil
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return b.fail("open", fmt.Errorf("%w: %w", ErrLocked, held), "wait until it ends, or end it; its death frees the file at once")
	}
	if there != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		b.readOnly = err
		return nil
	}
	return b.fail("open", err, "without a lock two programs could save over each other, so nothing was started")
}

var errMountPoint = fmt.Errorf("%w: the file is mounted by itself and cannot be replaced", ErrInvalid)

// checkWritable finds out now, and not after hours of work, whether a save can
// succeed. Doing what a save begins with is the only way to know; it also removes
// what a killed writer left, which is nobody else's while we hold the lock.
func (b *fileBacking) checkWritable() error {
	err := b.readOnly
	for _, suffix := range [...]string{copySuffix, newSuffix} {
		if err == nil {
			err = b.removeLeftover(suffix)
		}
	}
	if err == nil {
		err = b.tryCreate()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMountPoint):
		return b.fail("open", err, untouched+"; mount the directory, not the file")
	}
	return b.fail("open", err, "no state could be saved there, so nothing was started and nothing was changed; make the directory writable or choose another")
}

func (b *fileBacking) tryCreate() error {
	f, err := b.fs.OpenFile(b.beside(newSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), b.removeLeftover(newSuffix))
}

func (b *fileBacking) removeLeftover(suffix string) error {
	if err := b.fs.Remove(b.beside(suffix)); err != nil && !isAbsent(err) {
		return err
	}
	return nil
}

// read reads and checks the file, and an older version if it is damaged and the
// caller wants that.
func (b *fileBacking) read() error {
	// The last owner may have died between its rename and its directory sync. Go
	// on only from what a power cut cannot take back.
	if err := b.fs.SyncDir(b.dir()); err != nil && b.readOnly == nil {
		if !vfs.IsUnsupported(err) {
			return b.fail("open", err, untouched+"; it is not known whether the file is durable")
		}
		b.warnNoDirSync()
	}
	data, id, err := b.readFile(b.path)
	if err != nil {
		return b.fail("open", err, untouched)
	}
	b.cur = id
	rec, err := statefile.Decode(data)
	if err != nil {
		return b.refused(data, err)
	}
	b.adopt(rec)
	return nil
}

// adopt makes rec what the file holds.
func (b *fileBacking) adopt(rec *statefile.Record) {
	b.rec = rec
	if rec.Generation == 0 {
		rec.Generation = b.top + 1 // the original does not count
	}
	b.top = max(b.top, rec.Generation)
	switch {
	case !rec.Sealed:
		b.warn("the file has no checksum, so damage would not be noticed: written by the Python original, or edited; the next save adds one")
	case rec.Touched:
		b.warn("the file was changed outside of pawl, in white space only")
	}
	if rec.Sealed && !rec.Complete && rec.Schema == b.cfg.schema() {
		b.text = rec.Value
	}
}

// readFile reads what the device holds of a file, not what the page cache does:
// after a failed write-back the cache keeps, as clean, pages that never reached
// the device, and a sync then says nothing. So: flush, forget, read.
func (b *fileBacking) readFile(path string) ([]byte, identity, error) {
	var id identity
	data, err := vfs.OnceMore(func() (data []byte, err error) {
		data, id, err = b.readDevice(path)
		return data, err
	})
	return data, id, err
}

func (b *fileBacking) readDevice(path string) ([]byte, identity, error) {
	// Not to hang if it became a FIFO in this very moment, nor to follow a link.
	f, err := b.fs.OpenFile(path, os.O_RDONLY|noFollow|noBlock, 0)
	if err != nil {
		return nil, identity{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil {
		err = checkRegular(fi)
	}
	if err == nil {
		err = f.Sync()
		if vfs.IsUnsupported(err) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBADF) || errors.Is(err, fs.ErrPermission) {
			err = nil // read-only media and handles have nothing to flush
		}
	}
	if err == nil {
		err = f.DropCache(0)
	}
	if err != nil {
		return nil, identity{}, err
	}
	var buf bytes.Buffer
	buf.Grow(int(min(fi.Size(), 1<<30)) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return nil, identity{}, err
	}
	data := buf.Bytes()
	return data, identity{info: fi, size: int64(len(data)), sum: statefile.Checksum(data)}, nil
}

// refused says why a file is not accepted, or falls back to an older version.
func (b *fileBacking) refused(data []byte, cause error) error {
	d, ok := errors.AsType[*statefile.Error](cause)
	if !ok {
		return b.fail("open", cause, untouched)
	}
	if d.Newer {
		return &RunError{Op: "open", Path: b.path, Err: fmt.Errorf("%w: %w", ErrNewerFormat, d), Hint: untouched + "; use the newer program"}
	}
	e := &RunError{
		Op: "open", Path: b.path, Offset: d.Offset,
		Err:  fmt.Errorf("%w: %w (%d bytes, changed %s)", ErrCorrupt, d, len(data), b.cur.info.ModTime().Format(time.RFC3339)),
		Hint: untouched,
	}
	if d.Hint != "" {
		e.Hint += "; " + d.Hint
	}
	if b.cfg.fallBack != nil {
		return b.goBack(e)
	}
	if v, _, err := b.newestGood(); err == nil && v != nil {
		e.Hint += fmt.Sprintf("; to go back to generation %d: pawl repair %s, or open with pawl.FallBack", v.generation, quoteArg(b.path))
	} else if d.Hint == "" {
		e.Hint += "; restore it from a copy, or move it away to start over"
	}
	return e
}

func (b *fileBacking) warnNoDirSync() {
	b.warn("the file system cannot sync a directory: a save survives the death of the process, but perhaps not a power cut")
}
