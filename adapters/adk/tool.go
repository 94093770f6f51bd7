package adk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"strings"

	"github.com/pawlgo/pawl"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"
)

// Tool returns t with options for its step: [pawl.AtMostOnce] for a payment, a retry.Policy for
// what fails now and then. Tools without options need no Tool: [Plugin] and [Model] make all of them
// durable. An error that is left when the options have done what they can is what the model sees, as
// always.
func Tool(t tool.Tool, opts ...pawl.StepOption) tool.Tool {
	if c, ok := t.(callable); ok {
		return &toolWithOptions{c, opts}
	}
	return t
}

// callable is how the framework calls a tool, and streaming how it calls one that streams.
type callable interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	Run(ctx agent.Context, args any) (map[string]any, error)
}

type streaming interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
}

type toolWithOptions struct {
	callable
	opts []pawl.StepOption
}

// ProcessRequest announces the tool to the model. The one inside would announce itself.
func (t *toolWithOptions) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	p, ok := t.callable.(interface {
		ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
	})
	if !ok {
		return fmt.Errorf("%w: adk: tool %q cannot be announced to a model", pawl.ErrInvalid, t.Name())
	}
	if err := p.ProcessRequest(ctx, req); err != nil {
		return err
	}
	if req.Tools[t.Name()] != nil {
		req.Tools[t.Name()] = t
	}
	return nil
}

// turn is a response of a model and what the tools that it calls have to know of it.
type turn struct {
	agent string
	n     int                   // of the model's step; 0 if the response is none of a step's
	calls []*genai.FunctionCall // in their order
}

// wrap makes tools durable, in place.
func (t *turn) wrap(tools map[string]any) {
	for name, x := range tools {
		switch x := x.(type) {
		case *durableTool:
			x.turn = t
		case *durableStream:
			x.turn = t
		case streaming: // before callable, as the framework asks
			tools[name] = &durableStream{streaming: x, turn: t}
		case callable:
			if !delegates(x) {
				tools[name] = &durableTool{callable: x, turn: t}
			}
		}
	}
}

// delegates reports whether a tool only lets an agent run within the invocation: the calls of that
// agent are steps, and what it says are events, which must come again on every start.
func delegates(t tool.Tool) bool {
	typ := reflect.TypeOf(t)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return strings.HasSuffix(typ.PkgPath(), "/internal/workflowinternal")
}

// key names a call: by the response that it stands in and its place there. The ID only finds that
// place. A call that is in no response that we know is named by what it is.
func (t *turn) key(ctx agent.Context, name string, args any) string {
	if t != nil && t.n > 0 {
		for i, call := range t.calls {
			if call.ID == ctx.FunctionCallID() && call.Name == name {
				return fmt.Sprintf("tool %s %d.%d %s %s", t.agent, t.n, i, name, digest(args)[:8])
			}
		}
	}
	return fmt.Sprintf("tool %s %s %s", ctx.AgentName(), name, digest(args)[:16])
}

func digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		text = fmt.Append(nil, v)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

type durableTool struct {
	callable
	turn *turn
}

func (t *durableTool) Run(ctx agent.Context, args any) (map[string]any, error) {
	if !inRun(ctx) {
		return t.callable.Run(ctx, args)
	}
	return runTool(ctx, t.turn.key(ctx, t.Name(), args), t.callable, args)
}

// Unwrap returns the tool inside, for callbacks that look at tools.
func (t *durableTool) Unwrap() tool.Tool { return t.callable }

type durableStream struct {
	streaming
	turn *turn
}

// RunStream gives the whole of the stream at once: outside of live sessions that is what the
// framework makes of it.
func (t *durableStream) RunStream(ctx agent.Context, args any) iter.Seq2[string, error] {
	if !inRun(ctx) {
		return t.streaming.RunStream(ctx, args)
	}
	return func(yield func(string, error) bool) {
		res, err := runTool(ctx, t.turn.key(ctx, t.Name(), args), collected{t.streaming}, args)
		text, _ := res["result"].(string)
		yield(text, err)
	}
}

func (t *durableStream) Unwrap() tool.Tool { return t.streaming }

type collected struct{ streaming }

