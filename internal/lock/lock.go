// Package lock gives a file one owner among all processes of a machine.
//
// The lock is flock(2) on Unix and LockFileEx on Windows, on a file of its own
// that is never renamed or removed while in use. Both belong to the open file
// description: a second open in the same process is refused too, and the kernel
// frees the lock at the owner's death, whatever way it dies, so no lock is ever
// stale. Never fcntl(2) locks: closing any descriptor of the file would drop
// them.
package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// Owner is what the owner wrote into the lock file, for messages only: the
// kernel's lock decides, never this text.
type Owner struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// HeldError says that the lock is held; Owner is zero if it could not be read.
type HeldError struct {
	Path  string
	Owner Owner
}

func (e *HeldError) Error() string {
	if e.Owner.PID == 0 {
		return fmt.Sprintf("%s is locked by another process or handle", e.Path)
	}
	return fmt.Sprintf("held by process %d on host %s since %s (lock file %s)",
		e.Owner.PID, e.Owner.Host, e.Owner.Since.Format(time.RFC3339), e.Path)
}

// Lock is a held lock.
type Lock struct {
	f     *os.File
	owner Owner
}

// Acquire takes the lock at path without waiting, creating the file if absent,
// or returns a *HeldError.
func Acquire(path string) (*Lock, error) {
	// The file may be removed by a cleanup between our open and our lock; then
	// we would hold a lock that nobody else sees. So compare what we locked
	// with what the name says now, and try again when they differ.
	stale := false
	for range 100 {
		var owner Owner
		f, err := openFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
		if err == nil {
			owner, err = patiently(f)
		}
		if errors.Is(err, syscall.ESTALE) && !stale {
			// On a network file system: another machine replaced the file.
			stale = true
			if f != nil {
				f.Close()
			}
			continue
		}
		if f == nil {
			return nil, err
		}
		if err != nil {
			defer f.Close()
			if errors.Is(err, errHeld) {
				return nil, &HeldError{Path: path, Owner: owner}
			}
			return nil, lockError(path, err)
		}
		if !stillAt(f, path) {
			f.Close()
			continue
		}
		l := &Lock{f: f, owner: self()}
		if err := l.writeOwner(); err != nil {
			f.Close()
			return nil, err
		}
		return l, nil
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: errors.New("the lock file is being replaced over and over")}
}

// openFile is replaced in tests.
var openFile = os.OpenFile

// lockError says of a lock that could not be asked for which file it concerns, and, where
// the file system has none to give (ENOLCK, from NFS without its lock service), what to do.
func lockError(path string, err error) error {
	if errors.Is(err, syscall.ENOLCK) || errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%w: its file system gives no locks, and without one two processes could write at once; use a local disk, or let the lock service (lockd) of the NFS server run", err)
	}
	return &os.PathError{Op: "lock", Path: path, Err: err}
}

// patience is how long a lock is asked for while nobody owns it.
const patience = 5 * time.Second

// patiently takes the lock, or returns errHeld and who owns it. Who only looks whether it
// is held ([Probe]) has to share it for a moment and must keep nobody from it; an owner
// holds it alone, and is noticed at once, or as soon as it is known who it is.
func patiently(f *os.File) (Owner, error) {
	begin := time.Now()
	for looks := 0; ; {
		err := tryLock(f)
		if !errors.Is(err, errHeld) {
			return Owner{}, err
		}
		switch shared := tryLockShared(f); {
		case shared == nil:
			if err := unlock(f); err != nil {
				return Owner{}, err
			}
			if time.Since(begin) > patience {
				return Owner{}, errHeld
			}
			time.Sleep(time.Duration(100+rand.IntN(900)) * time.Microsecond) // not in step with others
		case !errors.Is(shared, errHeld):
			return Owner{}, shared
		default:
			owner, ok := ownerAt(f, looks)
			if ok {
				return owner, errHeld
			}
			pause(looks)
			looks++
		}
	}
}

// TryFile locks a file that is not a lock file, without waiting and without writing to
// it, until f is closed. It returns a *HeldError without an owner.
func TryFile(f *os.File) error {
	err := tryLock(f)
	if errors.Is(err, errHeld) {
		return &HeldError{Path: f.Name()}
	}
	if err != nil {
		return lockError(f.Name(), err)
	}
	return nil
}

// Owner returns what this lock's file says of its owner.
func (l *Lock) Owner() Owner { return l.owner }

// Release frees the lock. The file stays: removing it would let two processes
// hold locks on two different files of the same name.
func (l *Lock) Release() error {
	// So that nobody who meets a prober takes the last owner for the present one.
	l.f.Truncate(0) //nolint:errcheck // it is only a text for messages
	return l.f.Close()
}

// Probe tells who holds the lock at path now: held is false if nobody does or
// there is no such file. It takes nothing and writes nothing.
func Probe(path string) (owner Owner, held bool, err error) {
	f, err := openFile(path, os.O_RDWR|noFollow, 0)
	if errors.Is(err, os.ErrPermission) {
		f, err = openFile(path, os.O_RDONLY|noFollow, 0)
	}
	if errors.Is(err, os.ErrNotExist) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, err
	}
	defer f.Close()
	for looks := 0; ; looks++ {
		switch err := tryLockShared(f); {
		case err == nil:
			return Owner{}, false, nil
		case !errors.Is(err, errHeld):
			return Owner{}, false, lockError(path, err)
		}
		if owner, ok := ownerAt(f, looks); ok {
			return owner, true, nil
		}
		pause(looks)
	}
}

var errHeld = errors.New("held")

func self() Owner {
	host, pid := Self()
	return Owner{Host: host, PID: pid, Since: time.Now().UTC().Truncate(time.Second)}
}

// Self names this process.
func Self() (host string, pid int) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host, os.Getpid()
}

// writeOwner replaces the text of the previous owner. It is not synced: it means
// nothing after the death of its writer.
func (l *Lock) writeOwner() error {
	text, err := json.Marshal(l.owner)
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.WriteAt(append(text, '\n'), 0)
	return err
}

// Between taking the lock and writing its text an owner does nothing else, and it empties the
// file before it lets go. So a file that names nobody, or the dead, will name the owner in a
// moment, if the machine is not very busy, or the lock is free by then. That is waited for.
const (
	looksMax    = 60 // with their pauses some 50 ms
	looksQuick  = 10 // the first pauses are shorter
	looksRemote = 3  // after which a text of another host is believed
)

func pause(looks int) {
	if looks < looksQuick {
		time.Sleep(100 * time.Microsecond)
	} else {
		time.Sleep(time.Millisecond)
	}
}

// ownerAt reads who the owner of a held lock is, having looked so many times before. It is not
// ok if the text may be that of an earlier owner, who was killed, or is being written: then look
// again. In the end whatever stands there is believed: the process may be hidden from this one,
// in a container that has the same host name.
func ownerAt(f *os.File, looks int) (o Owner, ok bool) {
	o = readOwner(f)
	host, _ := Self()
	switch {
	case looks >= looksMax:
		return o, true
	case o.PID <= 0:
		return o, false
	case o.Host != host: // whose processes cannot be asked for
		return o, looks >= looksRemote
	}
	return o, running(o.PID)
}

func readOwner(f *os.File) Owner {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil {
		return Owner{}
	}
	var o Owner
	if json.Unmarshal(text, &o) != nil {
		return Owner{} // being written at this moment, or by somebody else
	}
	return o
}

func stillAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, named)
}
