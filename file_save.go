package pawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/pawlgo/pawl/internal/lock"
	"github.com/pawlgo/pawl/internal/statefile"
	"github.com/pawlgo/pawl/internal/vfs"
)

// identity tells whether a file is the one that we read or wrote.
type identity struct {
	info fs.FileInfo // nil if there is no file
	size int64
	sum  uint32 // of all bytes
}

func (id identity) absent() bool { return id.info == nil }

func (id identity) sameContent(other identity) bool {
	return id.size == other.size && id.sum == other.sum
}

// write makes r what the file holds, durably.
//
// The order is the whole matter. The new bytes go into a file of their own, which
// is synced before the rename gives it the name, so that the name never means
// half a file; the directory is synced after it, so that the name does not go
// back. Until the rename every failure leaves the old state alone, and the next
// save begins anew with a new file: the descriptor whose sync failed is never
// used again, because a later nil from it would mean nothing.
//
// A rename that failed is looked into, since network file systems report failure
// of one that happened. After it, a directory sync that fails leaves the save in
// doubt; no other follows on this handle, and opening again finds out.
func (b *fileBacking) write(op string, r *statefile.Record) error {
	if err := b.checkOurs(op); err != nil {
		return err
	}
	r.Generation = b.top + 1
	r.At = vfs.Now()
	if b.rec != nil {
		r.Extra = b.rec.Extra
	}
	data := r.Encode()
	info, err := b.writeFile(newSuffix, data)
	if err != nil {
		return b.notSaved(op, err)
	}
	if err := b.preserve(false); err != nil {
		return b.discard(op, err)
	}
	if err := b.rename(op, info); err != nil {
		return err
	}
	if err := b.syncDir(op); err != nil {
		return err
	}
	b.cur = identity{info: info, size: int64(len(data)), sum: statefile.Checksum(data)}
	b.rec, b.top, b.damaged = r, r.Generation, false
	b.prune()
	return nil
}

// clear removes the file, after giving it another name if it is to be kept.
func (b *fileBacking) clear() error {
	const op = "clear"
	if _, err := b.fs.Lstat(b.path); isAbsent(err) && b.undecided == nil && b.readOnly == nil {
		b.cur = identity{} // somebody did our work
	} else if err := b.checkOurs(op); err != nil {
		return err
	}
	if !b.cur.absent() {
		if err := b.preserve(true); err != nil {
			return b.notSaved(op, err)
		}
		if err := b.fs.Remove(b.path); err != nil {
			// As with a rename, what is there now counts, not what was said.
			if _, lookErr := b.fs.Lstat(b.path); lookErr == nil {
				return b.notSaved(op, err)
			} else if !isAbsent(lookErr) {
				return b.inDoubt(op, err)
			}
		}
	}
	if err := b.syncDir(op); err != nil && !b.gone() {
		return err
	}
	b.undecided = nil
	b.cur, b.rec, b.damaged, b.text = identity{}, nil, false, nil
	b.prune()
	return nil
}

// gone reports whether the directory is not there any more either.
func (b *fileBacking) gone() bool {
	_, err := b.fs.Lstat(b.dir())
	return isAbsent(err)
}

// writeFile writes and syncs a new file beside the checkpoint and returns what it
// is. If it fails, nothing is left.
func (b *fileBacking) writeFile(suffix string, data []byte) (fs.FileInfo, error) {
	// O_EXCL: the name is ours, but somebody may have put a link there.
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | noFollow
	path := b.beside(suffix)
	f, err := b.fs.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		// Left by a killed writer: a live one would hold the lock.
		if err := b.removeLeftover(suffix); err != nil {
			return nil, err
		}
		f, err = b.fs.OpenFile(path, flags, 0o600)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = b.fill(f, data)
		if closed := f.Close(); err == nil {
			err = closed // network file systems report a failed write as late as here
		}
	}
	if err != nil {
		_ = b.removeLeftover(suffix)
		return nil, err
	}
	return info, nil
}

