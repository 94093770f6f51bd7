package eino_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
)

// The first process dies in its second model call. The next one goes on there: the model is not asked
// its first question again, and the tool does not run again.
func ExampleDurable() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	down := true
	model := &fake{answer: func(_ context.Context, turn int, input []*schema.Message) (*schema.Message, error) {
		fmt.Println("the model is asked with", len(input), "messages")
		switch {
		case turn == 0:
			return asks("", `weather {"city":"Oslo"}`), nil
		case down:
			return nil, errors.New("connection refused")
		}
		return schema.AssistantMessage("It is "+input[3].Content+" in Oslo.", nil), nil
	}}
	weather := &textTool{"weather", func(_ context.Context, args string) (string, error) {
		fmt.Println("the tool runs with", args)
		return "sunny", nil
	}}
	config := &adk.ChatModelAgentConfig{
		Name: "weather", Description: "knows the weather", Instruction: "Be brief.", Model: model,
		Handlers: []adk.ChatModelAgentMiddleware{eino.Durable()},
	}
	config.ToolsConfig.Tools = []tool.BaseTool{weather}
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	answer := func() (string, error) {
		return pawl.Do(ctx, store, "weather-42", func(ctx context.Context) (string, error) {
			return drain(runner.Query(ctx, "How is the weather in Oslo?"))
		})
	}
	_, err = answer()
	fmt.Println("failed:", err != nil)
	down = false
	fmt.Println(answer())
	// Output:
	// the model is asked with 2 messages
	// the tool runs with {"city":"Oslo"}
	// the model is asked with 4 messages
	// failed: true
	// the model is asked with 4 messages
	// It is sunny in Oslo. <nil>
}

// A tool asks before it pays. The run waits, in whatever process; with the answer it goes on from the
// checkpoint, and what is resumed twice pays once.
func ExampleNewCheckPoints() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	pay := &textTool{"pay", func(ctx context.Context, args string) (string, error) {
		if asked, _, _ := tool.GetInterruptState[any](ctx); !asked {
			return "", tool.Interrupt(ctx, "may I pay "+args+"?")
		}
		fmt.Println("pays", args)
		return "paid", nil
	}}
	model := &fake{answer: func(_ context.Context, turn int, input []*schema.Message) (*schema.Message, error) {
		if turn == 0 {
			return asks("", `pay {"usd":5}`), nil
		}
		return schema.AssistantMessage("It is "+input[len(input)-1].Content+".", nil), nil
	}}
	config := &adk.ChatModelAgentConfig{Name: "shop", Model: model, Handlers: []adk.ChatModelAgentMiddleware{eino.Durable()}}
	config.ToolsConfig.Tools = []tool.BaseTool{pay}
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	points := eino.NewCheckPoints(store)
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: points})

	shop := func(approved bool) (string, error) {
		return pawl.Do(ctx, store, "order-7", func(ctx context.Context) (string, error) {
			saved, err := points.Saved(ctx, "order")
			if err != nil {
				return "", err
			}
			var events *adk.AsyncIterator[*adk.AgentEvent]
			switch {
			case !saved:
				events = runner.Query(ctx, "Buy it.", adk.WithCheckPointID("order"))
			case !approved:
				return "", pawl.ErrWaiting
			default:
				if events, err = runner.Resume(ctx, "order"); err != nil {
					return "", err
				}
			}
			answer, err := drain(events)
			if errors.Is(err, errInterrupted) {
				return "", pawl.ErrWaiting
			}
			return answer, err
		})
	}
	_, err = shop(false)
	fmt.Println("waits:", errors.Is(err, pawl.ErrWaiting))
	fmt.Println(shop(true))
	fmt.Println(shop(true))
	// Output:
	// waits: true
	// pays {"usd":5}
	// It is paid. <nil>
	// It is paid. <nil>
}
