package eino_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
	"github.com/pawlgo/pawl/pawltest"
)

var errLater = errors.New("the process ends here")

// durable is the handlers of most tests.
func durable(opts ...eino.Option) []adk.ChatModelAgentMiddleware {
	return []adk.ChatModelAgentMiddleware{eino.Durable(opts...)}
}

// start runs an agent in a run, in both modes.
func start(t *testing.T, store *pawl.Store, id string, a adk.Agent, streaming bool) (string, error) {
	t.Helper()
	return pawl.Do(t.Context(), store, id, func(ctx ctx) (string, error) {
		return drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).Query(ctx, "the question"))
	})
}

func bothModes(t *testing.T, fn func(t *testing.T, streaming bool)) {
	t.Run("invoke", func(t *testing.T) { fn(t, false) })
	t.Run("stream", func(t *testing.T) { fn(t, true) })
}

// TestGoesOn: the second start asks neither model nor tools for what they have said.
func TestGoesOn(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t, pawltest.Strict(t))
		broken := true
		m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			switch {
			case turn == 0:
				return asks("let me see", `search {"q":"a"}`, `read {"q":"b"}`), nil
			case turn == 1 && broken:
				return nil, errLater
			case turn == 1:
				return asks("again", `search {"q":"a"}`), nil // equal to the first but for the turn
			}
			var seen []string
			for _, msg := range input {
				if msg.Role == schema.Tool {
					seen = append(seen, msg.Content)
				}
			}
			return schema.AssistantMessage(strings.Join(seen, ", "), nil), nil
		}}
		var calls atomic.Int64
		run := func(_ ctx, args string) (string, error) {
			return fmt.Sprint("result ", calls.Add(1), " of ", args), nil
		}
		a := newAgent(t, "helper", m, durable(), &textTool{"search", run}, &streamTool{textTool{"read", run}})
		if _, err := start(t, store, "r", a, streaming); !errors.Is(err, errLater) {
			t.Fatal(err)
		}
		broken = false
		got, err := start(t, store, "r", a, streaming)
		if err != nil {
			t.Fatal(err)
		}
		first, last, _ := strings.Cut(got, ", ")
		if !strings.Contains(first, `of {"q":"a"}`) || !strings.HasSuffix(last, `result 3 of {"q":"a"}`) {
			t.Error(got)
		}
		if m.calls.Load() != 4 || calls.Load() != 3 { // one of the four failed
			t.Errorf("%d model calls, %d tool calls", m.calls.Load(), calls.Load())
		}
		if again, err := start(t, store, "r", a, streaming); err != nil || again != got || m.calls.Load() != 4 {
			t.Error(again, err)
		}
		keys := keysOf(t, store, "r")
		if len(keys) != 6 || !strings.HasPrefix(keys[0], "helper-") || !strings.HasSuffix(keys[0], "/turn/1/model") || !strings.HasSuffix(keys[1], "/turn/1/tool/0-search") {
			t.Errorf("%q", keys)
		}
	})
}

func keysOf(t *testing.T, store *pawl.Store, id string) (keys []string) {
	t.Helper()
	steps, err := store.Steps(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		keys = append(keys, s.Key)
	}
	slices.Sort(keys)
	return keys
}

// TestSameQuestions: equal work in one run is work of its own, one after the other and at once.
func TestSameQuestions(t *testing.T) {
	store := pawltest.NewStore(t, pawltest.Strict(t))
	m := &fake{}
	m.answer = func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
		if turn == 0 {
			return asks("", `dice {"q":"x"}`, `dice {"q":"x"}`), nil
		}
		return schema.AssistantMessage(input[3].Content+input[4].Content, nil), nil
	}
	var n atomic.Int64
	handlers := durable()
	dice := &textTool{"dice", func(ctx, string) (string, error) { return fmt.Sprintf("%03d", n.Add(1)), nil }}
	program := func(ctx ctx, broken bool) (all []string, err error) {
		ask := func(out chan<- string) {
			// An agent each: that of eino v0.9.13 writes to itself when it runs.
			a := newAgent(t, "gambler", m, handlers, dice)
			text, err := drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Query(ctx, "the question"))
			out <- fmt.Sprint(text, err)
		}
		answers := make(chan string, 5)
		ask(answers)
		ask(answers)
		for range 3 {
			go ask(answers)
		}
		for range cap(answers) {
			all = append(all, <-answers)
		}
		slices.Sort(all)
		if broken {
			return all, errLater
		}
		return all, nil
	}
	var first []string
	_, err := pawl.Do(t.Context(), store, "r", func(ctx ctx) ([]string, error) {
		var err error
		first, err = program(ctx, true)
		return first, err
	})
	if !errors.Is(err, errLater) || n.Load() != 10 || m.calls.Load() != 10 {
		t.Fatal(err, n.Load(), m.calls.Load())
	}
	second, err := pawl.Do(t.Context(), store, "r", func(ctx ctx) ([]string, error) { return program(ctx, false) })
	if err != nil || n.Load() != 10 || m.calls.Load() != 10 || !slices.Equal(first, second) {
		t.Errorf("%v: %q and %q, %d tool calls, %d model calls", err, first, second, n.Load(), m.calls.Load())
	}
}