func (c collected) Run(ctx agent.Context, args any) (map[string]any, error) {
	var b strings.Builder
	for chunk, err := range c.RunStream(ctx, args) {
		if err != nil {
			return nil, err
		}
		b.WriteString(chunk)
	}
	return map[string]any{"result": b.String()}, nil
}

// outcome is what is recorded of a call: all that the framework takes from it.
type outcome struct {
	Result  map[string]any        `json:"result"` // null and {} differ
	Error   *string               `json:"error,omitempty"`
	Asks    bool                  `json:"asks,omitempty"`    // the error is that a human must confirm
	Refused bool                  `json:"refused,omitempty"` // the error is that a human did not
	Actions *session.EventActions `json:"actions,omitempty"`
}

// runTool runs a tool as a step. An error of the tool is a result: the model sees it and goes on from
// there, so that the next start must not try again. An error of the run ends the invocation.
func runTool(ctx agent.Context, key string, t callable, args any) (map[string]any, error) {
	var opts []pawl.StepOption
	if o, ok := t.(*toolWithOptions); ok {
		t, opts = o.callable, o.opts
	}
	var live error
	call := func(sctx context.Context) (json.RawMessage, error) {
		res, err := t.Run(&stepContext{ctx, sctx}, args)
		if err != nil && len(opts) > 0 {
			return nil, err // the options say what comes next
		}
		return outcomeOf(ctx, res, err, &live)
	}
	text, _, err := numbered(ctx, key, func(sctx context.Context) (json.RawMessage, error) {
		live = nil
		if len(opts) == 0 {
			return call(sctx)
		}
		text, err := pawl.Step(sctx, "call", call, opts...)
		if failed, ok := errors.AsType[*pawl.StepError](err); ok && !isRuns(err) {
			cause := failed.Err
			if cause == nil || failed.Final {
				cause = errors.New(failed.Message)
			}
			return outcomeOf(ctx, nil, cause, &live)
		}
		return text, err
	})
	if err != nil {
		stop(ctx.InvocationID(), err)
		return nil, err
	}
	var o outcome
	if err := decode(text, &o); err != nil {
		stop(ctx.InvocationID(), err)
		return nil, err
	}
	if err := act(ctx, o.Actions); err != nil {
		return nil, err
	}
	switch {
	case o.Error == nil:
		return o.Result, nil
	case live != nil:
		return nil, live
	}
	return nil, &toolError{*o.Error, o.Asks, o.Refused}
}

// outcomeOf is the record of a call, or the error that keeps it from being one.
func outcomeOf(ctx agent.Context, res map[string]any, err error, live *error) (json.RawMessage, error) {
	o := outcome{Result: res, Actions: ctx.Actions()}
	if err != nil {
		if ctx.Err() != nil || isRuns(err) {
			return nil, err
		}
		text := strings.ToValidUTF8(err.Error(), "\ufffd")
		o = outcome{Error: &text, Asks: errors.Is(err, tool.ErrConfirmationRequired), Refused: errors.Is(err, tool.ErrConfirmationRejected), Actions: ctx.Actions()}
		*live = err
	}
	return encode(o)
}

// act does to the event of a call what its tool did.
func act(ctx agent.Context, recorded *session.EventActions) error {
	a := ctx.Actions()
	if recorded == nil || a == nil {
		return nil
	}
	for k, v := range recorded.StateDelta {
		if err := ctx.State().Set(k, v); err != nil {
			return err
		}
	}
	if len(recorded.ArtifactDelta) > 0 {
		if a.ArtifactDelta == nil {
			a.ArtifactDelta = map[string]int64{}
		}
		maps.Copy(a.ArtifactDelta, recorded.ArtifactDelta)
	}
	if len(recorded.RequestedToolConfirmations) > 0 {
		if a.RequestedToolConfirmations == nil {
			a.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{}
		}
		maps.Copy(a.RequestedToolConfirmations, recorded.RequestedToolConfirmations)
	}
	a.SkipSummarization, a.TransferToAgent, a.Escalate = recorded.SkipSummarization, recorded.TransferToAgent, recorded.Escalate
	return nil
}

// toolError is a tool's error of an earlier start.
type toolError struct {
	text          string
	asks, refused bool
}

func (e *toolError) Error() string { return e.text }

func (e *toolError) Is(target error) bool {
	return e.asks && target == tool.ErrConfirmationRequired || e.refused && target == tool.ErrConfirmationRejected
}
