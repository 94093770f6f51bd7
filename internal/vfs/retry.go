package vfs

import (
	"errors"
	"syscall"
	"time"
)

// OnceMore calls fn, and once more if it fails with ESTALE: on a network file system a
// name may lead to a file that another machine has replaced since, and opening it again
// finds the new one. A second ESTALE is an error like any other. Whatever fn opens it must
// open again, and it must not trust what it read before.
func OnceMore[T any](fn func() (T, error)) (T, error) {
	v, err := fn()
	if errors.Is(err, syscall.ESTALE) {
		v, err = fn()
	}
	return v, err
}

// interrupted reports whether a call was broken off by a signal before it did anything: the one
// error of a flush after which the same flush may be asked for again.
func interrupted(err error) bool { return errors.Is(err, syscall.EINTR) }

// untilNotInterrupted makes a call, such as a flush, until it ends otherwise than by a signal.
func untilNotInterrupted(call func() error) error {
	for {
		if err := call(); !interrupted(err) {
			return err
		}
	}
}

// Somebody may hold a file for a moment in a way that keeps it from being replaced: on
// Windows virus scanners, indexers and backup programs do. They let go within milliseconds, and
// who does not within heldFor is to be reported.
const (
	heldFor      = 2 * time.Second
	heldPauseMax = 64 * time.Millisecond
)

// whileHeld calls try until it succeeds, until it fails for another reason than that somebody
// holds the file, or until heldFor has passed. It waits longer from time to time.
func whileHeld(try func() error, held func(error) bool, now func() time.Time, sleep func(time.Duration)) error {
	pause := time.Millisecond
	for deadline := now().Add(heldFor); ; {
		err := try()
		if err == nil || !held(err) || !now().Before(deadline) {
			return err
		}
		sleep(pause)
		pause = min(2*pause, heldPauseMax)
	}
}
