package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
)

// world is what an agent pays for: a model and a tool. It says what it is asked, and may be the end of
// the process.
type world struct {
	mu    sync.Mutex
	out   io.Writer
	calls int
	die   int
}

func (w *world) call(format string, args ...any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.out, format+"\n", args...)
	if w.calls++; w.calls != w.die {
		return nil
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill() // no deferred function runs, as when the machine takes the process away
	}
	if err != nil {
		return err
	}
	select {}
}

type place struct {
	City string `json:"city" jsonschema_description:"name of the city"`
}

func (w *world) weather() ([]tool.BaseTool, error) {
	t, err := utils.InferTool("weather", "tells the weather in a city", func(_ context.Context, p place) (string, error) {
		if err := w.call("tool: the weather in %s", p.City); err != nil {
			return "", err
		}
		return map[string]string{"Oslo": "snow", "Rome": "sun"}[p.City], nil
	})
	return []tool.BaseTool{t}, err
}

// chatModel plays a model: it asks for the weather, one city after the other, and then compares.
type chatModel struct{ w *world }

func (m *chatModel) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if err := m.w.call("model: asked with %d messages", len(input)); err != nil {
		return nil, err
	}
	var said []string
	for _, msg := range input {
		if msg.Role == schema.Tool {
			said = append(said, msg.Content)
		}
	}
	cities := []string{"Oslo", "Rome"}
	if n := len(said); n < len(cities) {
		return schema.AssistantMessage("", []schema.ToolCall{{
			ID: "call_0", Type: "function", // the same ID in every turn, as local models have it
			Function: schema.FunctionCall{Name: "weather", Arguments: `{"city": "` + cities[n] + `"}`},
		}}), nil
	}
	return schema.AssistantMessage(fmt.Sprintf("Oslo has %s, Rome has %s: go to Rome.", said[0], said[1]), nil), nil
}

func (m *chatModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := m.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	if len(msg.ToolCalls) > 0 {
		return schema.StreamReaderFromArray([]*schema.Message{msg}), nil
	}
	var chunks []*schema.Message
	for _, word := range strings.SplitAfter(msg.Content, " ") {
		chunks = append(chunks, schema.AssistantMessage(word, nil))
	}
	return schema.StreamReaderFromArray(chunks), nil
}