func (b *fileBacking) fill(f vfs.File, data []byte) (fs.FileInfo, error) {
	// Mode and owner first: the sync flushes what changed before the data, and
	// need not flush what changed after it.
	if !b.cur.absent() {
		vfs.KeepOwner(f, b.cur.info, b.warn)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return f.Stat()
}

// rename puts the new file in the place of the old one.
func (b *fileBacking) rename(op string, info fs.FileInfo) error {
	err := b.fs.Rename(b.beside(newSuffix), b.path)
	if err == nil {
		return nil
	}
	if now, lookErr := b.fs.Lstat(b.path); lookErr == nil && b.fs.SameFile(now, info) {
		return nil // it happened all the same
	}
	if still, lookErr := b.fs.Lstat(b.beside(newSuffix)); lookErr != nil || !b.fs.SameFile(still, info) {
		return b.inDoubt(op, err)
	}
	return b.discard(op, err)
}

// discard removes the new file after a failure. If that fails too, the next save
// or start removes it.
func (b *fileBacking) discard(op string, err error) error {
	_ = b.removeLeftover(newSuffix)
	return b.notSaved(op, err)
}

func (b *fileBacking) syncDir(op string) error {
	err := b.fs.SyncDir(b.dir())
	if vfs.IsUnsupported(err) {
		b.warnNoDirSync()
		return nil
	}
	if err != nil {
		return b.inDoubt(op, err)
	}
	return nil
}

// checkOurs makes sure, before anything is written, that this process is the
// owner and that the file is the one it left.
func (b *fileBacking) checkOurs(op string) error {
	if b.undecided != nil {
		return b.fail(op, b.undecided, "an earlier write is in doubt; open the file again to find out what it holds")
	}
	if b.readOnly != nil {
		return b.fail(op, b.readOnly, "the file was opened for its result only")
	}
	if err := b.checkFile(op); err != nil {
		return err
	}
	again, err := b.checkLock(op)
	if err == nil && again {
		err = b.checkFile(op) // whoever was the owner meanwhile may have saved
	}
	return err
}

func (b *fileBacking) checkFile(op string) error {
	const hint = "nothing was written; stop, and find out who else works on it"
	now, err := b.fs.Lstat(b.path)
	switch {
	case isAbsent(err) && b.cur.absent():
		return nil
	case isAbsent(err):
		return b.fail(op, fmt.Errorf("%w: it is gone", ErrReplaced), "nothing was written; to write it again, call Clear and then Save")
	case err != nil:
		return b.notSaved(op, err)
	case b.cur.absent():
		return b.fail(op, fmt.Errorf("%w: somebody else made the file", ErrConflict), hint)
	}
	if b.fs.SameFile(now, b.cur.info) && now.Size() == b.cur.size && now.ModTime().Equal(b.cur.info.ModTime()) {
		return nil
	}
	// Touched, or copied back: only what it holds counts.
	_, id, err := b.readFile(b.path)
	if err != nil || !id.sameContent(b.cur) {
		return b.fail(op, fmt.Errorf("%w: another file is at its path, or it was changed", ErrReplaced), hint)
	}
	b.cur = id
	return nil
}

// checkLock takes the lock again, and says so, if its file was removed: somebody else
// could hold one of the same name by now, or have held it.
func (b *fileBacking) checkLock(op string) (again bool, err error) {
	if b.lock.Intact() {
		return false, nil
	}
	if err := makeDir(b.fs, b.dir()); err != nil {
		return false, b.notSaved(op, err)
	}
	l, err := b.cfg.lock(b.beside(lockSuffix))
	if err != nil {
		if held, ok := errors.AsType[*lock.HeldError](err); ok {
			err = fmt.Errorf("%w: the lock file was removed, and now: %w", ErrLeaseLost, held)
		}
		return false, b.notSaved(op, err)
	}
	b.warn("the lock file was removed while it was held; it is there again")
	old := b.lock
	b.lock = l
	return true, old.Release()
}

// notSaved is a failure that changed nothing.
func (b *fileBacking) notSaved(op string, err error) error {
	hint := "what was last saved is intact; mend the cause and call again"
	switch {
	case errors.Is(err, ErrLeaseLost), errors.Is(err, ErrReplaced):
		hint = "nothing was written; stop, and find out who else works on it"
	case errors.Is(err, syscall.EBUSY):
		hint = "what was last saved is intact; if the file is mounted by itself, mount the directory, not the file"
	}
	return b.fail(op, err, hint)
}

// inDoubt is a failure of which nobody knows what it changed. It ends the
// handle's writes.
func (b *fileBacking) inDoubt(op string, err error) error {
	b.undecided = joined{ErrInDoubt, fmt.Errorf("it is not known whether it is durable: %w", err)}
	return b.fail(op, b.undecided, "the file holds the last state or this one, whole; open it again to find out which")
}
