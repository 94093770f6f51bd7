package fakeopenai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answer is a completion before it is put into one of its two forms.
type answer struct {
	id      string
	created int64
	model   string
	text    string
	calls   []ToolCall
	finish  string
	usage   Usage
}

// completion is an answer, or a chunk of one.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   any      `json:"usage,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *message `json:"delta,omitempty"`
	Logprobs     any      `json:"logprobs"`
	FinishReason *string  `json:"finish_reason"`
}

type message struct {
	Role      string     `json:"role,omitempty"`
	Content   any        `json:"content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    *int     `json:"index,omitempty"` // in chunks only
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (u Usage) wire() usage { return usage{u.Prompt, u.Completion, u.Prompt + u.Completion} }

// null is there, in contrast to nil.
var null = json.RawMessage("null")

// whole sends the answer in one piece.
func (a answer) whole(w http.ResponseWriter) {
	m := &message{Role: "assistant", Content: a.text, ToolCalls: a.toolCalls(false)}
	if a.text == "" && len(a.calls) > 0 {
		m.Content = null
	}
	c := a.completion("chat.completion", choice{Message: m, FinishReason: &a.finish})
	c.Usage = a.usage.wire()
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(c))
}

// stream sends the answer as server-sent events, word by word; or half of it, and then drops
// the connection. Leave is called before its end.
func (a answer) stream(w http.ResponseWriter, withUsage, drop bool, leave func()) {
	deltas := []*message{{Role: "assistant", Content: ""}}
	for _, word := range strings.SplitAfter(a.text, " ") {
		if word != "" {
			deltas = append(deltas, &message{Content: word})
		}
	}
	for _, c := range a.toolCalls(true) {
		deltas = append(deltas, &message{ToolCalls: []toolCall{c}})
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	rc := http.NewResponseController(w)
	send := func(c completion) {
		if withUsage && c.Usage == nil {
			c.Usage = null
		}
		fmt.Fprintf(w, "data: %s\n\n", encode(c))
		rc.Flush() //nolint:errcheck // where it cannot be, it is sent at the end
	}
	for i, d := range deltas {
		if drop && i > len(deltas)/2 {
			break
		}
		send(a.completion("chat.completion.chunk", choice{Delta: d}))
	}
	if drop {
		panic(http.ErrAbortHandler)
	}
	leave()
	send(a.completion("chat.completion.chunk", choice{Delta: &message{}, FinishReason: &a.finish}))
	if withUsage {
		c := a.completion("chat.completion.chunk")
		c.Usage = a.usage.wire()
		send(c)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

func (a answer) completion(object string, choices ...choice) completion {
	if choices == nil {
		choices = []choice{} // not null
	}
	return completion{ID: a.id, Object: object, Created: a.created, Model: a.model, Choices: choices}
}

func (a answer) toolCalls(indexed bool) []toolCall {
	var out []toolCall
	for i, c := range a.calls {
		t := toolCall{ID: c.ID, Type: "function", Function: function{c.Name, c.Arguments}}
		if indexed {
			t.Index = &i
		}
		out = append(out, t)
	}
	return out
}

// fail sends an error in the service's form.
func fail(w http.ResponseWriter, status int, text string) {
	typ, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusTooManyRequests:
		typ, code = "requests", "rate_limit_exceeded"
	case status == http.StatusServiceUnavailable:
		typ, code = "service_unavailable_error", "server_is_overloaded"
	case status >= 500:
		typ = "server_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(map[string]any{"error": map[string]any{"message": text, "type": typ, "param": nil, "code": code}}))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	return b
}
