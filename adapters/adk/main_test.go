package adk_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest/witness"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// TestMain runs a child if it is asked to: only a real process can really die.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv("ADK_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "journey":
		err = child()
	case "appends":
		err = appends()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// world is what the agent under test has effects on, and where it can die.
type world struct {
	w      *witness.Log // nil if nobody watches
	dieAt  int64        // place at which the process dies, 0 for nowhere
	fixed  bool         // roll always returns the same
	places atomic.Int64
	models atomic.Int64 // calls
	tools  atomic.Int64
	asked  atomic.Pointer[[]*genai.Content] // the transcript that the model saw last
}

// place is where the process may die.
func (w *world) place(string) {
	if w.places.Add(1) == w.dieAt {
		if me, err := os.FindProcess(os.Getpid()); err == nil {
			me.Kill() //nolint:errcheck // nobody is there to hear of it
		}
		select {}
	}
}

func (w *world) effect(key string) error {
	w.place("before " + key)
	if w.w != nil {
		if err := w.w.Effect(key); err != nil {
			return err
		}
	}
	w.place("behind " + key)
	return nil
}

func (w *world) acked(key string) error {
	if w.w == nil {
		return nil
	}
	return w.w.Acked(key, nil)
}

// scripted is a model that says what script has for the number of responses that the transcript
// holds, and that refuses a transcript as providers do.
type scripted struct {
	world  *world
	script [][]*genai.Part
	chunks bool // text comes in pieces when it is streamed
}

func (m *scripted) Name() string { return "scripted" }

func (m *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.world.models.Add(1)
		m.world.asked.Store(&req.Contents)
		turn, err := provider(req.Contents)
		if err != nil {
			yield(nil, err)
			return
		}
		if err := m.world.effect(fmt.Sprint("model ", turn)); err != nil {
			yield(nil, err)
			return
		}
		if turn >= len(m.script) {
			yield(nil, fmt.Errorf("no turn %d", turn))
			return
		}
		parts := make([]*genai.Part, len(m.script[turn]))
		for i, p := range m.script[turn] {
			c := *p
			if p.FunctionCall != nil {
				call := *p.FunctionCall
				c.FunctionCall = &call
			}
			parts[i] = &c
		}
		if stream && m.chunks {
			for _, p := range parts {
				for _, r := range p.Text {
					if !yield(&model.LLMResponse{Content: genai.NewContentFromText(string(r), genai.RoleModel), Partial: true}, nil) {
						return
					}
				}
			}
		}
		yield(&model.LLMResponse{
			Content:       &genai.Content{Role: genai.RoleModel, Parts: parts},
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{TotalTokenCount: 100},
			TurnComplete:  true,
		}, nil)
	}
}

// provider checks a transcript as the services behind models do, and returns how many responses
// of the model since the newest message of a user are in it.
func provider(contents []*genai.Content) (turn int, err error) {
	var open []*genai.FunctionCall
	for i, c := range contents {
		var calls []*genai.FunctionCall
		var responses []*genai.FunctionResponse
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall)
			}
			if p.FunctionResponse != nil {
				responses = append(responses, p.FunctionResponse)
			}
		}
		if len(responses) != len(open) {
			return 0, fmt.Errorf("400: content %d has %d responses to %d calls", i, len(responses), len(open))
		}
		for j, r := range responses {
			if r.ID != open[j].ID || r.Name != open[j].Name {
				return 0, fmt.Errorf("400: content %d: response %d is to %s %q, the call is %s %q", i, j, r.Name, r.ID, open[j].Name, open[j].ID)
			}
		}
		open = calls
		switch {
		case c.Role == genai.RoleModel:
			turn++
		case len(responses) == 0:
			turn = 0
		}
	}
	if len(open) > 0 {
		return 0, errors.New("400: calls without responses at the end")
	}
	return turn, nil
}

func call(id, name string, args map[string]any) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
}

// signature is opaque: what a provider checks and refuses when a bit of it changed.
var signature = []byte{0, 255, 128, 'a', '\n', 0x85, 0xe2, 0x80, 0xa8}

// trip is the script of the agent that most tests run: parallel calls, two of them equal, IDs that
// come again in the next turn, no IDs at all, a tool that fails.
func trip() [][]*genai.Part {
	signed := call("call_1", "weather", map[string]any{"city": "Rome"})
	signed.ThoughtSignature = signature
	return [][]*genai.Part{
		{
			call("call_0", "weather", map[string]any{"city": "Paris"}), signed,
			call("", "roll", map[string]any{}), call("", "roll", map[string]any{}),
		},
		{call("call_0", "weather", map[string]any{"city": "nowhere"})},
		{{Text: "I will book."}, call("call_0", "book", map[string]any{"city": "Rome", "cents": 9007199254740993})},
		{{Text: "Booked: a trip to Rome."}},
	}
}

