package eino_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl/adapters/eino"
	"github.com/pawlgo/pawl/pawltest"
)

// TestTransfer: a transfer is in eino's memory only, and happens again at a later start. The agent that
// takes over is told what parallel tools said in the order in which they ended.
func TestTransfer(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t, pawltest.Strict(t))
		broken := true
		var toolCalls atomic.Int64
		lead := &fake{answer: func(_ ctx, turn int, _ []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `a {"q":"1"}`, `b {"q":"2"}`, `a {"q":"3"}`), nil
			}
			return asks("", adk.TransferToAgentToolName+` {"agent_name":"editor"}`), nil
		}}
		editor := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `a {"q":"4"}`), nil
			}
			if broken {
				return nil, errLater
			}
			return schema.AssistantMessage(fmt.Sprint(len(input), " messages"), nil), nil
		}}
		run := func(_ ctx, args string) (string, error) { toolCalls.Add(1); return args, nil }
		program := func() (string, error) {
			l := newAgent(t, "lead", lead, durable(), &textTool{"a", run}, &textTool{"b", run})
			e := newAgent(t, "editor", editor, durable(), &textTool{"a", run})
			team, err := adk.SetSubAgents(t.Context(), l, []adk.Agent{e})
			if err != nil {
				t.Fatal(err)
			}
			return start(t, store, "r", team, streaming)
		}
		if _, err := program(); !errors.Is(err, errLater) {
			t.Fatal(err)
		}
		// The order is chance, so there are several starts.
		for range 10 {
			if _, err := program(); !errors.Is(err, errLater) {
				t.Fatal(err)
			}
		}
		broken = false
		got, err := program()
		if err != nil || !strings.HasSuffix(got, "messages") || lead.calls.Load() != 2 || editor.calls.Load() != 13 || toolCalls.Load() != 4 {
			t.Errorf("%q %v: lead %d, editor %d, tools %d calls", got, err, lead.calls.Load(), editor.calls.Load(), toolCalls.Load())
		}
	})
}

// TestAgentTool: an agent inside a tool has steps of its own inside the tool's.
func TestAgentTool(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		store := pawltest.NewStore(t, pawltest.Strict(t))
		broken := true
		outer := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `inner {"request":"sum up a"}`, `inner {"request":"sum up b"}`), nil
			}
			return schema.AssistantMessage(input[3].Content+input[4].Content, nil), nil
		}}
		inner := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
			if turn == 0 {
				return asks("", `look {"q":"`+input[1].Content+`"}`), nil
			}
			if broken {
				return nil, errLater
			}
			return schema.AssistantMessage(input[len(input)-1].Content, nil), nil
		}}
		var looks atomic.Int64
		look := &textTool{"look", func(_ ctx, args string) (string, error) { looks.Add(1); return args, nil }}
		program := func() (string, error) {
			// Two at once need an agent each, see TestSameQuestions; here they take turns.
			in := newAgent(t, "inner", inner, durable(), look)
			c := &adk.ChatModelAgentConfig{Name: "outer", Model: outer, Handlers: durable(), Instruction: "x"}
			c.ToolsConfig.Tools = []tool.BaseTool{adk.NewAgentTool(t.Context(), in)}
			c.ToolsConfig.ExecuteSequentially = true
			a, err := adk.NewChatModelAgent(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return start(t, store, "r", a, streaming)
		}
		if _, err := program(); !errors.Is(err, errLater) {
			t.Fatal(err)
		}
		first := inner.calls.Load()
		broken = false
		got, err := program()
		if got != `{"q":"sum up a"}{"q":"sum up b"}` || err != nil || looks.Load() != 2 || outer.calls.Load() != 2 || inner.calls.Load() >= first+4 {
			t.Errorf("%q %v: %d looks, outer %d, inner %d after %d", got, err, looks.Load(), outer.calls.Load(), inner.calls.Load(), first)
		}
		inside := 0
		for _, k := range keysOf(t, store, "r") {
			if strings.Contains(k, "/turn/1/tool/0-inner/inner-") {
				inside++
			}
		}
		if inside != 3 {
			t.Errorf("%d steps inside of the first call of the agent, want 3: %q", inside, keysOf(t, store, "r"))
		}
	})
}

