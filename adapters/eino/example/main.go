// Command example is an agent of eino that can be killed at any moment: the next start goes on with
// the call that was running. It works offline, with a model that is played by a function.
//
//	go run ./example -store /tmp/trip
//	go run ./example -store /tmp/trip -die 4    # dies at its fourth call
//
// Two lines make it durable; both are marked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	dir := flags.String("store", "trip-store", "`folder` in which pawl keeps the run")
	id := flags.String("run", "trip", "`ID` of the run; another ID is other work")
	question := flags.String("ask", "Where is it nicer today, Oslo or Rome?", "the `question`")
	die := flags.Int("die", 0, "kill this process at its `n`th call of a model or tool")
	stream := flags.Bool("stream", false, "let the model stream")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w := &world{out: out, die: *die}
	agent, err := w.agent(ctx)
	if err != nil {
		return err
	}
	store, err := pawl.Open(*dir)
	if err != nil {
		return err
	}
	defer store.Close()
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: *stream})

	answer, err := pawl.Do(ctx, store, *id, func(ctx context.Context) (string, error) { // line 2
		return lastWord(runner.Query(ctx, *question))
	}, pawl.RunInput(*question))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, answer)
	return nil
}

// agent is an agent as eino's documentation has it.
func (w *world) agent(ctx context.Context) (adk.Agent, error) {
	c := &adk.ChatModelAgentConfig{
		Name:        "traveller",
		Description: "knows where to go",
		Instruction: "Compare the weather.",
		Model:       &chatModel{w},
		Handlers:    []adk.ChatModelAgentMiddleware{eino.Durable()}, // line 1
	}
	tool, err := w.weather()
	if err != nil {
		return nil, err
	}
	c.ToolsConfig.Tools = tool
	return adk.NewChatModelAgent(ctx, c)
}

// lastWord reads an agent's events and returns the text of the last message. Errors must reach
// pawl.Do as they are.
func lastWord(events *adk.AsyncIterator[*adk.AgentEvent]) (string, error) {
	last := ""
	for {
		e, ok := events.Next()
		if !ok {
			return last, nil
		}
		if e.Err != nil {
			return "", e.Err
		}
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		var msg *schema.Message
		msg, err := e.Output.MessageOutput.GetMessage()
		if err != nil {
			return "", err
		}
		if msg == nil {
			return "", errors.New("an event without its message")
		}
		last = msg.Content
	}
}
