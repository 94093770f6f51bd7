package fakeopenai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request; the service that is played has a bound of that order too.
const maxBody = 32 << 20

// Request is what came, as far as it is understood; Body has the rest.
type Request struct {
	Key          string // see [Config.Key]
	Nth          int    // of the requests with this key that were let in, from 1
	Model        string
	Messages     []Message
	Stream       bool
	IncludeUsage bool // stream_options.include_usage
	Header       http.Header
	Body         []byte
}

// Message is one of a conversation. Of a content in parts it has the texts, joined.
type Message struct {
	Role       string
	Content    string
	ToolCallID string // of a tool's answer
}

// Last returns the content of the last message that has the role, or "".
func (r Request) Last(role string) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i].Content
		}
	}
	return ""
}

func read(w http.ResponseWriter, r *http.Request) (Request, error) {
	req := Request{Header: r.Header}
	var err error
	if req.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		return req, fmt.Errorf("the body cannot be read: %w", err)
	}
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
		} `json:"messages"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(req.Body, &in); err != nil {
		return req, fmt.Errorf("the body is not a request: %w", err)
	}
	req.Model, req.Stream, req.IncludeUsage = in.Model, in.Stream, in.StreamOptions.IncludeUsage
	for i, m := range in.Messages {
		text, err := content(m.Content)
		if err != nil {
			return req, fmt.Errorf("messages[%d].content: %w", i, err)
		}
		req.Messages = append(req.Messages, Message{m.Role, text, m.ToolCallID})
	}
	req.Key = req.Last("user")
	switch {
	case req.Model == "":
		return req, errors.New("model is missing")
	case len(req.Messages) == 0:
		return req, errors.New("messages is missing or empty")
	case req.IncludeUsage && !req.Stream:
		return req, errors.New("stream_options is only for stream: true")
	}
	return req, nil
}

// content reads a message's content: a text, a list of parts, or nothing.
func content(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil { // null is ""
		return text, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("neither a text nor a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), nil
}