// TestActions: what tools ask of their agent, beside their result, is asked again.
func TestActions(t *testing.T) {
	for name, action := range map[string]*adk.AgentAction{
		"exit":   adk.NewExitAction(),
		"break":  adk.NewBreakLoopAction("worker"),
		"custom": {CustomizedAction: &signature{Seq: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, streaming bool) {
				store := pawltest.NewStore(t)
				n := 0
				m := &fake{answer: func(_ ctx, turn int, _ []*schema.Message) (*schema.Message, error) {
					if turn == 0 {
						return asks("", `act {"q":"1"}`), nil
					}
					return schema.AssistantMessage("done", nil), nil
				}}
				var seen []string
				for range 2 {
					a := newAgent(t, "worker", m, durable(), &textTool{"act", func(ctx ctx, _ string) (string, error) {
						n++
						return "acted", adk.SendToolGenAction(ctx, "act", action)
					}})
					var events strings.Builder
					pawlDo(t, store, func(ctx ctx) error {
						it := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).Query(ctx, "q")
						for e, ok := it.Next(); ok; e, ok = it.Next() {
							if e.Err != nil {
								return e.Err
							}
							if e.Action != nil {
								fmt.Fprintf(&events, "%v %v %v;", e.Action.Exit, e.Action.BreakLoop, e.Action.CustomizedAction)
							}
						}
						return errLater
					})
					seen = append(seen, events.String())
				}
				if n != 1 || seen[0] == "" || strings.Count(seen[0], ";") != 1 {
					t.Errorf("%d calls, %q", n, seen)
				}
				if name == "exit" && seen[0] != seen[1] || strings.Count(seen[1], ";") != 1 {
					t.Errorf("actions %q", seen)
				}
			})
		})
	}
}

// TestAgain: a tool whose effect is in memory runs at each start.
func TestAgain(t *testing.T) {
	store := pawltest.NewStore(t)
	n := 0
	m := &fake{answer: func(ctx ctx, turn int, _ []*schema.Message) (*schema.Message, error) {
		if turn == 0 {
			return asks("", `remember {"q":"1"}`), nil
		}
		if v, _ := adk.GetSessionValue(ctx, "k"); v != "v" {
			return nil, fmt.Errorf("session value %v", v)
		}
		return nil, errLater
	}}
	a := newAgent(t, "x", m, durable(eino.Again("remember")), &textTool{"remember", func(ctx ctx, _ string) (string, error) {
		n++
		adk.AddSessionValue(ctx, "k", "v")
		return "ok", nil
	}})
	for range 2 {
		err := pawlDo(t, store, func(ctx ctx) error {
			c := &adk.RunnerConfig{Agent: a}
			_, err := drain(adk.NewRunner(ctx, *c).Query(ctx, "q", adk.WithSessionValues(map[string]any{"z": 1})))
			return err
		})
		if !errors.Is(err, errLater) {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d calls", n)
	}
}

// TestLoop: a loop that asks the same thing each time gets an answer of its own for each.
func TestLoop(t *testing.T) {
	store := pawltest.NewStore(t)
	n := 0
	m := &fake{answer: func(ctx, int, []*schema.Message) (*schema.Message, error) {
		n++
		return schema.AssistantMessage(fmt.Sprint("answer ", n), nil), nil
	}}
	var seen []string
	for range 2 {
		a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
			Name: "w", Description: "w", Model: m, Handlers: durable(),
			GenModelInput: func(_ context.Context, _ string, _ *adk.AgentInput) ([]adk.Message, error) {
				return []adk.Message{schema.UserMessage("always the same")}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := adk.NewLoopAgent(t.Context(), &adk.LoopAgentConfig{Name: "loop", Description: "loop", SubAgents: []adk.Agent{a}, MaxIterations: 3})
		if err != nil {
			t.Fatal(err)
		}
		pawlDo(t, store, func(ctx ctx) error {
			text, err := drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: loop}).Query(ctx, "q"))
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, text)
			return errLater
		})
	}
	if n != 3 || seen[0] != "answer 3" || seen[1] != "answer 3" {
		t.Errorf("%d calls, %q", n, seen)
	}
}
