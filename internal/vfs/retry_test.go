package vfs

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestOnceMore: case C-42, ESTALE is tried again once, and nothing else ever is.
func TestOnceMore(t *testing.T) {
	stale := &os.PathError{Op: "open", Path: "f", Err: syscall.ESTALE}
	for _, c := range []struct {
		name  string
		errs  []error
		calls int
		want  error
	}{
		{"good", []error{nil}, 1, nil},
		{"stale once", []error{stale, nil}, 2, nil},
		{"stale for good", []error{stale, stale, nil}, 2, syscall.ESTALE},
		{"stale, then absent", []error{stale, os.ErrNotExist}, 2, os.ErrNotExist},
		{"EIO", []error{syscall.EIO, nil}, 1, syscall.EIO},
		{"absent", []error{os.ErrNotExist, nil}, 1, os.ErrNotExist},
	} {
		calls := 0
		n, err := OnceMore(func() (int, error) { calls++; return calls, c.errs[calls-1] })
		if calls != c.calls || n != calls || !errors.Is(err, c.want) {
			t.Errorf("%s: %d calls, %v", c.name, calls, err)
		}
	}
}

// TestInterruptedFlush: rules 19 and 3, of the errors of a flush only EINTR is tried again.
// (TestSyncRetriesEINTR shows the same of the real call.)
func TestInterruptedFlush(t *testing.T) {
	interrupt := &os.PathError{Op: "fdatasync", Err: syscall.EINTR}
	for _, last := range []error{nil, syscall.EIO, syscall.ENOSPC, syscall.EAGAIN, syscall.ESTALE} {
		calls := 0
		err := untilNotInterrupted(func() error {
			if calls++; calls <= 3 {
				return interrupt
			}
			return last
		})
		if calls != 4 || !errors.Is(err, last) {
			t.Errorf("%v: %d calls, %v", last, calls, err)
		}
	}
}

// TestWhileHeld: rule 23, a file that somebody holds is waited for, not for ever; on Windows
// rename does this. The clock here stands still but for the pauses.
func TestWhileHeld(t *testing.T) {
	held, gone := errors.New("held"), errors.New("gone")
	for _, c := range []struct {
		name     string
		heldFor  time.Duration
		then     error
		want     error
		min, max time.Duration // waited
	}{
		{"free", 0, nil, nil, 0, 0},
		{"another error", 0, gone, gone, 0, 0},
		{"held by a scanner", 20 * time.Millisecond, nil, nil, 20 * time.Millisecond, 60 * time.Millisecond},
		{"held for a second", time.Second, nil, nil, time.Second, time.Second + heldPauseMax},
		{"held, then gone", 100 * time.Millisecond, gone, gone, 100 * time.Millisecond, 100*time.Millisecond + heldPauseMax},
		{"held for good", time.Hour, nil, held, heldFor, heldFor + heldPauseMax},
	} {
		start := time.Unix(1, 0)
		clock := start
		err := whileHeld(func() error {
			if clock.Sub(start) < c.heldFor {
				return held
			}
			return c.then
		}, func(err error) bool { return err == held }, func() time.Time { return clock }, func(d time.Duration) { clock = clock.Add(d) })
		if waited := clock.Sub(start); err != c.want || waited < c.min || waited > c.max {
			t.Errorf("%s: %v after %v", c.name, err, waited)
		}
	}
}
