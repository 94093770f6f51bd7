package journalfile_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// twoSteps is a journal in an empty directory, with a step that is durable.
func twoSteps(t *testing.T) (*crashfs.FS, *journalfile.File) {
	t.Helper()
	base := emptyDir(t)
	j, err := journalfile.Create(base, path, body(journal.KindRun, 1, 100), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(body(journal.KindStep, 2, 100), true); err != nil {
		t.Fatal(err)
	}
	return base, j
}

// TestUndoBesideAFlush: rule 3, invariant 1. While one caller's flush is under way another one's
// write fails, and the flush of its cut fails and drops what both wrote. The kernel tells
// that once, so the first flush returns nil: its caller must not be told that its record is
// durable.
func TestUndoBesideAFlush(t *testing.T) {
	base, j := twoSteps(t)
	flushing, goOn := make(chan bool), make(chan bool)
	var blocked, dropped atomic.Bool
	var failing atomic.Bool
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Sync && blocked.CompareAndSwap(false, true) {
			close(flushing)
			<-goOn
		}
	}
	base.Fault = func(op crashfs.Op) crashfs.Fault {
		switch {
		case !failing.Load():
		case op.Kind == crashfs.Write:
			return crashfs.Fault{Err: syscall.ENOSPC, Short: 10}
		case op.Kind == crashfs.Sync && dropped.CompareAndSwap(false, true):
			return crashfs.Fault{Err: syscall.EIO}
		}
		return crashfs.Fault{}
	}
	done := make(chan error)
	go func() {
		_, err := j.Append(body(journal.KindStep, 3, 100), true)
		done <- err
	}()
	<-flushing
	failing.Store(true)
	if _, err := j.Append(body(journal.KindStep, 4, 100), true); !errors.Is(err, journalfile.ErrInDoubt) {
		t.Errorf("a failed write whose cut was not flushed: %v", err)
	}
	failing.Store(false)
	close(goOn)
	err := <-done
	if !errors.Is(err, journalfile.ErrInDoubt) {
		t.Errorf("the flush beside it: %v", err)
	}
	if j.Durable() != 2 {
		t.Errorf("%d records are said to be durable", j.Durable())
	}
	base.Before, base.Fault = nil, nil
	for img, v := range base.Images(crashfs.Limits{Plain: true}) {
		_, fold, _, openErr := journalfile.Open(img, path, func(string) {})
		if openErr != nil || err == nil && fold.LastSeq < 3 {
			t.Errorf("invariant 1: after a power cut (%v): %v", v, openErr)
		}
	}
}

// TestFlushClaimsWhatItBegan: rules 1 and 8. A record that was written while a flush was under
// way is not durable by it, and the next record must not claim so.
func TestFlushClaimsWhatItBegan(t *testing.T) {
	base, j := twoSteps(t)
	flushing, goOn := make(chan bool), make(chan bool)
	var blocked atomic.Bool
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Sync && blocked.CompareAndSwap(false, true) {
			close(flushing)
			<-goOn
		}
	}
	done := make(chan error)
	go func() {
		_, err := j.Append(body(journal.KindStep, 3, 100), true)
		done <- err
	}()
	<-flushing
	if _, err := j.Append(body(journal.KindStep, 4, 100), false); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if j.Durable() != 3 {
		t.Errorf("%d records are said to be durable, 3 were written when the flush began", j.Durable())
	}
	span, err := j.Append(body(journal.KindStep, 5, 100), false)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := j.Record(span); err != nil || r.Dur != 3 {
		t.Errorf("record 5 claims that %d are durable, %v", r.Dur, err)
	}
}

// TestCloseReportsItsFlush: rule 25. Close flushes what nobody waited for, and says so if that
// fails; what was reported before it does not report again.
func TestCloseReportsItsFlush(t *testing.T) {
	base, j := twoSteps(t)
	if _, err := j.Append(body(journal.KindStep, 3, 100), false); err != nil {
		t.Fatal(err)
	}
	base.Fault = crashfs.Nth(crashfs.Sync, base.Count(crashfs.Sync)+1, 1, crashfs.Fault{Err: syscall.EIO})
	// The record was never acknowledged, so the error is the only word about it.
	if _, err := j.Append(body(journal.KindStep, 4, 100), true); !errors.Is(err, journalfile.ErrInDoubt) {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("reported twice: %v", err)
	}
	base, j = twoSteps(t)
	if _, err := j.Append(body(journal.KindStep, 3, 100), false); err != nil {
		t.Fatal(err)
	}
	base.Fault = crashfs.Nth(crashfs.Sync, base.Count(crashfs.Sync)+1, 1, crashfs.Fault{Err: syscall.EIO})
	if err := j.Close(); !errors.Is(err, syscall.EIO) || !errors.Is(err, journalfile.ErrInDoubt) {
		t.Errorf("the flush of Close failed, and it says %v", err)
	}
}

