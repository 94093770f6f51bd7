package adk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// quiet is what an example has instead of a test.
type quiet struct{ testing.TB }

func (quiet) Helper()        {}
func (quiet) Cleanup(func()) {}

// An agent whose process dies behind its tool's call goes on there: neither the model nor the tool
// is asked again for what they have answered.
func Example() {
	store := pawltest.NewStore(quiet{}) // pawl.Open("runs") in a program
	model := &scripted{world: &world{}, script: [][]*genai.Part{
		{call("call_0", "look", map[string]any{"city": "Rome"})},
		{{Text: "The sun shines in Rome."}},
	}}
	type place struct {
		City string `json:"city"`
	}
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks at the sky."}, func(_ agent.Context, p place) (map[string]any, error) {
		fmt.Println("looking at", p.City)
		return map[string]any{"sky": "blue"}, nil
	})
	if err != nil {
		panic(err)
	}
	ask := func(die bool) (string, error) {
		return pawl.Do(context.Background(), store, "message-1", func(ctx context.Context) (string, error) {
			a, err := llmagent.New(llmagent.Config{Name: "watcher", Model: adk.Model(model), Tools: []tool.Tool{look}})
			if err != nil {
				return "", err
			}
			r, err := runner.New(runner.Config{
				AppName: "sky", Agent: a, SessionService: adk.NewSessionService(store), AutoCreateSession: true,
				PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{adk.Plugin()}},
			})
			if err != nil {
				return "", err
			}
			answer := ""
			for event, err := range r.Run(ctx, "ann", "s", genai.NewContentFromText("And the weather?", genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					return "", err
				}
				if part := event.Content.Parts[0]; part.FunctionResponse != nil && die {
					return "", errCrash
				}
				answer = event.Content.Parts[0].Text
			}
			return answer, nil
		})
	}
	_, err = ask(true)
	fmt.Println(err)
	answer, err := ask(false)
	fmt.Println(answer, err)
	fmt.Println(model.world.models.Load(), "calls of the model")
	// Output:
	// looking at Rome
	// crash
	// The sun shines in Rome. <nil>
	// 2 calls of the model
}

// Sessions are in the store: the next process finds them.
func ExampleNewSessionService() {
	store := pawltest.NewStore(quiet{})
	ctx := context.Background()
	sessions := adk.NewSessionService(store)
	created, err := sessions.Create(ctx, &session.CreateRequest{AppName: "sky", UserID: "ann", SessionID: "s", State: map[string]any{"user:city": "Rome"}})
	if err != nil {
		panic(err)
	}
	event := session.NewEvent(ctx, "invocation")
	event.Author, event.Content = "user", genai.NewContentFromText("hello", genai.RoleUser)
	if err := sessions.AppendEvent(ctx, created.Session, event); err != nil {
		panic(err)
	}
	found, err := adk.NewSessionService(store).Get(ctx, &session.GetRequest{AppName: "sky", UserID: "ann", SessionID: "s"})
	if err != nil {
		panic(err)
	}
	city, _ := found.Session.State().Get("user:city")
	fmt.Println(found.Session.Events().At(0).Content.Parts[0].Text, city)
	_, err = sessions.Create(ctx, &session.CreateRequest{AppName: "sky", UserID: "ann", SessionID: "s"})
	fmt.Println(err)
	// Output:
	// hello Rome
	// conflict with an earlier write: adk: session "s" of user "ann" exists already
}

// A call that its process died in has a response, which says what is known.
func ExampleRepair() {
	contents := []*genai.Content{
		genai.NewContentFromText("pay ann", genai.RoleUser),
		genai.NewContentFromFunctionCall("pay", map[string]any{"to": "ann"}, genai.RoleModel),
		genai.NewContentFromText("hello?", genai.RoleUser),
	}
	for _, c := range adk.Repair(contents) {
		switch p := c.Parts[0]; {
		case p.FunctionCall != nil:
			fmt.Println(c.Role, "calls", p.FunctionCall.Name)
		case p.FunctionResponse != nil:
			fmt.Println(c.Role, "answers", p.FunctionResponse.Name)
		default:
			fmt.Println(c.Role, "says", p.Text)
		}
	}
	// Output:
	// user says pay ann
	// model calls pay
	// user answers pay
	// user says hello?
}
