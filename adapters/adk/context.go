package adk

import (
	"context"
	"time"

	"google.golang.org/adk/v2/agent"
)

// stepContext is a tool's context inside of its step: steps of the tool are nested in it, and what it
// derives from it too. The framework's own derive from theirs.
type stepContext struct {
	agent.Context
	step context.Context //nolint:containedctx // it is one
}

func (c *stepContext) Deadline() (time.Time, bool) { return c.step.Deadline() }
func (c *stepContext) Done() <-chan struct{}       { return c.step.Done() }
func (c *stepContext) Err() error                  { return c.step.Err() }
func (c *stepContext) Value(key any) any           { return c.step.Value(key) }

func (c *stepContext) WithContext(ctx context.Context) agent.InvocationContext {
	return &stepContext{c.Context, ctx}
}

func (c *stepContext) WithAgentContext(ctx context.Context) agent.Context {
	return &stepContext{c.Context, ctx}
}

func (c *stepContext) WithAgentCancel() (agent.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.step)
	return &stepContext{c.Context, ctx}, cancel
}

func (c *stepContext) WithAgentTimeout(d time.Duration) (agent.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.step, d)
	return &stepContext{c.Context, ctx}, cancel
}
