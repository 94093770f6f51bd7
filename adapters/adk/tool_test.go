package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// TestAtMostOnce: a payment that was under way at a death is not made again, the model is not told
// anything, and nothing is stored.
func TestAtMostOnce(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	paid := 0
	run := func(panics bool) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = errCrash
			}
		}()
		_, err = pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
			pay := newTool(t, "pay", func(agent.Context, none) (map[string]any, error) {
				paid++
				return map[string]any{"ok": true}, nil
			})
			if panics {
				pay = exploding{pay.(anyTool), &paid}
			}
			a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{adk.Tool(pay, pawl.AtMostOnce())}, Model: adk.Model(&scripted{world: w, script: calls("pay")})})
			return drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
		})
		return err
	}
	// A tool that says it does not know leaves the payment in doubt, as a death does.
	if err := run(true); !errors.Is(err, pawl.ErrInDoubt) {
		t.Fatal(err)
	}
	for range 2 {
		if err := run(false); !errors.Is(err, pawl.ErrInDoubt) || paid != 1 || w.models.Load() != 1 {
			t.Fatal(err, paid, w.models.Load())
		}
	}
	resp, err := adk.NewSessionService(store).Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil || resp.Session.Events().Len() != 2 {
		t.Fatal(resp, err)
	}
	steps, err := store.Steps(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	key := ""
	for _, s := range steps {
		if s.AtMostOnce {
			key = s.Key
		}
	}
	if err := store.ResolveDone(t.Context(), "r", key, json.RawMessage(`{"result":{"ok":true}}`), "ann", "it is on the statement"); err != nil {
		t.Fatal(key, err)
	}
	if err := run(false); err != nil || paid != 1 {
		t.Error(err, paid)
	}
}

type anyTool interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	Run(ctx agent.Context, args any) (map[string]any, error)
	ProcessRequest(ctx agent.Context, req *model.LLMRequest) error
}

// exploding is a tool whose connection breaks in the middle.
type exploding struct {
	anyTool
	n *int
}

func (e exploding) Run(agent.Context, any) (map[string]any, error) {
	*e.n++
	return nil, fmt.Errorf("connection lost: %w", pawl.ErrInDoubt)
}

// ProcessRequest announces this one.
func (e exploding) ProcessRequest(ctx agent.Context, req *model.LLMRequest) error {
	err := e.anyTool.ProcessRequest(ctx, req)
	req.Tools[e.Name()] = e
	return err
}

// TestRetriedTool: what is left of an error when the tries are over is what the model sees, on every
// start.
func TestRetriedTool(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	n := 0
	first, second := twice(t, store, func(ctx context.Context, _ int) ([]string, error) {
		flaky := newTool(t, "flaky", func(agent.Context, none) (map[string]any, error) {
			n++
			return nil, fmt.Errorf("try %d", n)
		})
		a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{adk.Tool(flaky, retry.With(retry.Policy{Tries: 3, Base: 1}))}, Model: adk.Model(&scripted{world: w, script: calls("flaky")})})
		return drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
	})
	if n != 3 || !slices.Equal(first, second) || w.models.Load() != 2 {
		t.Error(n, first, second, w.models.Load())
	}
	text := fmt.Sprint((*w.asked.Load())[2].Parts[0].FunctionResponse.Response)
	if text != "map[error:try 3]" {
		t.Error(text)
	}
}

// TestStoppedInTool: a run that is interrupted in a tool stops there: the model is not asked again, and the
// session has no response that is none.
func TestStoppedInTool(t *testing.T) {
	for name, stop := range map[string]func(cancel func()) error{
		"cancelled":  func(cancel func()) error { cancel(); return context.Canceled },
		"waiting":    func(func()) error { return fmt.Errorf("later: %w", pawl.ErrWaiting) },
		"impossible": func(func()) error { return &pawl.RunError{Op: "save", Err: pawl.ErrReplaced} },
	} {
		store := pawltest.NewStore(t)
		sessions := adk.NewSessionService(store)
		w := &world{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		run := func(ctx context.Context, stops bool) error {
			_, err := pawl.Do(ctx, store, "r", func(ctx context.Context) ([]string, error) {
				slow := newTool(t, "slow", func(agent.Context, none) (map[string]any, error) {
					if stops {
						return nil, stop(cancel)
					}
					return map[string]any{}, nil
				})
				a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{slow}, Model: adk.Model(&scripted{world: w, script: calls("slow")})})
				return drive(ctx, a, sessions, hello(), agent.RunConfig{}, adk.Plugin())
			})
			return err
		}
		if err := run(ctx, true); err == nil || w.models.Load() != 1 {
			t.Errorf("%s: %v, %d calls of the model", name, err, w.models.Load())
		}
		resp, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
		if err != nil || resp.Session.Events().Len() != 2 {
			t.Errorf("%s: %v", name, err)
		}
		if err := run(t.Context(), false); err != nil || w.models.Load() != 2 {
			t.Errorf("%s: %v, %d calls of the model", name, err, w.models.Load())
		}
	}
}

