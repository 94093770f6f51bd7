package adk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

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
