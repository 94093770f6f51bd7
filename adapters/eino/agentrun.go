package eino

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/pawlgo/pawl"
)

// agentRun is what is known of one run of an agent in this process. Only what may be lost with the
// process, or with a checkpoint, is in it.
type agentRun struct {
	mu     sync.Mutex
	halt   error
	failed map[string]string // tool calls of this turn that failed: text of the error
}

type agentRunKey struct{}

func agentRunOf(ctx context.Context) *agentRun {
	if r, ok := ctx.Value(agentRunKey{}).(*agentRun); ok {
		return r
	}
	return &agentRun{}
}

// stopAt remembers that the run cannot go on. Handlers around a tool may show the model every error
// as a result; a question that waits for a human, or a budget that is used up, is none.
func (r *agentRun) stopAt(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halt == nil {
		r.halt = err
	}
}

func (r *agentRun) halted() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halt
}

func (r *agentRun) toolFailed(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = map[string]string{}
	}
	r.failed[name] = err.Error()
}

// toolWorked forgets the error of a call that somebody has made again.
func (r *agentRun) toolWorked(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, name)
}

// saveSeen records the errors of the turn's tools, before the model is asked again: handlers have
// made a value of them that the model is about to see, so that they are results now, and
// those tools must not run again. An error that ends the agent never comes here: its tool runs
// again on the next start.
func (r *agentRun) saveSeen(ctx context.Context, at place) error {
	r.mu.Lock()
	failed := maps.Clone(r.failed)
	r.failed = nil
	r.mu.Unlock()
	if len(failed) == 0 {
		return nil
	}
	ctx = at.scope(ctx, at.Nth)
	seen, _, err := pawl.LoadState[map[string]string](ctx)
	if err != nil {
		return err
	}
	if seen == nil {
		seen = map[string]string{}
	}
	maps.Copy(seen, failed)
	return pawl.SaveState(ctx, seen)
}

// seenError returns the error that the model has seen of a tool call at an earlier start, nil if
// it has seen none.
func seenError(ctx context.Context, name string) (error, error) {
	seen, _, err := pawl.LoadState[map[string]string](ctx)
	if err != nil {
		return nil, err
	}
	if text, ok := seen[name]; ok {
		return errors.New(text), nil
	}
	return nil, nil
}
