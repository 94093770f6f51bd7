package interrupt

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestEcho(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		first, sig os.Signal
		after      time.Duration
		want       bool
	}{
		{os.Interrupt, os.Interrupt, 0, true},
		{syscall.SIGTERM, syscall.SIGTERM, 19 * ms, true},
		{syscall.SIGTERM, syscall.SIGTERM, 20 * ms, false},
		{os.Interrupt, os.Interrupt, time.Hour, false},
		{os.Interrupt, syscall.SIGTERM, 0, false},
		{syscall.SIGTERM, os.Interrupt, 0, false},
	} {
		if got := echo(tt.first, tt.sig, tt.after); got != tt.want {
			t.Errorf("%v, %v after %v: %v", tt.first, tt.sig, tt.after, got)
		}
	}
}

// TestSignalAndStopAtOnce: a signal and stop that wait for the goroutine together, in whatever
// order it finds them, leave the signal as the cause.
func TestSignalAndStopAtOnce(t *testing.T) {
	for range 64 {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newWatcher(cancel, syscall.SIGTERM)
		go w.watch()
		w.stop()
		if ExitCode(ctx, nil) != code(syscall.SIGTERM) {
			t.Fatalf("the cause is %v", context.Cause(ctx))
		}
	}
}

// TestEchoIsNoSecondSignal: two that come at once do not end the process, which is this one.
func TestEchoIsNoSecondSignal(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWatcher(cancel, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM)
	go w.watch()
	<-ctx.Done()
	for len(w.signals) > 0 {
		time.Sleep(time.Millisecond)
	}
	w.stop()
}

// newWatcher returns a watcher to which signals came already.
func newWatcher(cancel context.CancelCauseFunc, came ...os.Signal) *watcher {
	w := &watcher{cancel: cancel, grace: time.Minute, signals: make(chan os.Signal, 8), quit: make(chan struct{}), done: make(chan struct{})}
	for _, sig := range came {
		w.signals <- sig
	}
	return w
}
