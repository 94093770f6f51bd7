package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

// message makes a message of the system or the user.
func message(role, text string) json.RawMessage {
	return encode(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}{role, text})
}

// call is what the model wants a tool to do.
type call struct {
	Turn  int    `json:"turn"`
	Place int    `json:"place"` // among the calls of this turn
	ID    string `json:"id"`
	Tool  string `json:"tool"`
	// Arguments is the model's own text: most often JSON, not always.
	Arguments string `json:"arguments"`
}

// result makes the message that answers a call.
func (c call) result(text string) json.RawMessage {
	return encode(struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", c.ID, text})
}

// understand reads the few members of an answer of the model that this program needs. What it
// leaves unread stays in the message.
func understand(turn int, m json.RawMessage) (text string, calls []call, err error) {
	var v struct {
		Content   any `json:"content"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(m, &v); err != nil {
		return "", nil, fmt.Errorf("the model's answer is none: %w", err)
	}
	for i, t := range v.ToolCalls {
		calls = append(calls, call{turn, i, t.ID, t.Function.Name, t.Function.Arguments})
	}
	text, _ = v.Content.(string)
	if text == "" && len(calls) == 0 {
		return "", nil, errors.New("the model said nothing, and called no tool")
	}
	return text, calls, nil
}

// encode is for the program's own values.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
