package lock

import "os"

// Intact reports whether the lock file is still at its path. If somebody removed
// it ("a stale lock", they thought), another process can take a lock of the same
// name while this one is held; the owner should then acquire it again before it
// writes.
func (l *Lock) Intact() bool { return stillAt(l.f, l.f.Name()) }

// ShareLike lets everybody who may read a file take its lock: a lock file that
// root left must not shut out the user whose file it is. It is a courtesy, so what
// is not allowed is left. It works on the open file: a path could have become a
// link by now.
func (l *Lock) ShareLike(file os.FileInfo) {
	mine, err := l.f.Stat()
	if err != nil {
		return
	}
	shareOwner(l.f, mine, file)
	read := file.Mode().Perm() & 0o444
	if mode := 0o600 | read | read>>1; mine.Mode().Perm() != mode {
		_ = l.f.Chmod(mode)
	}
}
