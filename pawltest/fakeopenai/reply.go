package fakeopenai

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Reply is how a request is answered. The zero Reply is an empty text.
type Reply struct {
	Text      string // of the answer, or of the error
	ToolCalls []ToolCall
	Finish    string // finish_reason; "" is "stop", or "tool_calls" if there are some
	Usage     Usage  // the zero Usage is counted from the texts

	// Status makes it an error, in the service's form; 0 and 200 are none. Nothing was
	// done then.
	Status int
	// RetryAfter is what an error says of when to come again; 0 is nothing.
	RetryAfter time.Duration
	// Delay is how long the work takes, in addition to [Config.Delay]. A client that leaves
	// meanwhile does not undo it.
	Delay time.Duration
	// Drop closes the connection when the work is done: instead of the answer, or in the
	// middle of it where it is streamed.
	Drop bool
}

// ToolCall is a call of a tool that the answer asks for.
type ToolCall struct {
	ID, Name  string
	Arguments string // JSON
}

// Usage is what an answer costs in tokens.
type Usage struct{ Prompt, Completion int }

// Echo replies with the last message of the user.
func Echo(r Request) Reply { return Reply{Text: r.Last("user")} }

// Script replies with one after the other, whatever the request, and then as [Echo] does.
func Script(replies ...Reply) func(Request) Reply {
	var next atomic.Int64
	return func(r Request) Reply {
		if i := next.Add(1); i <= int64(len(replies)) {
			return replies[i-1]
		}
		return Echo(r)
	}
}

// kept is the answer that belongs to an idempotency key.
type kept struct {
	body  [sha256.Size]byte
	ready chan struct{} // closed when the work was done or has failed
	ok    bool
	a     answer
}

// reply does the work, or finds it done, and answers.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, req Request, v visit, id int64) {
	key := req.Header.Get("Idempotency-Key")
	if !s.c.Idempotent || key == "" {
		a, reply := s.work(req, v, id)
		s.deliver(w, r, req, v, a, reply)
		return
	}
	mine := &kept{body: sha256.Sum256(req.Body), ready: make(chan struct{})}
	for {
		s.mu.Lock()
		k := s.kept[key]
		if k == nil {
			s.kept[key] = mine
		}
		s.mu.Unlock()
		if k == nil {
			break
		}
		if !bytes.Equal(k.body[:], mine.body[:]) {
			s.note(v, func(rec *Record) { rec.Status = http.StatusBadRequest })
			v.leave()
			fail(w, http.StatusBadRequest, fmt.Sprintf("idempotency key %q came with another body before", key))
			return
		}
		select {
		case <-k.ready:
		case <-r.Context().Done():
			s.note(v, gone)
			return
		}
		if k.ok {
			s.note(v, func(rec *Record) { rec.Replayed = true })
			w.Header().Set("Idempotent-Replayed", "true")
			s.deliver(w, r, req, v, k.a, Reply{})
			return
		}
	}
	var reply Reply
	func() {
		defer func() { // also when Answer panics: others wait for it
			s.mu.Lock()
			defer s.mu.Unlock()
			if !mine.ok {
				delete(s.kept, key)
			}
			close(mine.ready)
		}()
		mine.a, reply = s.work(req, v, id)
		mine.ok = reply.Status == 0
	}()
	s.deliver(w, r, req, v, mine.a, reply)
}

// work asks for the reply and counts its effect. The Status of what it returns is 0 if it is
// no error.
func (s *Server) work(req Request, v visit, id int64) (answer, Reply) {
	reply := s.c.Answer(req)
	if reply.Status == http.StatusOK {
		reply.Status = 0
	}
	if reply.Status == 0 {
		s.mu.Lock()
		s.effects[req.Key]++
		s.records[v.record].Effect = true
		s.mu.Unlock()
	}
	usage := reply.Usage
	if usage == (Usage{}) {
		for _, m := range req.Messages {
			usage.Prompt += tokens(m.Content)
		}
		usage.Completion = tokens(reply.Text)
		for _, c := range reply.ToolCalls {
			usage.Completion += tokens(c.Name + c.Arguments)
		}
	}
	finish := "stop"
	if len(reply.ToolCalls) > 0 {
		finish = "tool_calls"
	}
	return answer{
		id:      fmt.Sprint("chatcmpl-", id),
		created: time.Now().Unix(),
		model:   req.Model,
		text:    reply.Text,
		calls:   reply.ToolCalls,
		finish:  cmp.Or(reply.Finish, finish),
		usage:   usage,
	}, reply
}

func tokens(text string) int { return (len(text) + 3) / 4 }

// deliver answers, as late and as badly as the reply says.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, req Request, v visit, a answer, reply Reply) {
	if d := s.c.Delay + reply.Delay; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			s.note(v, gone)
			return
		}
	}
	if reply.Drop {
		s.note(v, gone)
	} else if reply.Status != 0 {
		s.note(v, func(rec *Record) { rec.Status, rec.RetryAfter = reply.Status, reply.RetryAfter })
	}
	switch {
	case reply.Drop && (reply.Status != 0 || !req.Stream):
		panic(http.ErrAbortHandler)
	case req.Stream && reply.Status == 0:
		a.stream(w, req.IncludeUsage, reply.Drop, v.leave)
		return
	}
	v.leave()
	switch {
	case reply.Status != 0:
		if reply.RetryAfter > 0 {
			s.retryAfter(w, reply.RetryAfter)
		}
		fail(w, reply.Status, cmp.Or(reply.Text, http.StatusText(reply.Status)))
	default:
		a.whole(w)
	}
}
