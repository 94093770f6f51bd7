// Package wait holds what a run waits for: a time, or somebody's answer, see [pawl.Await].
//
//	if err := wait.Sleep(ctx, "cool down", time.Hour); err != nil { return err }
//
// What is waited for is recorded before the wait begins: a process that dies goes on with the
// rest of it.
package wait

import (
	"context"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// Sleep waits for d from its first call on, over all starts. Key is unique within its scope, as
// that of a [pawl.Step]. When it ends is recorded, and durable, before the wait begins; a later
// start waits for the rest, never longer than d, however clocks are set, and a wait that is
// over is not repeated. A live process does not follow changes of the clock.
//
// Errors: those of a [pawl.Step]; why the run was interrupted, if its context ends first;
// [pawl.ErrWaiting] with [Yield]. It is safe for concurrent use with different keys.
func Sleep(ctx context.Context, key string, d time.Duration) error {
	return hook.Sleep(ctx, key, time.Time{}, d)
}

// SleepUntil waits until t, or not at all if t is over. The t of the first call counts, over all
// starts. It is otherwise as [Sleep], but for the clock: what a later start waits for is t by
// the clock of that day. A t behind the year 9999 is its end.
func SleepUntil(ctx context.Context, key string, t time.Time) error {
	if end := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC); t.After(end) {
		t = end // more than a time in the journal can say
	}
	return hook.Sleep(ctx, key, t, 0)
}

// Yield makes a run return instead of waiting for longer than d: [pawl.Do] returns an error that
// matches [pawl.ErrWaiting], and the run is waiting. [Until] tells when it can go on. It holds for
// sleeps and for the waits between the tries of a step; others that go on at the same time are
// awaited.
func Yield(d time.Duration) pawl.RunOption { return hook.Yield(d).(pawl.RunOption) }

// Until returns when a run that returned err can go on, and false if err is not
// [pawl.ErrWaiting], or if that is not a matter of time.
func Until(err error) (time.Time, bool) {
	at := earliest(err)
	return at, !at.IsZero()
}

// earliest returns the first time that err, or one that it wraps, waits for: several things may
// be waited for at once.
func earliest(err error) (at time.Time) {
	if w, ok := err.(interface{ WakeAt() time.Time }); ok { //nolint:errorlint // all are looked at
		return w.WakeAt()
	}
	var inside []error
	switch e := err.(type) { //nolint:errorlint // all are looked at
	case interface{ Unwrap() error }:
		inside = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inside = e.Unwrap()
	}
	for _, err := range inside {
		if err == nil {
			continue
		}
		if t := earliest(err); !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// Deadline bounds a run in time: its context ends d after its first start with this option, and
// the run fails, with an error that wraps [context.DeadlineExceeded]. That time is recorded, and
// later starts, also those without the option, have what is left of it, never more than d however clocks are set. A start
// with another d moves it: then it is that long after the first start. A start after the deadline
// fails without calling fn. A d of 0 or less changes nothing.
func Deadline(d time.Duration) pawl.RunOption { return hook.Deadline(d).(pawl.RunOption) }
