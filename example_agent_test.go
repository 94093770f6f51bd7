package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/pawlgo/pawl"
)

// Message is one entry of an agent's transcript.
type Message struct {
	Role   string     `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`
	CallID string     `json:"call_id,omitempty"`
}

// ToolCall is what the model asks for.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// An agent loop is a plain loop over a plain slice. Every model call and every tool
// call is paid for once; the transcript is rebuilt from the record.
func Example_agentLoop() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}

	agent := func(ctx context.Context) (string, error) {
		msgs := []Message{{Role: "user", Text: "What is the weather in Oslo and in Rome?"}}
		for turn := 0; ; turn++ {
			tc := pawl.Scope(ctx, fmt.Sprint("turn/", turn))
			m, err := pawl.Step(tc, "model", chat(msgs), pawl.WithInput(msgs))
			if err != nil {
				return "", err
			}
			if len(m.Calls) == 0 {
				return m.Text, nil
			}
			results, err := pawl.Map(tc, "tool", m.Calls, callID, runTool, pawl.Parallel(1))
			if err != nil {
				return "", err
			}
			msgs = append(append(msgs, m), results...)
		}
	}

	// The first process dies when its second tool call has had its effect.
	crash = true
	func() {
		defer func() { fmt.Println("died:", recover() != nil) }()
		pawl.Do(context.Background(), store, "weather", agent) //nolint:errcheck // it dies
	}()
	answer, err := pawl.Do(context.Background(), store, "weather", agent)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output:
	// model call with 1 messages
	// tool weather {"city":"Oslo"}
	// tool weather {"city":"Rome"}
	// died: true
	// tool weather {"city":"Rome"}
	// model call with 4 messages
	// Oslo: sunny. Rome: sunny.
}

// chat stands for a model: it asks for two tools, then answers.
func chat(msgs []Message) func(context.Context) (Message, error) {
	return func(context.Context) (Message, error) {
		fmt.Println("model call with", len(msgs), "messages")
		if len(msgs) == 1 {
			return Message{Role: "assistant", Calls: []ToolCall{
				{ID: "call_0", Name: "weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
				{ID: "call_1", Name: "weather", Args: json.RawMessage(`{"city":"Rome"}`)},
			}}, nil
		}
		return Message{Role: "assistant", Text: "Oslo: " + msgs[2].Text + ". Rome: " + msgs[3].Text + "."}, nil
	}
}

func callID(c ToolCall) string { return c.ID }

var crash bool

// runTool answers a call. An error of a tool would be a value that the model sees.
func runTool(_ context.Context, c ToolCall) (Message, error) {
	fmt.Println("tool", c.Name, string(c.Args))
	if crash && c.ID == "call_1" {
		crash = false
		panic("out of memory")
	}
	return Message{Role: "tool", CallID: c.ID, Text: "sunny"}, nil
}
