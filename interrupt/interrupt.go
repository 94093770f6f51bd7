package interrupt

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Error says that a signal ended the context. It is what context.Cause returns then, and it
// wraps [context.Canceled].
type Error struct {
	Signal os.Signal // the first one that came
}

// Error returns "stopped by SIGTERM", or "stopped by SIGINT".
func (e *Error) Error() string { return "stopped by " + name(e.Signal) }

// Unwrap returns [context.Canceled].
func (e *Error) Unwrap() error { return context.Canceled }

func name(sig os.Signal) string {
	if sig == os.Interrupt {
		return "SIGINT"
	}
	return "SIGTERM"
}

// Context returns a context that ends with parent, or when SIGINT (Ctrl-C) or SIGTERM comes:
// context.Cause is an [*Error] then. From that first signal on the program has the grace to
// return. When that is over, or at once when a second signal comes, the process exits with the
// code of the first ([ExitCode]), after a line on stderr that says why; deferred functions do
// not run. A grace of zero or less has no end: only a second signal exits. Nothing is printed
// at the first signal; [context.AfterFunc] can do that.
//
// Stop gives the signals back to whatever had them before, and waits until nothing of Context
// is left running. It ends the context too, and with it the grace: once it has returned,
// nothing exits any more. A signal that came before stop is still the context's cause. It may be
// called again, and from several goroutines. It must be called, or the signals are watched
// until the process ends: also after parent has ended, when the first signal begins the
// grace, and context.Cause stays what it was.
//
// A signal that is ignored when Context is called stays ignored: SIGINT in a job that a shell
// script runs in the background. SIGHUP is left alone, so nohup works as ever. The same
// signal again within 20 milliseconds counts as one, since some programs send it both to a
// process and to its group (timeout of GNU does).
//
// Each Context counts for itself, and each gets every signal. Of several, nested or not, the
// shortest grace counts, and what is a second signal to any of them exits. One in main is
// enough.
//
// On Windows the signals are Ctrl-C and Ctrl-Break (SIGINT), and the closing of the console,
// logging off and shutting down (SIGTERM), for which Windows itself gives some seconds at most.
func Context(parent context.Context, grace time.Duration) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	var watched []os.Signal
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			watched = append(watched, sig)
		}
	}
	if len(watched) == 0 { // to Notify, none would mean all
		return ctx, func() { cancel(nil) }
	}
	w := &watcher{
		cancel: cancel, grace: grace,
		signals: make(chan os.Signal, 8), // Notify drops what finds no room
		quit:    make(chan struct{}), done: make(chan struct{}),
	}
	signal.Notify(w.signals, watched...)
	go w.watch()
	return ctx, w.stop
}

// watcher is the goroutine behind a Context.
type watcher struct {
	cancel  context.CancelCauseFunc
	grace   time.Duration
	signals chan os.Signal
	once    sync.Once
	quit    chan struct{} // closed by stop
	done    chan struct{} // closed when watch returns
}

func (w *watcher) stop() {
	w.once.Do(func() {
		signal.Stop(w.signals) // nothing comes into the channel after this
		close(w.quit)
		<-w.done
		w.cancel(nil)
	})
}

func (w *watcher) watch() {
	defer close(w.done)
	var first os.Signal
	var at time.Time
	var over <-chan time.Time
	for {
		select {
		case sig := <-w.signals:
			switch now := time.Now(); {
			case first == nil:
				first, at = sig, now
				if w.grace > 0 {
					timer := time.NewTimer(w.grace)
					defer timer.Stop()
					over = timer.C
				}
				w.cancel(&Error{first})
			case !echo(first, sig, now.Sub(at)):
				leave(first, "a second signal, "+name(sig))
			}
		case <-over:
			leave(first, "still running "+w.grace.String()+" after "+name(first))
		case <-w.quit:
			select { // who pressed Ctrl-C just before stop has pressed it
			case sig := <-w.signals:
				w.cancel(&Error{sig}) // changes nothing if it is not the first
			default:
			}
			return
		}
	}
}

// echo reports whether a signal that comes after the first one is that one sent twice. Copies
// arrive within a millisecond or so, a human needs more than fifty to press keys twice.
func echo(first, sig os.Signal, after time.Duration) bool {
	return sig == first && after < 20*time.Millisecond
}
