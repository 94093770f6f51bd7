package adk_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// drive runs an agent over one message and returns the texts of its whole events.
func drive(ctx context.Context, a agent.Agent, sessions session.Service, msg *genai.Content, cfg agent.RunConfig, plugins ...*plugin.Plugin) (said []string, err error) {
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins}})
	if err != nil {
		return nil, err
	}
	for ev, err := range r.Run(ctx, "u", "s", msg, cfg) {
		if err != nil {
			return said, err
		}
		for _, p := range contentOf(ev).Parts {
			if p.Text != "" && !ev.Partial {
				said = append(said, p.Text)
			}
		}
	}
	return said, nil
}

func hello() *genai.Content { return genai.NewContentFromText("hello", genai.RoleUser) }

func newTool[A, R any](t *testing.T, name string, fn func(agent.Context, A) (R, error)) tool.Tool {
	t.Helper()
	x, err := functiontool.New(functiontool.Config{Name: name, Description: name}, fn)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newAgent(t *testing.T, cfg llmagent.Config) agent.Agent {
	t.Helper()
	a, err := llmagent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type none struct{}

// calls is a script of one tool's call and an answer.
func calls(name string) [][]*genai.Part {
	return [][]*genai.Part{{call("", name, map[string]any{})}, {{Text: "done"}}}
}

var errCrash = errors.New("crash")

// twice runs a journey in two starts: the first ends with an error behind the whole of it, the
// second answers from the record.
func twice(t *testing.T, store *pawl.Store, fn func(ctx context.Context, start int) ([]string, error)) (first, second []string) {
	t.Helper()
	for start, said := range []*[]string{&first, &second} {
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int, error) {
			var err error
			if *said, err = fn(ctx, start); err == nil && start == 0 {
				err = errCrash
			}
			return 0, err
		})
		if start == 0 && !errors.Is(err, errCrash) || start == 1 && err != nil {
			t.Fatalf("start %d: %v", start, err)
		}
	}
	return first, second
}

// TestInMemorySessions: the framework's own sessions are forgotten with the process, and the journey is
// the same all the same.
func TestInMemorySessions(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	first, second := twice(t, store, func(ctx context.Context, _ int) ([]string, error) {
		return w.journey(ctx, adk.Model(&scripted{world: w, script: trip()}), session.InMemoryService(), agent.RunConfig{}, adk.Plugin())
	})
	if !slices.Equal(first, wholeTrip) || !slices.Equal(second, first) || w.models.Load() != 4 || w.tools.Load() != 6 {
		t.Errorf("%q, then %q; %d calls of the model, %d of tools", first, second, w.models.Load(), w.tools.Load())
	}
	info, err := store.Inspect(t.Context(), "r")
	if err != nil || info.Kept["tokens"] != 400 {
		t.Errorf("%v %v", info.Kept, err)
	}
}

// TestWithoutRun: outside of runs nothing changes: every start asks.
func TestWithoutRun(t *testing.T) {
	w := &world{}
	for range 2 {
		a := newAgent(t, llmagent.Config{Name: "a", Tools: w.toolset(t), Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{
			{call("call_0", "roll", map[string]any{})}, {{Text: "done"}},
		}})})
		said, err := drive(t.Context(), a, session.InMemoryService(), hello(), agent.RunConfig{}, adk.Plugin())
		if err != nil || !slices.Equal(said, []string{"done"}) {
			t.Error(said, err)
		}
	}
	if w.models.Load() != 4 || w.tools.Load() != 2 {
		t.Error(w.models.Load(), w.tools.Load())
	}
}

// TestStreaming: parts arrive while they are made; from the record there is only the whole.
func TestStreaming(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	var partials [2]int
	first, second := twice(t, store, func(ctx context.Context, start int) ([]string, error) {
		a := newAgent(t, llmagent.Config{Name: "a", Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{{{Text: "abc"}}}, chunks: true})})
		r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: adk.NewSessionService(store), AutoCreateSession: true})
		if err != nil {
			return nil, err
		}
		var said []string
		for ev, err := range r.Run(ctx, "u", "s", hello(), agent.RunConfig{StreamingMode: agent.StreamingModeSSE}) {
			if err != nil {
				return nil, err
			}
			if ev.Partial {
				partials[start]++
			} else {
				said = append(said, ev.Content.Parts[0].Text)
			}
		}
		return said, nil
	})
	if !slices.Equal(first, []string{"abc"}) || !slices.Equal(second, first) || partials != [2]int{3, 0} || w.models.Load() != 1 {
		t.Error(first, second, partials, w.models.Load())
	}
	// Who leaves in the middle leaves a try that was cut short.
	_, err := pawl.Do(t.Context(), store, "left", func(ctx context.Context) (int, error) {
		m := adk.Model(&scripted{world: w, script: [][]*genai.Part{{{Text: "abc"}}}, chunks: true})
		req := func() *model.LLMRequest { return &model.LLMRequest{Contents: []*genai.Content{hello()}} }
		for range m.GenerateContent(ctx, req(), true) {
			break
		}
		n := 0
		for resp, err := range m.GenerateContent(ctx, req(), true) {
			if err != nil {
				return 0, err
			}
			if !resp.Partial {
				n++
			}
		}
		return n, nil
	})
	steps, err2 := store.Steps(t.Context(), "left")
	if err != nil || err2 != nil || len(steps) != 1 || steps[0].Tries != 2 || steps[0].Error != "" {
		t.Errorf("%v %v %+v", err, err2, steps)
	}
}