// TestActions: what a tool does to its context is done again from the record, and callbacks run
// around it as ever.
func TestActions(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	ran, before, after := 0, 0, 0
	var states [2]any
	first, second := twice(t, store, func(ctx context.Context, start int) ([]string, error) {
		pass := newTool(t, "pass", func(ctx agent.Context, _ none) (map[string]any, error) {
			ran++
			ctx.Actions().TransferToAgent = "b"
			return map[string]any{}, ctx.State().Set("k", "v")
		})
		b := newAgent(t, llmagent.Config{Name: "b", Instruction: "k is {k}.", Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{{{Text: "from b"}}}})})
		a := newAgent(t, llmagent.Config{
			Name: "a", Tools: []tool.Tool{pass}, SubAgents: []agent.Agent{b}, Model: adk.Model(&scripted{world: w, script: calls("pass")}),
			BeforeToolCallbacks: []llmagent.BeforeToolCallback{func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { before++; return nil, nil }},
			AfterToolCallbacks: []llmagent.AfterToolCallback{func(ctx agent.Context, _ tool.Tool, _, _ map[string]any, _ error) (map[string]any, error) {
				after++
				states[start], _ = ctx.State().Get("k")
				return nil, nil
			}},
		})
		return drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
	})
	if ran != 1 || before != 2 || after != 2 || states != [2]any{"v", "v"} || !slices.Equal(first, second) || len(first) == 0 || first[len(first)-1] != "from b" {
		t.Error(ran, before, after, states, first, second)
	}
}

// TestConfirmation: a call that a human confirms is a step of its own.
func TestConfirmation(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	ran := 0
	_, _ = twice(t, store, func(ctx context.Context, _ int) ([]string, error) {
		wipe, err := functiontool.New(functiontool.Config{Name: "wipe", Description: "wipe", RequireConfirmation: true}, func(agent.Context, none) (map[string]any, error) {
			ran++
			return map[string]any{"wiped": true}, nil
		})
		if err != nil {
			return nil, err
		}
		a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{wipe}, Model: adk.Model(&scripted{world: w, script: calls("wipe")})})
		sessions := adk.NewSessionService(store)
		r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{adk.Plugin()}}})
		if err != nil {
			return nil, err
		}
		id := ""
		for ev, err := range r.Run(ctx, "u", "s", hello(), agent.RunConfig{}) {
			if err != nil {
				return nil, err
			}
			for _, p := range contentOf(ev).Parts {
				if p.FunctionCall != nil && p.FunctionCall.Name == "adk_request_confirmation" {
					id = p.FunctionCall.ID
				}
			}
		}
		if id == "" {
			return nil, errors.New("nobody was asked")
		}
		yes := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
			ID: id, Name: "adk_request_confirmation", Response: map[string]any{"confirmed": true},
		}}}}
		said, err := drive(ctx, a, sessions, yes, agent.RunConfig{}, adk.Plugin())
		if err == nil && !slices.Equal(said, []string{"done"}) {
			err = fmt.Errorf("said %q", said)
		}
		return said, err
	})
	if ran != 1 {
		t.Errorf("ran %d times", ran)
	}
}

// TestInsideTool: the calls of an agent inside a tool are steps inside the tool's.
func TestInsideTool(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
		look := newTool(t, "look", func(agent.Context, none) (map[string]any, error) { return map[string]any{}, nil })
		inner := newAgent(t, llmagent.Config{Name: "inner", Tools: []tool.Tool{look}, Model: adk.Model(&scripted{world: w, script: calls("look")})})
		outer := newAgent(t, llmagent.Config{Name: "outer", Tools: []tool.Tool{agenttool.New(inner, nil)}, Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{
			{call("", "inner", map[string]any{"request": "x"})}, {{Text: "done"}},
		}})})
		return drive(ctx, outer, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
	})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := store.Steps(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, s := range steps {
		if _, inside, ok := strings.Cut(s.Key, "/adk/"); ok {
			keys = append(keys, strings.Join(strings.Fields(inside)[:2], " "))
		}
	}
	if strings.Join(keys, ", ") != "model inner, tool inner, model inner" {
		t.Errorf("%q", keys)
	}
}
