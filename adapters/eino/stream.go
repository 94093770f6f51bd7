package eino

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/cloudwego/eino/schema"
)

// stream is a call whose result comes in chunks C, and is recorded as one R.
type stream[C, R any] struct {
	ask   func(fn func(context.Context) (R, error)) (R, error) // does it as a step
	open  func(context.Context) (*schema.StreamReader[C], error)
	join  func([]C) (R, error)
	chunk func(R) C // the chunk that stands for all
}

// streamed returns a stream that ends when its result is recorded. The step is under way as long as
// the model or the tool speaks, so it has a goroutine of its own, for which [pawl.Do] waits. It does not
// wait for the reader: what has been paid for is recorded though nobody reads it any more.
//
// It returns when the first chunk is there or the call has failed: what asks again after an error,
// as eino's retries do, must be told by an error and not by a stream.
func streamed[C, R any](s stream[C, R]) (*schema.StreamReader[C], error) {
	out, in := schema.Pipe[C](16)
	began := make(chan error, 1)
	q := newQueue[C]()
	go q.pump(in)
	go s.run(q, began)
	if err := <-began; err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

func (s stream[C, R]) run(to *queue[C], began chan<- error) {
	defer to.close()
	sent := false
	fail := func(err error) {
		if sent {
			to.put(*new(C), err)
		} else {
			began <- err
		}
	}
	defer func() {
		// As eino does in its own goroutines; here a panic would end the process.
		if p := recover(); p != nil {
			fail(fmt.Errorf("pawl: eino: panic in a stream: %v\n%s", p, debug.Stack()))
		}
	}()
	whole, err := s.ask(func(ctx context.Context) (R, error) {
		var none R
		from, err := s.open(ctx)
		if err != nil {
			return none, err
		}
		defer from.Close()
		var chunks []C
		for {
			c, err := from.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && sent {
				return none, &brokenError{err}
			}
			if err != nil {
				return none, err
			}
			chunks = append(chunks, c)
			if !sent {
				sent = true
				began <- nil
			}
			to.put(c, nil)
		}
		return s.join(chunks)
	})
	if broken, ok := errors.AsType[*brokenError](err); ok {
		err = broken.err
	}
	switch {
	case err != nil:
		fail(err)
	case !sent:
		sent = true
		began <- nil
		to.put(s.chunk(whole), nil)
	}
}

// brokenError is the end of a stream whose beginning somebody has read: another try of the step would
// begin the stream anew.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }
