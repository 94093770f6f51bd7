// Package llmtest is a local server that speaks enough of the OpenAI chat
// protocol to test clients of it, misbehaviour included.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Answer is how the server answers one request.
type Answer func(w http.ResponseWriter, r *http.Request, prompt string)

// Server answers requests by a script. The zero Script answers all properly.
type Server struct {
	URL string // base URL, ends in /v1

	mu      sync.Mutex
	script  []Answer
	prompts []string
	times   []time.Time
	auth    string
	srv     *httptest.Server
}

// New starts a server that uses one answer of the script for each request and
// [OK] when the script is used up.
func New(script ...Answer) *Server {
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve)
	s.srv = httptest.NewServer(mux)
	s.URL = s.srv.URL + "/v1"
	return s
}

// Close stops the server. Requests that hang are ended.
func (s *Server) Close() {
	s.srv.CloseClientConnections()
	s.srv.Close()
}

// Requests returns the user prompts so far and when they came.
func (s *Server) Requests() (prompts []string, times []time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.prompts...), append([]time.Time(nil), s.times...)
}

// Authorization returns the header of the last request.
func (s *Server) Authorization() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.auth
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream        bool
		Model         string
		Messages      []struct{ Role, Content string }
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil || !req.Stream || !req.StreamOptions.IncludeUsage || req.Model == "" || len(req.Messages) != 2 || req.Messages[1].Role != "user" {
		http.Error(w, `{"error":{"message":"not the request of this client"}}`, http.StatusBadRequest)
		return
	}
	prompt := req.Messages[1].Content
	s.mu.Lock()
	s.prompts, s.times = append(s.prompts, prompt), append(s.times, time.Now())
	s.auth = r.Header.Get("Authorization")
	answer := OK
	if len(s.script) > 0 {
		answer, s.script = s.script[0], s.script[1:]
	}
	s.mu.Unlock()
	answer(w, r, prompt)
}

// What each whole answer says that it took.
const (
	PromptTokens     = 1200
	CompletionTokens = 80
)

// Content is the answer that [OK] gives to a prompt: the first two sentences
// and a summary with the title. Equal prompts get equal answers.
func Content(prompt string) string {
	title, rest, _ := strings.Cut(strings.TrimPrefix(prompt, "Title: "), "\n")
	numbers := []int{1}
	if strings.Contains(rest, "\n2. ") {
		numbers = []int{2, 1}
	}
	b, err := json.Marshal(map[string]any{"summary": "It is about " + title + ".", "sentences": numbers})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// OK answers properly.
func OK(w http.ResponseWriter, r *http.Request, prompt string) {
	Say(Content(prompt), "stop")(w, r, prompt)
}

// Say streams content in small pieces and ends for the given reason, or, if it
// is empty, ends without any, as a proxy does that loses its server.
func Say(content, finish string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		stream(w, content)
		if finish != "" {
			event(w, "", finish)
			fmt.Fprintf(w, `data: {"object":"chat.completion.chunk","model":"m1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n", PromptTokens, CompletionTokens)
			io.WriteString(w, "data: [DONE]\n\n")
		}
	}
}

// CutOff streams content and drops the connection.
func CutOff(content string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		stream(w, content)
		panic(http.ErrAbortHandler)
	}
}

// Hang streams content and then says nothing more until the client leaves.
func Hang(content string) Answer {
	return func(w http.ResponseWriter, r *http.Request, _ string) {
		stream(w, content)
		<-r.Context().Done()
	}
}

// Status answers with an HTTP status, a body, and a Retry-After header if it
// is not empty.
func Status(code int, retryAfter, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// StreamError streams content and then an error, as servers do that fail late.
func StreamError(content string) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		stream(w, content)
		io.WriteString(w, `data: {"error":{"message":"overloaded"}}`+"\n\n")
	}
}

func stream(w http.ResponseWriter, content string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": comment\n\n")
	for piece := range slices.Chunk([]rune(content), max(7, len(content)/100)) {
		event(w, string(piece), "")
	}
	http.NewResponseController(w).Flush()
}

func event(w io.Writer, content, finish string) {
	choice := map[string]any{"index": 0, "delta": map[string]any{"content": content}, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	b, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "choices": []any{choice}})
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}
