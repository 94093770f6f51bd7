package eino_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
)

// fake is a model that is played by a function, and that is as strict about transcripts as
// vendors are.
type fake struct {
	answer func(ctx context.Context, turn int, input []*schema.Message) (*schema.Message, error)
	calls  atomic.Int64
}

func (f *fake) Generate(ctx context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	f.calls.Add(1)
	if err := valid(input); err != nil {
		return nil, err
	}
	turn := 0
	for _, m := range input {
		if m.Role == schema.Assistant {
			turn++
		}
	}
	return f.answer(ctx, turn, input)
}

// Stream gives the answer in chunks: the text in words, then each tool call in two halves.
func (f *fake) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := f.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	out, in := schema.Pipe[*schema.Message](1)
	go func() {
		defer in.Close()
		for _, word := range strings.SplitAfter(msg.Content, " ") {
			in.Send(&schema.Message{Role: msg.Role, Content: word}, nil)
		}
		for i, c := range msg.ToolCalls {
			half := len(c.Function.Arguments) / 2
			first := c
			first.Index, first.Function.Arguments = &i, c.Function.Arguments[:half]
			in.Send(&schema.Message{Role: msg.Role, ToolCalls: []schema.ToolCall{first}}, nil)
			in.Send(&schema.Message{Role: msg.Role, ToolCalls: []schema.ToolCall{{Index: &i, Function: schema.FunctionCall{Arguments: c.Function.Arguments[half:]}}}}, nil)
		}
		in.Send(&schema.Message{Role: msg.Role, ReasoningContent: msg.ReasoningContent, Extra: msg.Extra, ResponseMeta: msg.ResponseMeta}, nil)
	}()
	return out, nil
}

// valid says what a vendor would refuse in a transcript: a call without a result, a result without
// a call, in another order.
func valid(input []*schema.Message) error {
	var open []string
	for i, m := range input {
		switch {
		case m.Role == schema.Tool:
			if len(open) == 0 || open[0] != m.ToolCallID {
				return fmt.Errorf("message %d answers call %q, open are %q", i, m.ToolCallID, open)
			}
			open = open[1:]
		case len(open) > 0:
			return fmt.Errorf("message %d of role %s comes before the results of %q", i, m.Role, open)
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without a result: %q", open)
	}
	return nil
}

// asks is a message that asks for tools, in the way of local models: the first call of every turn is
// call_0. Calls are "name args".
func asks(text string, calls ...string) *schema.Message {
	m := schema.AssistantMessage(text, nil)
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.ToolCalls = append(m.ToolCalls, schema.ToolCall{
			Index: &i, ID: fmt.Sprint("call_", i), Type: "function",
			Function: schema.FunctionCall{Name: name, Arguments: args},
		})
	}
	return m
}

// textTool is a tool that is played by a function.
type textTool struct {
	name string
	run  func(ctx context.Context, args string) (string, error)
}

func (t *textTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: t.name, Desc: t.name, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"q": {Type: schema.String},
	})}, nil
}

func (t *textTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return t.run(ctx, args)
}

// streamTool gives its result by the word.
type streamTool struct{ textTool }

// InvokableRun hides the one of textTool: this tool can stream only.
func (t *streamTool) InvokableRun() {}

func (t *streamTool) StreamableRun(ctx context.Context, args string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	text, err := t.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray(strings.SplitAfter(text, " ")), nil
}

// newAgent makes an agent of a model, handlers and tools.
func newAgent(t testing.TB, name string, m model.BaseModel[*schema.Message], handlers []adk.ChatModelAgentMiddleware, tools ...tool.BaseTool) *adk.ChatModelAgent {
	t.Helper()
	c := &adk.ChatModelAgentConfig{Name: name, Description: name, Instruction: "You are " + name + ".", Model: m, Handlers: handlers}
	c.ToolsConfig.Tools = tools
	a, err := adk.NewChatModelAgent(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// drain reads all events of an agent and returns the text of the last message.
func drain(events *adk.AsyncIterator[*adk.AgentEvent]) (string, error) {
	last, interrupted := "", false
	for {
		e, ok := events.Next()
		if !ok {
			break
		}
		if e.Err != nil {
			return "", e.Err
		}
		if e.Action != nil && e.Action.Interrupted != nil {
			interrupted = true
		}
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		msg, err := e.Output.MessageOutput.GetMessage()
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if msg != nil {
			last = msg.Content
		}
	}
	if interrupted {
		return "", errInterrupted
	}
	return last, nil
}

var errInterrupted = errors.New("the agent was interrupted")

// breaking is a model whose first stream breaks behind its first chunk.
type breaking struct {
	fake
	n atomic.Int64
}

func (b *breaking) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	first := b.n.Add(1) == 1
	out, in := schema.Pipe[*schema.Message](3)
	in.Send(schema.AssistantMessage("one ", nil), nil)
	if first {
		in.Send(nil, errors.New("connection reset"))
	} else {
		in.Send(schema.AssistantMessage("two", nil), nil)
	}
	in.Close()
	return out, nil
}

// lastText is drain for agents with retries: the stream of a try that failed ends in an error.
func lastText(events *adk.AsyncIterator[*adk.AgentEvent]) (string, error) {
	last := ""
	for {
		e, ok := events.Next()
		if !ok {
			return last, nil
		}
		if e.Err != nil {
			return "", e.Err
		}
		if msg, err := e.Output.MessageOutput.GetMessage(); err == nil {
			last = msg.Content
		}
	}
}

// single is a fake whose streams have one chunk, so that eino's own joining of chunks changes nothing.
type single struct{ *fake }

func (s single) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := s.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	c := *msg
	return schema.StreamReaderFromArray([]*schema.Message{&c}), nil
}

// pawlDo runs fn in the run "r".
func pawlDo(t *testing.T, store *pawl.Store, fn func(ctx ctx) error) error {
	t.Helper()
	_, err := pawl.Do(t.Context(), store, "r", func(ctx ctx) (int, error) { return 0, fn(ctx) })
	return err
}
