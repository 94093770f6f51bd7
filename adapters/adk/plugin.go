package adk

import (
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
)

// Plugin makes each call of a tool a step of the run that the context carries, and ends an
// invocation when a tool's step says that the run cannot go on. Give it to the runner as the first
// of its plugins, and wrap the models of its agents with [Model].
//
// A call is named by the model's response that asks for it and its place there, never by an ID
// that a model chose. Its result is recorded with all that the tool did to its context:
// state, artifact versions, transfer, escalation, requested confirmations. An error of the tool is a
// result too, since the model sees it. What a call returns was read from its record, on the
// first day too. A call that was under way at a death is made again, with the same
// [pawl.IdempotencyKey]; [Tool] has options for those that must not be.
//
// Callbacks of agents and of other plugins run on every start, around the step; of a call that a human
// has confirmed those before the tool do not. Tools that delegate
// to an agent of the same invocation are not steps, the calls of that agent are. Without a
// run Plugin does nothing.
func Plugin() *plugin.Plugin {
	p, err := plugin.New(plugin.Config{
		Name:                "pawl",
		BeforeModelCallback: beforeModel,
		BeforeToolCallback:  beforeTool,
		OnEventCallback:     onEvent,
		AfterRunCallback:    func(ctx agent.InvocationContext) { stopOver(ctx.InvocationID()) },
	})
	if err != nil {
		panic(err) // no configuration of ours is one that it refuses
	}
	return p
}

// beforeModel makes the tools durable that the model will be told of. Model says later which
// response calls them; it is not asked if another callback answers.
func beforeModel(ctx agent.Context, req *model.LLMRequest) (*model.LLMResponse, error) {
	if !inRun(ctx) {
		return nil, nil
	}
	if err := stopped(ctx.InvocationID()); err != nil {
		return nil, err
	}
	(&turn{}).wrap(req.Tools)
	return nil, nil
}

// beforeTool makes a call durable that no model has just asked for: one that a human has confirmed.
func beforeTool(ctx agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
	switch t.(type) {
	case *durableTool, *durableStream:
		return nil, nil
	}
	c, ok := t.(callable)
	if !ok || !inRun(ctx) || delegates(t) {
		return nil, nil
	}
	var none *turn
	res, err := runTool(ctx, none.key(ctx, t.Name(), args), c, args)
	if err == nil && res == nil {
		res = map[string]any{"status": "pending"} // nil would say: call it
	}
	return res, err
}

// onEvent keeps an event out of the session that tells of a result which is none.
func onEvent(ctx agent.InvocationContext, _ *session.Event) (*session.Event, error) {
	return nil, stopped(ctx.InvocationID())
}
