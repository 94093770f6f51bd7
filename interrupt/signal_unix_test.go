//go:build unix

package interrupt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/interrupt"
)

// raise sends a signal to this process and waits until it has come to all who listen.
func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, sig)
	defer signal.Stop(seen)
	check(t, syscall.Kill(os.Getpid(), sig))
	select {
	case <-seen:
	case <-time.After(10 * time.Second):
		t.Fatal("the signal does not come")
	}
}

func done(t *testing.T, ctx context.Context) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the context does not end")
	}
}

func stoppedBy(t *testing.T, ctx context.Context, sig os.Signal) {
	t.Helper()
	done(t, ctx)
	cause, ok := errors.AsType[*interrupt.Error](context.Cause(ctx))
	if !ok || cause.Signal != sig || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("the context ended by %v (%v), want %v", context.Cause(ctx), ctx.Err(), sig)
	}
}

func TestFirstSignalEndsTheContext(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		ctx, stop := interrupt.Context(t.Context(), time.Minute)
		raise(t, sig)
		stoppedBy(t, ctx, sig)
		stop()
		stoppedBy(t, ctx, sig) // stop does not change the cause
		if got := interrupt.ExitCode(ctx, nil); got != code {
			t.Errorf("exit code %d, want %d", got, code)
		}
		if n := watchers(); n != 0 {
			t.Errorf("%d goroutines watch after stop", n)
		}
	}
}

// TestSignalJustBeforeStop: a signal that came is not lost, however soon stop follows.
func TestSignalJustBeforeStop(t *testing.T) {
	for range 200 {
		ctx, stop := interrupt.Context(t.Context(), time.Minute)
		raise(t, syscall.SIGTERM)
		stop()
		if ctx.Err() == nil || interrupt.ExitCode(ctx, nil) != 143 {
			t.Fatalf("the context ended by %v", context.Cause(ctx))
		}
	}
}

// TestSeveralContexts: each gets the signal; one that was stopped gets nothing; one that is
// made later counts from then on.
func TestSeveralContexts(t *testing.T) {
	outer, stopOuter := interrupt.Context(t.Context(), time.Minute)
	defer stopOuter()
	nested, stopNested := interrupt.Context(outer, time.Minute)
	defer stopNested()
	beside, stopBeside := interrupt.Context(t.Context(), time.Minute)
	defer stopBeside()
	stopped, stop := interrupt.Context(t.Context(), time.Minute)
	stop()
	raise(t, syscall.SIGTERM)
	for _, ctx := range []context.Context{outer, nested, beside} {
		stoppedBy(t, ctx, syscall.SIGTERM)
	}
	if interrupt.ExitCode(stopped, nil) != 0 {
		t.Errorf("one that was stopped before ended by %v", context.Cause(stopped))
	}
	later, stopLater := interrupt.Context(t.Context(), time.Minute)
	defer stopLater()
	if later.Err() != nil {
		t.Error("one that is made later ended by a signal that came before")
	}
	inEnded, stopInEnded := interrupt.Context(outer, time.Minute)
	defer stopInEnded()
	stoppedBy(t, inEnded, syscall.SIGTERM) // as its parent did
}

// TestParentEndedThenSignal: the signal is still caught, and changes nothing.
func TestParentEndedThenSignal(t *testing.T) {
	boom := errors.New("boom")
	parent, cancel := context.WithCancelCause(t.Context())
	ctx, stop := interrupt.Context(parent, time.Minute)
	defer stop()
	cancel(boom)
	done(t, ctx)
	raise(t, syscall.SIGTERM)
	if context.Cause(ctx) != boom || interrupt.ExitCode(ctx, boom) != 1 {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
}

func init() {
	children["wait"] = func(c *child) error {
		c.at("start")
		switch c.mode {
		case "stopped": // before any signal
			c.stop()
			c.at("stopped")
		case "stopped in the grace":
			<-c.ctx.Done()
			c.stop()
			c.at("stopped")
			time.Sleep(300 * time.Millisecond) // longer than the grace
			c.at("later")
			return nil
		case "parent ended":
			ctx, cancel := context.WithCancel(context.Background())
			c.stop()
			c.ctx, c.stop = interrupt.Context(ctx, 100*time.Millisecond)
			cancel()
			c.at("ended")
		case "many":
			for range 10 {
				_, stop := interrupt.Context(context.Background(), 100*time.Millisecond)
				defer stop()
				_, stop = interrupt.Context(c.ctx, 100*time.Millisecond)
				defer stop()
			}
			c.at("many")
		case "ignored": // for good: signal.Reset does not undo it
			c.stop()
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
			c.ctx, c.stop = interrupt.Context(context.Background(), time.Millisecond)
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGWINCH} {
				if err := syscall.Kill(os.Getpid(), sig); err != nil {
					return err
				}
			}
			time.Sleep(100 * time.Millisecond)
			if c.ctx.Err() != nil || watchers() != 0 {
				return fmt.Errorf("%d goroutines watch, the context ended by %w", watchers(), context.Cause(c.ctx))
			}
			c.stop()
			return nil
		case "nobody else":
			signal.Reset() // as if another package did that: nothing is caught any more
			c.at("reset")
		}
		time.Sleep(time.Minute)
		return nil
	}
}

