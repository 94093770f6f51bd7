package eino_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
	"github.com/pawlgo/pawl/pawltest/witness"
)

func init() {
	for _, streaming := range []bool{false, true} {
		suffix := map[bool]string{true: "-stream"}[streaming]
		children["team"+suffix] = func() error { return (&killed{streaming: streaming}).main((*killed).team) }
		children["approve"+suffix] = func() error { return (&killed{streaming: streaming}).main((*killed).approve) }
	}
	children["team-plain"] = func() error { return (&killed{plain: true}).main((*killed).team) }
}

// killed is the program that the kill tests kill.
type killed struct {
	boundaries
	streaming bool
	plain     bool // without Durable
	store     *pawl.Store
	w         *witness.Log
	mu        sync.Mutex
	acked     map[string]string
	made      map[string]bool // calls of this process
}

func (k *killed) main(program func(k *killed, ctx ctx) (string, error)) (err error) {
	dir := os.Getenv("E_DIR")
	if k.killAt, err = strconv.Atoi(os.Getenv("E_KILL")); err != nil {
		return err
	}
	if k.store, err = pawl.Open(filepath.Join(dir, "store")); err != nil {
		return err
	}
	if k.w, err = witness.Open(filepath.Join(dir, "witness")); err != nil {
		return err
	}
	k.acked, k.made = map[string]string{}, map[string]bool{}
	answer, err := program(k, context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcome{k.n, answer, k.acked})
}

// effect is a call's effect: what it returns is another one each time it is made.
func (k *killed) effect(key string) (string, error) {
	if err := k.w.Effect(key); err != nil {
		return "", err
	}
	k.mu.Lock()
	k.made[key] = true
	k.mu.Unlock()
	k.pass()
	return fmt.Sprintf("%s@%d.%d", strings.ReplaceAll(key, " ", "_"), os.Getpid(), time.Now().UnixNano()), nil
}

// ack is what an agent goes on with.
func (k *killed) ack(key, result string) error {
	if err := k.w.Acked(key, []byte(result)); err != nil {
		return err
	}
	k.mu.Lock()
	k.acked[key] = result
	made := k.made[key]
	k.mu.Unlock()
	if made { // and not answered from the record
		k.pass()
	}
	return nil
}

// observer is a handler around Durable that tells the witness what has been acknowledged.
type observer struct {
	*adk.BaseChatModelAgentMiddleware
	k     *killed
	agent string
}

func modelKey(agent string, input []*schema.Message) string {
	turn := 0
	for _, m := range input {
		if m.Role == schema.Assistant {
			turn++
		}
	}
	return fmt.Sprintf("%s model %d", agent, turn)
}

func (o *observer) WrapModel(_ ctx, inner model.BaseModel[*schema.Message], _ *adk.ModelContext) (model.BaseModel[*schema.Message], error) {
	return &observedModel{inner, o}, nil
}

type observedModel struct {
	inner model.BaseModel[*schema.Message]
	o     *observer
}

