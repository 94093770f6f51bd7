package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// script is a model that is played, for runs without one. It looks things up, wants to pay back more
// than the rules say, and tells the customer. What it says depends on the conversation alone, so it
// does not matter when it was started.
//
// It is as picky as the services that it plays. A conversation is refused in which a call lacks its
// result, or results stand in another order than the calls, or a message of the model
// has come back with one byte changed: its messages are signed, over parts that no program knows.
type script struct {
	*fakeopenai.Server
	busy atomic.Int64 // how many requests are still refused, as a busy service does
}

func newScript(c fakeopenai.Config, busy int) *script {
	s := &script{}
	s.busy.Store(int64(busy))
	c.RetryAfterMS = true
	c.Key = func(r fakeopenai.Request) string { return fmt.Sprint("turn ", turnOf(r)) }
	if c.Answer == nil {
		c.Answer = s.reply
	}
	s.Server = fakeopenai.New(c)
	return s
}

// turnOf is how often the model has spoken.
func turnOf(r fakeopenai.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

func (s *script) reply(r fakeopenai.Request) fakeopenai.Reply {
	if s.busy.Add(-1) >= 0 {
		return fakeopenai.Reply{Status: http.StatusTooManyRequests, Text: "come back later", RetryAfter: 200 * time.Millisecond}
	}
	if err := valid(r.Body); err != nil {
		return fakeopenai.Reply{Status: http.StatusBadRequest, Text: err.Error()}
	}
	switch turnOf(r) {
	case 0:
		return calls(
			"look_up_order", `{"order":9007199254740993}`,
			"look_up_order", `{"order":17}`, // which is not there
			"read_rules", `{"subject":"broken"}`,
		)
	case 1:
		return calls(
			"refund", `{"order":9007199254740993,"cents":8400}`,
			"look_up_order", `{"order":9007199254740995}`,
		)
	}
	for _, m := range r.Messages {
		if _, paid, ok := strings.Cut(m.Content, `"paid":`); ok {
			cents, _, _ := strings.Cut(paid, ",")
			return fakeopenai.Reply{Text: "We are sorry about the broken lamp. You get " + cents + " cents back, and the floor lamp is on its way."}
		}
	}
	return fakeopenai.Reply{Text: "We are sorry about the broken lamp. A colleague will write to you; the floor lamp is on its way."}
}

// calls makes a reply that calls tools. As with many local models the first call of each turn is
// call_0.
func calls(namesAndArguments ...string) fakeopenai.Reply {
	var r fakeopenai.Reply
	for i := 0; i < len(namesAndArguments); i += 2 {
		r.ToolCalls = append(r.ToolCalls, fakeopenai.ToolCall{
			ID: fmt.Sprint("call_", i/2), Name: namesAndArguments[i], Arguments: namesAndArguments[i+1],
		})
	}
	return r
}

// ServeHTTP signs the answers.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	s.Server.ServeHTTP(rec, r)
	body := rec.Body.Bytes()
	if m, err := first(body); err == nil {
		body = bytes.Replace(body, m, sign(m), 1)
	}
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	w.Write(body)
}

// opaque is what vendors put into messages: numbers above 2^53, and text that means the same when
// it is written in another way, but is not the same.
const opaque = `,"reasoning":[{"type":"encrypted","data":"Q\u003c<&\/\u00e9é==","index":9007199254740993,"score":1.0}]`

const signature = `,"signature":"`

// sign adds parts that the client does not know, and a signature over all before it.
func sign(m []byte) []byte {
	m = append(bytes.TrimSuffix(m, []byte("}")), opaque...)
	return fmt.Appendf(m, `%s%x"}`, signature, sha256.Sum256(m))
}

// valid says what is wrong with a conversation.
func valid(body []byte) error {
	var v struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	var open []call // without a result so far
	for i, m := range v.Messages {
		var head struct {
			Role string
			ID   string `json:"tool_call_id"`
		}
		if err := json.Unmarshal(m, &head); err != nil {
			return err
		}
		switch {
		case len(open) > 0 && head.Role != "tool":
			return fmt.Errorf("messages[%d]: the call %s of %s has no result", i, open[0].ID, open[0].Tool)
		case head.Role == "tool" && len(open) == 0:
			return fmt.Errorf("messages[%d]: a result without a call", i)
		case head.Role == "tool" && head.ID != open[0].ID:
			return fmt.Errorf("messages[%d]: the result of %s where that of %s belongs", i, head.ID, open[0].ID)
		case head.Role == "tool":
			open = open[1:]
		case head.Role == "assistant":
			at := bytes.LastIndex(m, []byte(signature))
			if at < 0 || string(m[at:]) != fmt.Sprintf(`%s%x"}`, signature, sha256.Sum256(m[:at])) {
				return fmt.Errorf("messages[%d]: this is not what the model said", i)
			}
			var err error
			if _, open, err = understand(0, m); err != nil {
				return err
			}
		}
	}
	if len(open) > 0 {
		return errors.New("the last calls have no results")
	}
	return nil
}
