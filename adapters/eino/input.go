package eino

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// modelInput is what a model call is compared by: each message as its role and a digest, so that
// what changed is named ("$.messages[2]") and nothing of it is recorded a second time.
type modelInput struct {
	Messages []string `json:"messages"`
	Tools    []string `json:"tools,omitempty"`
}

func inputOf(msgs []*schema.Message, opts []model.Option) modelInput {
	in := modelInput{Messages: digests(msgs)}
	for _, t := range model.GetCommonOptions(nil, opts...).Tools {
		if t != nil {
			in.Tools = append(in.Tools, t.Name)
		}
	}
	slices.Sort(in.Tools)
	return in
}

// digests returns a digest for each message. Neighbours of role user are sorted: eino
// hands an agent what others said as such messages, in the order in which parallel tools and agents
// happened to end, which is another one on the next start.
func digests(msgs []*schema.Message) []string {
	ds := make([]string, len(msgs))
	for i, m := range msgs {
		ds[i] = digest(m)
	}
	for i := 0; i < len(msgs); {
		j := i + 1
		for j < len(msgs) && isUser(msgs[i]) && isUser(msgs[j]) {
			j++
		}
		slices.Sort(ds[i:j])
		i = j
	}
	return ds
}

func isUser(m *schema.Message) bool { return m != nil && m.Role == schema.User }

// messageIDKey is where eino keeps the random ID that it gives to every message. Those of tool
// messages are others at each start.
const messageIDKey = "_eino_msg_id"

func digest(m *schema.Message) string {
	if m == nil {
		return "nil"
	}
	c := *m
	if _, ok := c.Extra[messageIDKey]; ok {
		c.Extra = maps.Clone(c.Extra)
		delete(c.Extra, messageIDKey)
	}
	text, err := json.Marshal(c)
	if err != nil { // what has no JSON is in the parts that vendors add
		bare := schema.Message{Role: c.Role, Content: c.Content, Name: c.Name, ToolCallID: c.ToolCallID, ReasoningContent: c.ReasoningContent}
		for _, t := range c.ToolCalls {
			bare.ToolCalls = append(bare.ToolCalls, schema.ToolCall{ID: t.ID, Function: t.Function})
		}
		text, _ = json.Marshal(bare) // texts only: it cannot fail
	}
	sum := sha256.Sum256(text)
	return string(c.Role) + " " + hex.EncodeToString(sum[:8])
}