// tools have effects that the world sees. What roll returns is another number each time.
func (w *world) toolset(t interface{ Fatal(...any) }) []tool.Tool {
	type place struct {
		City  string `json:"city"`
		Cents int64  `json:"cents,omitempty"`
	}
	rolls := atomic.Int64{}
	rolls.Store(int64(os.Getpid()) * 1000)
	must := func(x tool.Tool, err error) tool.Tool {
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	named := func(name string) functiontool.Config {
		return functiontool.Config{Name: name, Description: name}
	}
	return []tool.Tool{
		must(functiontool.New(named("weather"), func(ctx agent.Context, p place) (map[string]any, error) {
			w.tools.Add(1)
			if err := w.effect("weather " + p.City); err != nil {
				return nil, err
			}
			if p.City == "nowhere" {
				return nil, errors.New("there is no such place")
			}
			if err := ctx.State().Set("sun:"+p.City, true); err != nil {
				return nil, err
			}
			return map[string]any{"weather": "sun in " + p.City}, nil
		})),
		must(functiontool.New(named("roll"), func(ctx agent.Context, _ struct{}) (map[string]any, error) {
			w.tools.Add(1)
			n := rolls.Add(1)
			if w.fixed {
				n = 4
			}
			return map[string]any{"n": n}, w.effect("roll " + ctx.FunctionCallID())
		})),
		must(functiontool.New(named("book"), func(ctx agent.Context, p place) (map[string]any, error) {
			w.tools.Add(1)
			if p.Cents != 9007199254740993 {
				return nil, fmt.Errorf("cents: %d", p.Cents)
			}
			if err := ctx.State().Set("user:booked", p.City); err != nil {
				return nil, err
			}
			return map[string]any{"key": pawl.IdempotencyKey(ctx) != ""}, w.effect("book")
		})),
	}
}

// watched is a session.Service whose appends are places to die.
type watched struct {
	session.Service
	world *world
}

func (s watched) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	s.world.place("before an append")
	// What reaches an append was acknowledged before.
	for _, key := range keysOf(sess, ev) {
		if err := s.world.acked(key); err != nil {
			return err
		}
	}
	err := s.Service.AppendEvent(ctx, sess, ev)
	s.world.place("behind an append")
	return err
}

// keysOf names what an event tells of, as the world does.
func keysOf(sess session.Session, ev *session.Event) (keys []string) {
	c := contentOf(ev)
	if c.Role == genai.RoleModel {
		turn := 0
		for before := range sess.Events().All() {
			if contentOf(before).Role == genai.RoleModel {
				turn++
			}
		}
		keys = append(keys, fmt.Sprint("model ", turn))
	}
	for _, p := range c.Parts {
		if r := p.FunctionResponse; r != nil {
			switch {
			case r.Name == "roll":
				keys = append(keys, "roll "+r.ID)
			case r.Name == "book":
				keys = append(keys, "book")
			case r.Response["weather"] != nil:
				keys = append(keys, "weather"+strings.TrimPrefix(r.Response["weather"].(string), "sun in"))
			default:
				keys = append(keys, "weather nowhere")
			}
		}
	}
	return keys
}

func contentOf(ev *session.Event) *genai.Content {
	if ev.Content == nil {
		return &genai.Content{}
	}
	return ev.Content
}

// journey runs the agent once over a user's message, as a program would, and returns what the model said.
func (w *world) journey(ctx context.Context, m model.LLM, sessions session.Service, cfg agent.RunConfig, plugins ...*plugin.Plugin) (said []string, err error) {
	a, err := llmagent.New(llmagent.Config{Name: "guide", Model: m, Instruction: "Plan a trip.", Tools: w.toolset(fatal{})})
	if err != nil {
		return nil, err
	}
	r, err := runner.New(runner.Config{AppName: "travel", Agent: a, SessionService: sessions, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins}})
	if err != nil {
		return nil, err
	}
	for ev, err := range r.Run(ctx, "ann", "s", genai.NewContentFromText("To Rome?", genai.RoleUser), cfg) {
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

type fatal struct{}

func (fatal) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// wholeTrip is what the model says in an undisturbed journey.
var wholeTrip = []string{"I will book.", "Booked: a trip to Rome."}

// durable runs the journey as a run of a store.
func (w *world) durable(ctx context.Context, store *pawl.Store, cfg agent.RunConfig) ([]string, error) {
	return pawl.Do(ctx, store, "trip", func(ctx context.Context) ([]string, error) {
		m := adk.Model(&scripted{world: w, script: trip(), chunks: true})
		said, err := w.journey(ctx, m, watched{adk.NewSessionService(store), w}, cfg, adk.Plugin())
		if err == nil && !slices.Equal(said, wholeTrip) {
			err = fmt.Errorf("the model said %q", said)
		}
		return said, err
	})
}