func text(m *schema.Message) string {
	c := *m
	if c.ToolCalls != nil && len(c.ToolCalls) == 0 {
		c.ToolCalls = nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (m *observedModel) Generate(ctx ctx, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	msg, err := m.inner.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	return msg, m.o.k.ack(modelKey(m.o.agent, input), text(msg))
}

func (m *observedModel) Stream(ctx ctx, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, err := m.inner.Stream(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	var chunks []*schema.Message
	return schema.StreamReaderWithConvert(r, func(c *schema.Message) (*schema.Message, error) {
		chunks = append(chunks, c)
		return c, nil
	}, schema.WithOnEOF(func() (any, error) {
		msg, err := schema.ConcatMessages(chunks)
		if err == nil {
			err = m.o.k.ack(modelKey(m.o.agent, input), text(msg))
		}
		if err != nil {
			return nil, err
		}
		return nil, io.EOF
	})), nil
}

func (o *observer) toolKey(t *adk.ToolContext, args string) string {
	return o.agent + " tool " + t.Name + " " + args
}

func (o *observer) WrapInvokableToolCall(_ ctx, next adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx ctx, args string, opts ...tool.Option) (string, error) {
		text, err := next(ctx, args, opts...)
		if err != nil || t.Name == adk.TransferToAgentToolName || t.Name == "writer" {
			return text, err // their effects are elsewhere: in eino's memory, and in the agent's calls
		}
		return text, o.k.ack(o.toolKey(t, args), text)
	}, nil
}

func (o *observer) WrapStreamableToolCall(_ ctx, next adk.StreamableToolCallEndpoint, t *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx ctx, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		r, err := next(ctx, args, opts...)
		if err != nil {
			return nil, err
		}
		all := ""
		return schema.StreamReaderWithConvert(r, func(c string) (string, error) {
			all += c
			return c, nil
		}, schema.WithOnEOF(func() (any, error) {
			if err := o.k.ack(o.toolKey(t, args), all); err != nil {
				return nil, err
			}
			return nil, io.EOF
		})), nil
	}, nil
}

// agent makes an agent whose model says what say tells it to, with parts that only vendors understand.
func (k *killed) agent(name string, say func(turn int, input []*schema.Message) *schema.Message, tools ...tool.BaseTool) (adk.Agent, error) {
	m := &fake{answer: func(_ ctx, _ int, input []*schema.Message) (*schema.Message, error) {
		key := modelKey(name, input)
		nonce, err := k.effect(key)
		if err != nil {
			return nil, err
		}
		turn, err := strconv.Atoi(key[strings.LastIndex(key, " ")+1:])
		if err != nil {
			return nil, err
		}
		msg := say(turn, input)
		msg.Content += " " + nonce
		msg.ReasoningContent = "because " + nonce
		msg.Extra = map[string]any{"signature": &signature{Bytes: []byte(nonce), Seq: 1<<53 + 1}, "n": 7}
		return msg, nil
	}}
	c := &adk.ChatModelAgentConfig{
		Name: name, Description: name, Model: m, Instruction: "You are " + name + ".",
		Handlers: []adk.ChatModelAgentMiddleware{&observer{&adk.BaseChatModelAgentMiddleware{}, k, name}},
	}
	if !k.plain {
		c.Handlers = append(c.Handlers, eino.Durable())
	}
	c.ToolsConfig.Tools = tools
	return adk.NewChatModelAgent(context.Background(), c)
}

func (k *killed) tool(agent, name string) *textTool {
	return &textTool{name, func(_ ctx, args string) (string, error) {
		return k.effect(agent + " tool " + name + " " + args)
	}}
}

// team is a lead that searches and reads in parallel, has an error, lets a writer write (an agent as a
// tool), and hands over to an editor.
func (k *killed) team(ctx ctx) (string, error) {
	writer, err := k.agent("writer", func(turn int, _ []*schema.Message) *schema.Message {
		if turn == 0 {
			return asks("drafting", `draft {"q":"intro"}`)
		}
		return schema.AssistantMessage("written", nil)
	}, k.tool("writer", "draft"))
	if err != nil {
		return "", err
	}
	lead, err := k.agent("lead", func(turn int, _ []*schema.Message) *schema.Message {
		return []*schema.Message{
			asks("looking", `search {"q":"a"}`, `read {"q":"b"}`, `search {"q":"c"}`),
			asks("again", `search {"q":"d"}`),
			asks("writing", `writer {"request":"write it"}`),
			asks("over to you", adk.TransferToAgentToolName+` {"agent_name":"editor"}`),
		}[turn]
	}, k.tool("lead", "search"), &streamTool{*k.tool("lead", "read")}, adk.NewAgentTool(ctx, writer))
	if err != nil {
		return "", err
	}
	editor, err := k.agent("editor", func(turn int, _ []*schema.Message) *schema.Message {
		if turn == 0 {
			return asks("checking", `search {"q":"e"}`)
		}
		return schema.AssistantMessage("edited", nil)
	}, k.tool("editor", "search"))
	if err != nil {
		return "", err
	}
	team, err := adk.SetSubAgents(ctx, lead, []adk.Agent{editor})
	if err != nil {
		return "", err
	}
	var answer string
	_, err = pawl.Do(ctx, k.store, "run", func(ctx context.Context) (string, error) {
		answer, err = drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: team, EnableStreaming: k.streaming}).Query(ctx, "write a report"))
		if err == nil {
			err = errDone // so that the last start, too, goes through everything
		}
		return answer, err
	})
	if errors.Is(err, errDone) {
		err = nil
	}
	return answer, err
}

var errDone = errors.New("done")

// approve is an agent that asks a human before it pays. The human says yes at once.
func (k *killed) approve(ctx ctx) (string, error) {
	pay := &textTool{"pay", func(ctx context.Context, args string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "pay?")
		}
		return k.effect("shop tool pay " + args)
	}}
	a, err := k.agent("shop", func(turn int, _ []*schema.Message) *schema.Message {
		if turn == 0 {
			return asks("buying", `search {"q":"a"}`, `pay {"q":"b"}`)
		}
		return schema.AssistantMessage("bought", nil)
	}, k.tool("shop", "search"), pay)
	if err != nil {
		return "", err
	}
	var answer string
	_, err = pawl.Do(ctx, k.store, "run", func(ctx context.Context) (string, error) {
		points := &watched{eino.NewCheckPoints(k.store), k}
		runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: k.streaming, CheckPointStore: points})
		saved, err := points.Saved(ctx, "id")
		if err != nil {
			return "", err
		}
		if !saved {
			answer, err = drain(runner.Query(ctx, "buy", adk.WithCheckPointID("id")))
			if !errors.Is(err, errInterrupted) {
				return "", fmt.Errorf("no interrupt: %q %w", answer, err)
			}
		}
		events, err := runner.Resume(ctx, "id")
		if err != nil {
			return "", err
		}
		if answer, err = drain(events); err == nil {
			err = errDone
		}
		return answer, err
	})
	if errors.Is(err, errDone) {
		err = nil
	}
	return answer, err
}

// watched has a boundary at both sides of a save.
type watched struct {
	*eino.CheckPoints
	k *killed
}

func (w *watched) Set(ctx context.Context, id string, data []byte) error {
	w.k.pass()
	defer w.k.pass()
	return w.CheckPoints.Set(ctx, id, data)
}
