package interrupt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/interrupt"
)

func codes() (sigint, sigterm int) {
	if runtime.GOOS == "windows" {
		status := uint32(0xC000013A)
		return int(status), int(status)
	}
	return 130, 143
}

func TestExitCode(t *testing.T) {
	sigint, sigterm := codes()
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	boom := errors.New("boom")
	byInt, byTerm := &interrupt.Error{Signal: os.Interrupt}, &interrupt.Error{Signal: syscall.SIGTERM}
	derived, cancel := context.WithTimeout(ended(byTerm), time.Hour)
	defer cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"no signal, no error", t.Context(), nil, 0},
		{"an error", t.Context(), boom, 1},
		{"cancelled otherwise", ended(boom), boom, 1},
		{"cancelled otherwise, no error", ended(nil), nil, 0},
		{"SIGINT", ended(byInt), context.Canceled, sigint},
		{"SIGTERM", ended(byTerm), context.Canceled, sigterm},
		{"SIGTERM, another error", ended(byTerm), boom, sigterm},
		{"SIGTERM, no error", ended(byTerm), nil, sigterm},
		{"a derived context", derived, boom, sigterm},
		{"only the error says so", t.Context(), fmt.Errorf("run: %w", byInt), sigint},
		{"the context says it first", ended(byTerm), byInt, sigterm},
	} {
		if got := interrupt.ExitCode(tt.ctx, tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestError(t *testing.T) {
	for sig, want := range map[os.Signal]string{os.Interrupt: "stopped by SIGINT", syscall.SIGTERM: "stopped by SIGTERM"} {
		err := error(&interrupt.Error{Signal: sig})
		if err.Error() != want || !errors.Is(err, context.Canceled) {
			t.Errorf("%q, want %q, and context.Canceled", err, want)
		}
	}
}

// TestStopWithoutSignal: stop ends the context and the goroutine, whoever calls it how often.
func TestStopWithoutSignal(t *testing.T) {
	ctx, stop := interrupt.Context(t.Context(), time.Second)
	if ctx.Err() != nil {
		t.Fatal("ended before anything happened")
	}
	if n := watchers(); n != 1 {
		t.Fatalf("%d goroutines watch", n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			stop()
			if n := watchers(); n != 0 {
				t.Errorf("%d goroutines watch after stop", n)
			}
		})
	}
	wg.Wait()
	stop()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) || interrupt.ExitCode(ctx, nil) != 0 {
		t.Errorf("the cause is %v", cause)
	}
}

// TestParentEnded: the context ends with its parent, before or after it was made, and with the
// parent's cause; the goroutine goes with stop.
func TestParentEnded(t *testing.T) {
	boom := errors.New("boom")
	for _, early := range []bool{true, false} {
		parent, cancel := context.WithCancelCause(t.Context())
		if early {
			cancel(boom)
		}
		ctx, stop := interrupt.Context(parent, time.Second)
		cancel(boom)
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the context does not end with its parent")
		}
		if context.Cause(ctx) != boom {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		stop()
		if n := watchers(); n != 0 || context.Cause(ctx) != boom {
			t.Errorf("after stop: %d goroutines, cause %v", n, context.Cause(ctx))
		}
	}
}

func TestContextsValues(t *testing.T) {
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	parent, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "v"), deadline)
	defer cancel()
	ctx, stop := interrupt.Context(parent, 0)
	defer stop()
	if d, ok := ctx.Deadline(); !ok || !d.Equal(deadline) || ctx.Value(key{}) != "v" {
		t.Errorf("deadline %v %v, value %v", d, ok, ctx.Value(key{}))
	}
}

// watchers counts the goroutines of Contexts.
func watchers() int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "created by github.com/pawlgo/pawl/interrupt.Context")
}