// TestEqualIDs: calls of one message that cannot be told apart by ID are told apart by what is asked.
func TestEqualIDs(t *testing.T) {
	store := pawltest.NewStore(t, pawltest.Strict(t))
	broken := true
	m := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
		if turn == 0 {
			msg := asks("", `echo {"q":"a"}`, `echo {"q":"b"}`, `echo {"q":"a"}`)
			for i := range msg.ToolCalls {
				msg.ToolCalls[i].ID = ""
			}
			return msg, nil
		}
		if broken {
			return nil, errLater
		}
		return schema.AssistantMessage(input[3].Content+input[4].Content+input[5].Content, nil), nil
	}}
	var n atomic.Int64
	a := newAgent(t, "x", m, durable(), &textTool{"echo", func(_ ctx, args string) (string, error) { n.Add(1); return args, nil }})
	if _, err := start(t, store, "r", a, false); !errors.Is(err, errLater) {
		t.Fatal(err)
	}
	broken = false
	got, err := start(t, store, "r", a, false)
	if got != `{"q":"a"}{"q":"b"}{"q":"a"}` || err != nil || n.Load() != 3 {
		t.Error(got, err, n.Load())
	}
}

// TestInputChanged: another instruction is noticed, and another question is other work.
func TestInputChanged(t *testing.T) {
	store := pawltest.NewStore(t)
	m := &fake{answer: func(_ ctx, turn int, _ []*schema.Message) (*schema.Message, error) {
		if turn == 1 {
			return nil, errLater
		}
		return asks("", `echo {"q":"a"}`), nil
	}}
	echo := &textTool{"echo", func(_ ctx, args string) (string, error) { return args, nil }}
	agent := func(instruction string, opts ...eino.Option) adk.Agent {
		c := &adk.ChatModelAgentConfig{Name: "x", Description: "x", Instruction: instruction, Model: m, Handlers: durable(opts...)}
		c.ToolsConfig.Tools = []tool.BaseTool{echo}
		a, err := adk.NewChatModelAgent(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, err := start(t, store, "r", agent("old"), false); !errors.Is(err, errLater) {
		t.Fatal(err)
	}
	_, err := start(t, store, "r", agent("new"), false)
	changed, ok := errors.AsType[*pawl.InputChangedError](err)
	if !ok || !strings.Contains(err.Error(), "$.messages[0]") {
		t.Errorf("%v %v", changed, err)
	}
	calls := m.calls.Load()
	if _, err = start(t, store, "r", agent("new", eino.ModelSteps(pawl.IgnoreInput())), false); !errors.Is(err, errLater) || m.calls.Load() != calls+1 {
		t.Error(err)
	}
	if _, err = start(t, store, "r", agent("new", eino.ModelSteps(pawl.RerunOnChange())), false); !errors.Is(err, errLater) || m.calls.Load() != calls+3 {
		t.Error(err, m.calls.Load()-calls)
	}
}

// TestNoRun: an agent that is not in a run says so.
func TestNoRun(t *testing.T) {
	m := &fake{answer: func(ctx, int, []*schema.Message) (*schema.Message, error) {
		return schema.AssistantMessage("x", nil), nil
	}}
	bothModes(t, func(t *testing.T, streaming bool) {
		a := newAgent(t, "x", m, durable())
		_, err := drain(adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).Query(t.Context(), "q"))
		if !errors.Is(err, pawl.ErrNoRun) || m.calls.Load() != 0 {
			t.Error(err)
		}
	})
}

// TestMeter: the tokens of a message are the run's, once.
func TestMeter(t *testing.T) {
	store := pawltest.NewStore(t)
	m := &fake{answer: func(ctx, int, []*schema.Message) (*schema.Message, error) {
		msg := schema.AssistantMessage("x", nil)
		msg.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: 100, CompletionTokens: 7, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 60}}}
		return msg, nil
	}}
	bothModes(t, func(t *testing.T, streaming bool) {
		id := fmt.Sprint("r", streaming)
		for range 2 {
			if _, err := start(t, store, id, newAgent(t, "x", m, durable()), streaming); err != nil {
				t.Fatal(err)
			}
		}
		info, err := store.Inspect(t.Context(), id)
		if err != nil || fmt.Sprint(info.Spent) != "map[cached_input_tokens:60 input_tokens:40 output_tokens:7]" {
			t.Errorf("%v %v", info.Spent, err)
		}
	})
}
