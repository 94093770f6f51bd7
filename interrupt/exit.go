package interrupt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// ExitCode returns the code with which main should exit, given the context that [Context]
// returned and the error of the work. If a signal ended the context it is 130 after SIGINT and
// 143 after SIGTERM, as shells report programs that these end; on Windows it is 0xC000013A
// (STATUS_CONTROL_C_EXIT) after either. Otherwise it is 0 if err is nil, else 1.
//
// The signal counts also if err is nil: a loop that stopped because its context is done often
// ends without an error, and its program must not look finished. Work that was complete all
// the same loses nothing by another start. It counts too if ctx is another context and err
// wraps the [*Error], as those of pawl.Do do after an interruption.
func ExitCode(ctx context.Context, err error) int {
	for _, e := range []error{context.Cause(ctx), err} {
		if stopped, ok := errors.AsType[*Error](e); ok {
			return code(stopped.Signal)
		}
	}
	if err != nil {
		return 1
	}
	return 0
}

// leaving is taken by whoever ends the process, and never given back: of several Contexts one
// says why.
var leaving sync.Mutex

// leave ends the process because of a signal.
func leave(first os.Signal, why string) {
	leaving.Lock()
	signal.Ignore(syscall.SIGPIPE) // a reader of stderr that is gone must not decide the exit code
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintf(os.Stderr, "%s: exit %d; what has finished is recorded\n", why, code(first))
	}()
	select {
	case <-said:
	case <-time.After(time.Second): // nobody reads what we say: a full pipe, a stopped terminal
	}
	os.Exit(code(first))
}