// TestHowProcessesEnd has what only a process that ends can show.
func TestHowProcessesEnd(t *testing.T) {
	const soon = 5 * time.Second
	for _, tt := range []struct {
		name, mode, at string
		grace          time.Duration
		signals        []syscall.Signal // one after another
		code           int
		says           string // all of stderr
		least          time.Duration
	}{
		{
			name: "grace is over", at: "start", grace: 300 * time.Millisecond, signals: []syscall.Signal{syscall.SIGTERM}, least: 300 * time.Millisecond,
			code: 143, says: "still running 300ms after SIGTERM: exit 143; what has finished is recorded\n",
		},
		{
			name: "grace is over after Ctrl-C", at: "start", grace: time.Millisecond, signals: []syscall.Signal{syscall.SIGINT},
			code: 130, says: "still running 1ms after SIGINT: exit 130; what has finished is recorded\n",
		},
		{
			name: "Ctrl-C twice", at: "start", grace: time.Minute, signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT},
			code: 130, says: "a second signal, SIGINT: exit 130; what has finished is recorded\n",
		},
		{
			name: "Ctrl-C, then SIGTERM", at: "start", grace: time.Minute, signals: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM},
			code: 130, says: "a second signal, SIGTERM: exit 130; what has finished is recorded\n",
		},
		{
			name: "no grace means no end", at: "start", grace: 0, signals: []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, least: 200 * time.Millisecond,
			code: 143, says: "a second signal, SIGTERM: exit 143; what has finished is recorded\n",
		},
		{
			name: "nor does a negative one", at: "start", grace: -time.Second, signals: []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, least: 200 * time.Millisecond,
			code: 143, says: "a second signal, SIGTERM: exit 143; what has finished is recorded\n",
		},
		{
			name: "many contexts, one line", mode: "many", at: "many", grace: time.Minute, signals: []syscall.Signal{syscall.SIGTERM},
			code: 143, says: "still running 100ms after SIGTERM: exit 143; what has finished is recorded\n",
		},
		{
			name: "parent ended before", mode: "parent ended", at: "ended", grace: time.Minute, signals: []syscall.Signal{syscall.SIGTERM}, least: 100 * time.Millisecond,
			code: 143, says: "still running 100ms after SIGTERM: exit 143; what has finished is recorded\n",
		},
		{name: "stopped, then a signal: as without Context", mode: "stopped", at: "stopped", grace: time.Minute, signals: []syscall.Signal{syscall.SIGTERM}, code: -1},
		{name: "stopped, then Ctrl-C", mode: "stopped", at: "stopped", grace: time.Minute, signals: []syscall.Signal{syscall.SIGINT}, code: -1},
		{name: "stopped in the grace", mode: "stopped in the grace", at: "start", grace: 100 * time.Millisecond, signals: []syscall.Signal{syscall.SIGTERM}, code: 143},
		{name: "reset by others", mode: "nobody else", at: "reset", grace: time.Minute, signals: []syscall.Signal{syscall.SIGTERM}, code: -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they sleep, mostly
			p := newHistory(t, "wait").start(tt.mode, tt.grace)
			p.at(tt.at)
			begin := time.Now()
			for i, sig := range tt.signals {
				if i > 0 {
					time.Sleep(200 * time.Millisecond) // a second signal, not the same one sent twice
				}
				p.signal(sig)
			}
			if says := p.ends(tt.code, soon); says != tt.says {
				t.Errorf("it said %q, want %q", says, tt.says)
			}
			if took := time.Since(begin); took < tt.least {
				t.Errorf("it ended after %v already", took)
			}
		})
	}
}

// TestStoppedInTheGraceSecondSignal: after stop the next signal is nothing of ours.
func TestStoppedInTheGraceSecondSignal(t *testing.T) {
	p := newHistory(t, "wait").start("stopped in the grace", time.Minute)
	p.at("start")
	p.signal(syscall.SIGTERM)
	p.at("stopped")
	p.signal(syscall.SIGTERM)
	p.ends(-1, 5*time.Second)
}

// TestIgnoredStaysIgnored: a shell that runs a job in the background ignores SIGINT for it.
func TestIgnoredStaysIgnored(t *testing.T) {
	p := newHistory(t, "wait").start("", time.Minute, "sh", "-c", `trap "" INT; exec "$0"`)
	p.at("start")
	p.signal(syscall.SIGINT)
	time.Sleep(100 * time.Millisecond)
	p.signal(syscall.SIGTERM) // the first signal that counts
	time.Sleep(100 * time.Millisecond)
	p.signal(syscall.SIGINT)
	time.Sleep(100 * time.Millisecond)
	p.signal(syscall.SIGTERM)
	if says := p.ends(143, 5*time.Second); says != "a second signal, SIGTERM: exit 143; what has finished is recorded\n" {
		t.Errorf("it said %q", says)
	}
}

// TestAllIgnored: then there is nothing to watch, and no other signal is taken for one.
func TestAllIgnored(t *testing.T) {
	p := newHistory(t, "wait").start("ignored", time.Millisecond)
	if says := p.ends(0, 5*time.Second); says != "" {
		t.Errorf("it said %q", says)
	}
}
