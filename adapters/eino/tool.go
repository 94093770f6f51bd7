package eino

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
)

// toolRecord is what is recorded of a tool call, however the tool gives its result.
type toolRecord struct {
	Text   string        `json:"text,omitempty"`
	Bytes  []byte        `json:"bytes,omitempty"` // instead of Text, if that is not UTF-8
	Result *record       `json:"result,omitempty"`
	Action *actionRecord `json:"action,omitempty"`
}

func textRecord(s string) toolRecord {
	if !utf8.ValidString(s) {
		return toolRecord{Bytes: []byte(s)}
	}
	return toolRecord{Text: s}
}

func (r toolRecord) text() string {
	if r.Bytes != nil {
		return string(r.Bytes)
	}
	return r.Text
}

func resultRecord(v *schema.ToolResult) (toolRecord, error) {
	rec, err := freeze(v)
	return toolRecord{Result: &rec}, err
}

func (r toolRecord) result() (*schema.ToolResult, error) {
	if r.Result == nil { // the tool returned a text when it ran
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: r.text()}}}, nil
	}
	return thaw[schema.ToolResult](*r.Result)
}

// toolInput is what a tool call is compared by.
type toolInput struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// toolCall is one call of a tool.
type toolCall struct {
	run    *agentRun
	at     place
	name   string // within its turn
	tool   *adk.ToolContext
	opts   []pawl.StepOption
	action *actionRecord // what the tool asked its agent to do
	called bool
}

func (m *Middleware) call(ctx context.Context, t *adk.ToolContext, args string) (*toolCall, error) {
	at, err := loadPlace(ctx)
	if err != nil {
		return nil, err
	}
	c := &toolCall{run: agentRunOf(ctx), at: at, name: at.tool(t.Name, t.CallID, args), tool: t}
	c.opts = m.config.toolOptions(t.Name, toolInput{t.Name, strings.ToValidUTF8(args, "\ufffd")})
	return c, nil
}

func (c *toolCall) where(ctx context.Context, nth int) (context.Context, string) {
	return pawl.Scope(c.at.scope(ctx, c.at.Nth), "tool"), numbered(c.name, nth)
}

// ask does the call as a step. Its error is the tool's own, which handlers may make a result of,
// unless the run cannot go on.
func (c *toolCall) ask(ctx context.Context, fn func(context.Context) (toolRecord, error)) (toolRecord, error) {
	seen, err := seenError(c.at.scope(ctx, c.at.Nth), c.name)
	if err != nil {
		c.run.stopAt(err)
		return toolRecord{}, err
	}
	if seen != nil {
		return toolRecord{}, seen
	}
	rec, _, refused, err := ask(ctx, c.where, c.opts, func(ctx context.Context) (toolRecord, error) {
		c.called = true
		rec, err := fn(ctx)
		rec.Action = c.action
		return rec, err
	})
	switch {
	case refused:
		c.run.stopAt(err)
		return rec, err
	case err != nil:
		c.run.toolFailed(c.name, err)
		return rec, err
	}
	c.run.toolWorked(c.name)
	if !c.called && rec.Action != nil {
		return rec, rec.Action.send(ctx, c.tool)
	}
	return rec, nil
}

// WrapInvokableToolCall makes the calls of a tool steps.
func (m *Middleware) WrapInvokableToolCall(_ context.Context, endpoint adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	if m.config.again[t.Name] {
		return endpoint, nil
	}
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		c, err := m.call(ctx, t, args)
		if err != nil {
			return "", err
		}
		rec, err := c.ask(ctx, func(ctx context.Context) (toolRecord, error) {
			text, err := endpoint(ctx, args, opts...)
			if err == nil {
				c.action, err = takeAction(ctx, t)
			}
			return textRecord(text), err
		})
		return rec.text(), err
	}, nil
}

// WrapStreamableToolCall makes the calls of a streaming tool steps. A recorded result is a stream of
// one chunk.
func (m *Middleware) WrapStreamableToolCall(_ context.Context, endpoint adk.StreamableToolCallEndpoint, t *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	if m.config.again[t.Name] {
		return endpoint, nil
	}
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		c, err := m.call(ctx, t, args)
		if err != nil {
			return nil, err
		}
		return streamed(stream[string, toolRecord]{
			ask: func(fn func(context.Context) (toolRecord, error)) (toolRecord, error) { return c.ask(ctx, fn) },
			open: func(ctx context.Context) (*schema.StreamReader[string], error) {
				r, err := endpoint(ctx, args, opts...)
				return opened(ctx, c, r, err)
			},
			join:  func(chunks []string) (toolRecord, error) { return textRecord(strings.Join(chunks, "")), nil },
			chunk: toolRecord.text,
		})
	}, nil
}

// WrapEnhancedInvokableToolCall is WrapInvokableToolCall for tools whose results are not only text.
func (m *Middleware) WrapEnhancedInvokableToolCall(_ context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, t *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	if m.config.again[t.Name] {
		return endpoint, nil
	}
	return func(ctx context.Context, arg *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		c, err := m.call(ctx, t, arg.Text)
		if err != nil {
			return nil, err
		}
		rec, err := c.ask(ctx, func(ctx context.Context) (toolRecord, error) {
			res, err := endpoint(ctx, arg, opts...)
			if err == nil {
				c.action, err = takeAction(ctx, t)
			}
			if err != nil {
				return toolRecord{}, err
			}
			return resultRecord(res)
		})
		if err != nil {
			return nil, err
		}
		return rec.result()
	}, nil
}

// WrapEnhancedStreamableToolCall is WrapStreamableToolCall for tools whose results are not only text.
func (m *Middleware) WrapEnhancedStreamableToolCall(_ context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, t *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	if m.config.again[t.Name] {
		return endpoint, nil
	}
	return func(ctx context.Context, arg *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		c, err := m.call(ctx, t, arg.Text)
		if err != nil {
			return nil, err
		}
		return streamed(stream[*schema.ToolResult, *schema.ToolResult]{
			ask: func(fn func(context.Context) (*schema.ToolResult, error)) (*schema.ToolResult, error) {
				rec, err := c.ask(ctx, func(ctx context.Context) (toolRecord, error) {
					res, err := fn(ctx)
					if err != nil {
						return toolRecord{}, err
					}
					return resultRecord(res)
				})
				if err != nil {
					return nil, err
				}
				return rec.result()
			},
			open: func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
				r, err := endpoint(ctx, arg, opts...)
				return opened(ctx, c, r, err)
			},
			join:  schema.ConcatToolResults,
			chunk: func(r *schema.ToolResult) *schema.ToolResult { return r },
		})
	}, nil
}

// opened looks for the action of a streaming tool now: eino takes it away with the first chunk.
func opened[C any](ctx context.Context, c *toolCall, r *schema.StreamReader[C], err error) (*schema.StreamReader[C], error) {
	if err != nil {
		return nil, err
	}
	if c.action, err = takeAction(ctx, c.tool); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
