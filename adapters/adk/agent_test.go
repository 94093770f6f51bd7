package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/retry"
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

// TestRepeatedIDs: a model that names the first call of each of its turns call_0 sees each response
// at its own call. The framework alone shows it the newest one at all of them.
func TestRepeatedIDs(t *testing.T) {
	seen := func(sessions session.Service, durable bool) string {
		w := &world{}
		count := 0
		next := newTool(t, "next", func(agent.Context, none) (map[string]any, error) { count++; return map[string]any{"n": count}, nil })
		var m model.LLM = &scripted{world: w, script: [][]*genai.Part{
			{call("call_0", "next", map[string]any{})}, {call("call_0", "next", map[string]any{})}, {{Text: "done"}},
		}}
		if durable {
			m = adk.Model(m)
		}
		_, err := pawl.Do(t.Context(), pawltest.NewStore(t), "r", func(ctx context.Context) ([]string, error) {
			a := newAgent(t, llmagent.Config{Name: "a", Tools: []tool.Tool{next}, Model: m})
			return drive(ctx, a, sessions, hello(), agent.RunConfig{})
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range *w.asked.Load() {
			for _, p := range c.Parts {
				if p.FunctionResponse != nil {
					all = append(all, fmt.Sprint(p.FunctionResponse.Response["n"]))
				}
			}
		}
		return strings.Join(all, " ")
	}
	if got := seen(session.InMemoryService(), false); got != "2 2" {
		t.Errorf("the framework alone: %s; it has learnt it, so that renaming IDs is not needed any more", got)
	}
	if got := seen(session.InMemoryService(), true); got != "1 2" {
		t.Error(got)
	}
	if got := seen(adk.NewSessionService(pawltest.NewStore(t)), true); got != "1 2" {
		t.Error(got)
	}
}

// TestOrphan: what an abandoned run left half-way, some calls without a response, does not make the
// session useless. The model is told; what is stored stays as it is.
func TestOrphan(t *testing.T) {
	for name, sessions := range map[string]session.Service{"pawl": adk.NewSessionService(pawltest.NewStore(t)), "in memory": session.InMemoryService()} {
		created, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		left := func(author string, role genai.Role, parts ...*genai.Part) {
			ev := session.NewEvent(t.Context(), "i")
			ev.Author, ev.Content = author, genai.NewContentFromParts(parts, role)
			if err := sessions.AppendEvent(t.Context(), created.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
		left("user", genai.RoleUser, &genai.Part{Text: "go"})
		left("a", genai.RoleModel, call("1", "look", nil), call("2", "look", nil), call("3", "look", nil))
		left("a", genai.RoleUser, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "2", Name: "look", Response: map[string]any{"seen": true}}})

		w := &world{}
		answer := &scripted{world: w, script: [][]*genai.Part{{{Text: "I see."}}}}
		plain := newAgent(t, llmagent.Config{Name: "a", Model: answer})
		if _, err := drive(t.Context(), plain, sessions, hello(), agent.RunConfig{}); err == nil || !strings.Contains(err.Error(), "400") {
			t.Errorf("%s: the framework alone: %v", name, err)
		}
		said, err := drive(t.Context(), newAgent(t, llmagent.Config{Name: "a", Model: adk.Model(answer)}), sessions, hello(), agent.RunConfig{}, adk.Plugin())
		if err != nil || !slices.Equal(said, []string{"I see."}) {
			t.Fatalf("%s: %q %v", name, said, err)
		}
		var told []string
		for _, p := range (*w.asked.Load())[2].Parts {
			r := p.FunctionResponse
			told = append(told, r.ID+":"+map[bool]string{true: "seen", false: "lost"}[r.Response["seen"] == true])
		}
		if strings.Join(told, " ") != "1:lost 2:seen 3:lost" {
			t.Errorf("%s: %q", name, told)
		}
		resp, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
		if err != nil || len(resp.Session.Events().At(2).Content.Parts) != 1 {
			t.Errorf("%s: what is stored changed: %v", name, err)
		}
	}
}

// TestOtherSessions: sessions that outlive the process without knowing of runs show a later start what
// the dead one said. That is another question, and is not paid for.
func TestOtherSessions(t *testing.T) {
	store := pawltest.NewStore(t)
	kept := session.InMemoryService() // as a database would
	w := &world{}
	run := func(opts ...pawl.StepOption) error {
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) ([]string, error) {
			said, err := w.journey(ctx, adk.Model(&scripted{world: w, script: trip()}, opts...), kept, agent.RunConfig{}, adk.Plugin())
			return said, errors.Join(err, errCrash)
		})
		return err
	}
	if err := run(); !errors.Is(err, errCrash) || errors.Is(err, pawl.ErrInputChanged) {
		t.Fatal(err)
	}
	if err := run(); !errors.Is(err, pawl.ErrInputChanged) || w.models.Load() != 4 {
		t.Error(err, w.models.Load())
	}
	if err := run(pawl.IgnoreInput()); errors.Is(err, pawl.ErrInputChanged) || w.models.Load() != 4 || w.tools.Load() != 6 {
		t.Error(err, w.models.Load(), w.tools.Load())
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

// echo is a model that says how much it was asked.
type echo struct{ world *world }

func (*echo) Name() string { return "echo" }

func (m *echo) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.world.models.Add(1)
		yield(&model.LLMResponse{Content: genai.NewContentFromText(fmt.Sprint(len(req.Contents)), genai.RoleModel)}, nil)
	}
}