// TestCloseWaitsForAFlush: rules 1 and 17. A flush that is under way looks at the file when it is
// done, so Close leaves it open and as long as it was until then.
func TestCloseWaitsForAFlush(t *testing.T) {
	base, j := twoSteps(t)
	flushing, goOn := make(chan bool), make(chan bool)
	var blocked atomic.Bool
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Sync && blocked.CompareAndSwap(false, true) {
			close(flushing)
			<-goOn
		}
	}
	saved, closed := make(chan error), make(chan error)
	go func() {
		_, err := j.Append(body(journal.KindStep, 3, 100), true)
		saved <- err
	}()
	<-flushing
	go func() { closed <- j.Close() }()
	time.Sleep(20 * time.Millisecond) // to where it waits
	close(goOn)
	if err := errors.Join(<-saved, <-closed); err != nil {
		t.Error(err)
	}
}

// TestFaultsInARow: rule 2, invariants 7 and 8. A write fails, and so does what is done about it:
// the cut, or its flush. Then the journal takes nothing more, since nobody knows what stands
// behind its last record.
func TestFaultsInARow(t *testing.T) {
	runs := 0
	for _, exists := range []bool{false, true} {
		for _, second := range []crashfs.Kind{crashfs.Truncate, crashfs.Sync} {
			for _, errno := range errnos {
				for _, first := range faultsOf(crashfs.Write, errno) {
					for n := 1; ; n++ {
						r := newFaultRun(t, nil, exists, errno)
						at, wrote := r.base.Count(crashfs.Write)+n, false
						r.base.Fault = func(op crashfs.Op) crashfs.Fault {
							switch {
							case op.Kind == crashfs.Write && op.OfKind >= at && !wrote:
								wrote = true
								return first
							case op.Kind == second && wrote && !r.hurt:
								return crashfs.Fault{Err: errno}
							}
							return crashfs.Fault{}
						}
						err := r.live(exists)
						if r.base.Count(crashfs.Write) < at {
							break
						}
						if err == nil {
							err = r.after()
						}
						runs++
						if err != nil {
							t.Errorf("torn %v, write %d %+v, then %v: %v", exists, n, first, second, err)
							return
						}
					}
				}
				if scale() < 1 {
					break
				}
			}
		}
	}
	if runs < 100 {
		t.Errorf("%d runs: hardly anything was tested", runs)
	}
	t.Logf("%d runs", runs)
}

// TestPoisonByUndo: rule 2, invariant 7. See TestFaultsInARow; here by hand, and for good.
func TestPoisonByUndo(t *testing.T) {
	for _, second := range []crashfs.Kind{crashfs.Truncate, crashfs.Sync} {
		base, j := twoSteps(t)
		failed := false
		base.Fault = func(op crashfs.Op) crashfs.Fault {
			switch {
			case op.Kind == crashfs.Write && !failed:
				return crashfs.Fault{Err: syscall.ENOSPC, Short: 30}
			case op.Kind == second && !failed:
				failed = true
				return crashfs.Fault{Err: syscall.EIO}
			}
			return crashfs.Fault{}
		}
		_, err := j.Append(body(journal.KindStep, 3, 100), true)
		if !errors.Is(err, journalfile.ErrInDoubt) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%v fails: the error is %v", second, err)
		}
		base.Fault = nil
		for _, durable := range []bool{true, false} {
			if _, err := j.Append(body(journal.KindStep, 4, 100), durable); !errors.Is(err, journalfile.ErrInDoubt) {
				t.Errorf("%v failed, and then an append returned %v", second, err)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		for img, v := range base.Images(crashfs.Limits{Plain: true}) {
			if _, fold, _, err := journalfile.Open(img, path, func(string) {}); err != nil || fold.LastSeq != 2 {
				t.Error(fmt.Errorf("%v failed; after a power cut (%v): %w", second, v, err))
			}
		}
	}
}

// TestFlushWakesAllWhoWait: rule 1. A flush that makes the records of several callers durable ends
// the waiting of all of them, also if nobody flushes ever after.
func TestFlushWakesAllWhoWait(t *testing.T) {
	base, j := twoSteps(t)
	flushing, goOn := make(chan bool), make(chan bool)
	var blocked atomic.Bool
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Sync && blocked.CompareAndSwap(false, true) {
			close(flushing)
			<-goOn
		}
	}
	const callers = 6
	done := make(chan error, callers)
	add := func(n int) {
		_, err := j.Append(body(journal.KindStep, n, 100), true)
		done <- err
	}
	go add(3)
	<-flushing
	for n := range callers - 1 {
		go add(n + 4)
	}
	for j.Seq() < 2+callers {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // from writing to waiting
	close(goOn)
	for range callers {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(8 * time.Second):
			t.Fatal("a caller waits for ever")
		}
	}
}