// TestInputChanged: another question does not get the recorded answer, and is not asked.
func TestInputChanged(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	run := func(instruction string, opts ...pawl.StepOption) error {
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (int, error) {
			a := newAgent(t, llmagent.Config{Name: "a", Instruction: instruction, Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{{{Text: "x"}}}}, opts...)})
			if _, err := drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin()); err != nil {
				return 0, err
			}
			return 0, errCrash
		})
		return err
	}
	if err := run("one"); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if err := run("two"); !errors.Is(err, pawl.ErrInputChanged) || w.models.Load() != 1 {
		t.Error(err, w.models.Load())
	}
	if err := run("two", pawl.IgnoreInput()); !errors.Is(err, errCrash) || w.models.Load() != 1 {
		t.Error(err, w.models.Load())
	}
	if err := run("two", pawl.RerunOnChange()); !errors.Is(err, errCrash) || w.models.Load() != 2 {
		t.Error(err, w.models.Load())
	}
}

// TestModelError: the model's own error comes out, and the next start asks again.
func TestModelError(t *testing.T) {
	store := pawltest.NewStore(t)
	w := &world{}
	_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
		a := newAgent(t, llmagent.Config{Name: "a", Model: adk.Model(&scripted{world: w})})
		return drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
	})
	if err == nil || err.Error() != "no turn 0" {
		t.Error(err)
	}
	said, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
		a := newAgent(t, llmagent.Config{Name: "a", Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{{{Text: "x"}}}})})
		return drive(ctx, a, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
	})
	if err != nil || !slices.Equal(said, []string{"x"}) || w.models.Load() != 2 {
		t.Error(said, err)
	}
}

// TestAgents: agents side by side, one after the other and inside a tool die at every change.
func TestAgents(t *testing.T) {
	var models, tools atomic.Int64
	pawltest.CrashEverywhere(t, func(ctx context.Context, store *pawl.Store) ([]string, error) {
		w := &world{}
		defer func() { models.Add(w.models.Load()) }()
		look := newTool(t, "look", func(agent.Context, none) (map[string]any, error) { tools.Add(1); return map[string]any{}, nil })
		inner := newAgent(t, llmagent.Config{Name: "inner", Tools: []tool.Tool{look}, Model: adk.Model(&scripted{world: w, script: calls("look")})})
		one := newAgent(t, llmagent.Config{Name: "one", Tools: []tool.Tool{look}, Model: adk.Model(&scripted{world: w, script: calls("look")})})
		two := newAgent(t, llmagent.Config{Name: "two", Tools: []tool.Tool{agenttool.New(inner, nil)}, Model: adk.Model(&scripted{world: w, script: [][]*genai.Part{
			{call("call_0", "inner", map[string]any{"request": "x"})}, {{Text: "two is done"}},
		}})})
		three := newAgent(t, llmagent.Config{Name: "three", Model: adk.Model(&echo{w})})
		both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{one, two}}})
		if err != nil {
			return nil, err
		}
		all, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: []agent.Agent{both, three}}})
		if err != nil {
			return nil, err
		}
		return pawl.Do(ctx, store, "r", func(ctx context.Context) ([]string, error) {
			said, err := drive(ctx, all, adk.NewSessionService(store), hello(), agent.RunConfig{}, adk.Plugin())
			slices.Sort(said) // two agents at once
			return said, err
		})
	})
	t.Logf("%d calls of models, %d of tools", models.Load(), tools.Load())
}

// echo is a model that says how much it was asked.
type echo struct{ world *world }

func (*echo) Name() string { return "echo" }

func (m *echo) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.world.models.Add(1)
		yield(&model.LLMResponse{Content: genai.NewContentFromText(fmt.Sprint(len(req.Contents)), genai.RoleModel)}, nil)
	}
}
