package eino

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
)

// Middleware makes the calls of an agent durable; [Durable] returns one.
type Middleware struct {
	*adk.BaseChatModelAgentMiddleware
	config config
}

var _ adk.ChatModelAgentMiddleware = (*Middleware)(nil)

// Durable returns a middleware for [adk.ChatModelAgentConfig.Handlers] that makes each model call
// and each tool call of the agent a step of the pawl run in the context. A call that has ended
// is recorded, durably, before the agent goes on; a later start of the run gets the recorded
// message or result, and the model or the tool is not called. See the package's
// documentation for keys, streams and errors.
//
// It belongs last among the handlers, next to the model: what handlers before it do to a message
// or a result is plain code, which runs again at each start. Every agent of a tree needs
// it; a sub-agent that is called as a tool and has none is one step as a whole.
//
// Without a run in the context the agent ends with [pawl.ErrNoRun]. One Middleware may serve any
// number of agents and runs, at once.
func Durable(opts ...Option) *Middleware {
	m := &Middleware{BaseChatModelAgentMiddleware: &adk.BaseChatModelAgentMiddleware{}}
	m.config.tools = map[string][]pawl.StepOption{}
	m.config.again = map[string]bool{}
	for _, o := range opts {
		o(&m.config)
	}
	return m
}

// BeforeAgent gives the agent's run a place for what must not survive it.
func (m *Middleware) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	return context.WithValue(ctx, agentRunKey{}, &agentRun{}), rc, nil
}

// BeforeModelRewriteState begins a turn: the model is about to be asked.
func (m *Middleware) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	run := agentRunOf(ctx)
	if err := run.halted(); err != nil {
		return ctx, nil, err
	}
	at, err := loadPlace(ctx)
	if err != nil {
		return ctx, nil, err
	}
	if at.Turn == 0 {
		at = newPlace(ctx, state.Messages)
	} else if err := run.saveSeen(ctx, at); err != nil {
		return ctx, nil, err
	}
	at.Turn++
	at.Calls = nil
	return ctx, state, at.save(ctx)
}

// AfterModelRewriteState notes the order of the tool calls: a tool is told its call's ID only, and
// IDs repeat.
func (m *Middleware) AfterModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	if len(state.Messages) == 0 {
		return ctx, state, nil
	}
	calls := state.Messages[len(state.Messages)-1].ToolCalls
	if len(calls) == 0 {
		return ctx, state, nil
	}
	at, err := loadPlace(ctx)
	if err != nil {
		return ctx, nil, err
	}
	for _, c := range calls {
		at.Calls = append(at.Calls, c.ID)
	}
	return ctx, state, at.save(ctx)
}

// WrapModel makes the model's calls steps.
func (m *Middleware) WrapModel(_ context.Context, inner model.BaseModel[*schema.Message], _ *adk.ModelContext) (model.BaseModel[*schema.Message], error) {
	return &durableModel{inner, &m.config}, nil
}
