package eino_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
	"github.com/pawlgo/pawl/meter"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
)

// forgiving is a handler, as many agents have one, that shows the model every error of a tool as its
// result.
type forgiving struct {
	*adk.BaseChatModelAgentMiddleware
}

func (forgiving) WrapInvokableToolCall(_ ctx, next adk.InvokableToolCallEndpoint, _ *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx ctx, args string, opts ...tool.Option) (string, error) {
		text, err := next(ctx, args, opts...)
		if err != nil {
			return "error: " + err.Error(), nil
		}
		return text, nil
	}, nil
}

func (forgiving) WrapStreamableToolCall(_ ctx, next adk.StreamableToolCallEndpoint, _ *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx ctx, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		r, err := next(ctx, args, opts...)
		if err != nil {
			return schema.StreamReaderFromArray([]string{"error: " + err.Error()}), nil
		}
		return r, nil
	}, nil
}

func forgivingDurable(opts ...eino.Option) []adk.ChatModelAgentMiddleware {
	return []adk.ChatModelAgentMiddleware{forgiving{&adk.BaseChatModelAgentMiddleware{}}, eino.Durable(opts...)}
}

// TestErrorTheModelSaw: an error that was a result at the first start is the same result at the
// second, and the tool does not run again.
func TestErrorTheModelSaw(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t, pawltest.Strict(t))
		broken := true
		m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `fetch {"q":"a"}`, `stat {"q":"b"}`), nil
			}
			if broken {
				return nil, errLater
			}
			return schema.AssistantMessage(input[3].Content+"; "+input[4].Content, nil), nil
		}}
		var n atomic.Int64
		failing := func(ctx, string) (string, error) { return "", fmt.Errorf("no route (%d)", n.Add(1)) }
		a := newAgent(t, "x", m, forgivingDurable(), &textTool{"fetch", failing}, &streamTool{textTool{"stat", func(ctx, string) (string, error) { return "", errors.New("not there") }}})
		if _, err := start(t, store, "r", a, streaming); !errors.Is(err, errLater) {
			t.Fatal(err)
		}
		broken = false
		got, err := start(t, store, "r", a, streaming)
		if got != "error: no route (1); error: not there" || err != nil || n.Load() != 1 {
			t.Error(got, err, n.Load())
		}
	})
}

// TestErrorThatEnds: an error that ended the agent is no result; the tool runs again.
func TestErrorThatEnds(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t, pawltest.Strict(t))
		m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `fetch {"q":"a"}`), nil
			}
			return schema.AssistantMessage(input[3].Content, nil), nil
		}}
		errNet := errors.New("no route")
		n := 0
		a := newAgent(t, "x", m, durable(), &textTool{"fetch", func(ctx, string) (string, error) {
			if n++; n == 1 {
				return "", errNet
			}
			return "there", nil
		}})
		if _, err := start(t, store, "r", a, streaming); !errors.Is(err, errNet) {
			t.Fatal(err)
		}
		if got, err := start(t, store, "r", a, streaming); got != "there" || err != nil || m.calls.Load() != 2 {
			t.Error(got, err)
		}
	})
}

// TestRefusalsAreNoResults: what pawl refuses ends the agent, though a handler forgives everything.
func TestRefusalsAreNoResults(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		for name, tt := range map[string]struct {
			run  func(ctx ctx, args string) (string, error)
			opts []eino.Option
			want error
		}{
			"waits":  {run: func(ctx, string) (string, error) { return "", fmt.Errorf("for a human: %w", pawl.ErrWaiting) }, want: pawl.ErrWaiting},
			"budget": {run: func(ctx ctx, _ string) (string, error) { return "", meter.Add(ctx, "usd", 1) }, want: pawl.ErrBudget},
			"doubt": {
				run:  func(ctx, string) (string, error) { return "", fmt.Errorf("maybe: %w", pawl.ErrInDoubt) },
				opts: []eino.Option{eino.ToolSteps("fetch", pawl.AtMostOnce())}, want: pawl.ErrInDoubt,
			},
		} {
			t.Run(name, func(t *testing.T) {
				store := pawltest.NewStore(t)
				turns := 0
				m := &fake{answer: func(_ ctx, turn int, _ []*schema.Message) (*schema.Message, error) {
					turns = max(turns, turn)
					return asks("", fmt.Sprintf(`fetch {"q":"%d"}`, turn)), nil
				}}
				a := newAgent(t, "x", m, forgivingDurable(tt.opts...), &textTool{"fetch", tt.run})
				var err error
				for range 2 {
					_, err = pawl.Do(t.Context(), store, "r", func(ctx ctx) (string, error) {
						return drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).Query(ctx, "q"))
					}, meter.Budget("usd", 1))
				}
				info, infoErr := store.Inspect(t.Context(), "r")
				if !errors.Is(err, tt.want) || turns > 1 || infoErr != nil || (info.Status == "waiting") != (name == "waits") {
					t.Errorf("%v, %d turns, %s %v", err, turns, info.Status, infoErr)
				}
			})
		}
	})
}

// TestRetries: policies of pawl and of eino, with a model and a tool that fail at first.
func TestRetries(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t)
		policy := retry.With(retry.Policy{Tries: 3, Base: time.Microsecond})
		flaky, tools := 0, 0
		m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if flaky++; flaky%2 == 1 {
				return nil, errors.New("overloaded")
			}
			if turn == 0 {
				return asks("", `fetch {"q":"a"}`), nil
			}
			return schema.AssistantMessage(input[len(input)-1].Content, nil), nil
		}}
		fetch := &textTool{"fetch", func(ctx ctx, _ string) (string, error) {
			if tools++; tools < 3 {
				return "", errors.New("no route")
			}
			return fmt.Sprint("try ", pawl.Try(ctx)), nil
		}}
		a := newAgent(t, "x", m, durable(eino.ModelSteps(policy), eino.ToolSteps("", policy)), fetch)
		if got, err := start(t, store, "pawl", a, streaming); got != "try 3" || err != nil {
			t.Error(got, err)
		}
		tools = 3
		c := &adk.ChatModelAgentConfig{Name: "x", Model: m, Handlers: durable(), ModelRetryConfig: &adk.ModelRetryConfig{
			MaxRetries: 2, BackoffFunc: func(context.Context, int) time.Duration { return 0 },
		}}
		c.ToolsConfig.Tools = []tool.BaseTool{fetch}
		b, err := adk.NewChatModelAgent(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := start(t, store, "eino", b, streaming); got != "try 1" || err != nil {
			t.Error(got, err)
		}
	})
}

// TestBrokenStream: a stream that breaks in the middle fails, is asked again by eino, and only the
// whole one is recorded.
func TestBrokenStream(t *testing.T) {
	store := pawltest.NewStore(t)
	m := &breaking{}
	c := &adk.ChatModelAgentConfig{Name: "x", Model: m, Handlers: durable(eino.ModelSteps(retry.Tries(5))), ModelRetryConfig: &adk.ModelRetryConfig{
		MaxRetries: 2, BackoffFunc: func(context.Context, int) time.Duration { return 0 },
	}}
	a, err := adk.NewChatModelAgent(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := pawl.Do(t.Context(), store, "r", func(ctx ctx) (string, error) {
			return lastText(adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: true}).Query(ctx, "q"))
		})
		if got != "one two" || err != nil || m.n.Load() != 2 {
			t.Error(got, err, m.n.Load())
		}
	}
}

// TestPanics: a model or a tool that panics ends the agent with an error, and the next start asks it
// again.
func TestPanics(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t)
		n := 0
		m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if n++; n == 1 {
				panic("model")
			}
			if turn == 0 {
				return asks("", `a {"q":"1"}`, `b {"q":"2"}`), nil
			}
			return schema.AssistantMessage(input[3].Content+input[4].Content, nil), nil
		}}
		tools := 0
		run := func(_ ctx, args string) (string, error) {
			if tools++; tools == 1 {
				panic("tool")
			}
			return args, nil
		}
		ok := &textTool{"a", func(_ ctx, args string) (string, error) { return args, nil }}
		a := newAgent(t, "x", m, durable(), ok, &streamTool{textTool{"b", run}})
		for _, want := range []string{"model", "tool", ""} {
			got, err := start(t, store, "r", a, streaming)
			if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && (err != nil || got != `{"q":"1"}{"q":"2"}`) {
				t.Errorf("%q %v, want a panic of the %s", got, err, want)
			}
		}
	})
}
