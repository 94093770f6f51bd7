package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawlgo/pawl/examples/research/internal/analysis"
	"github.com/pawlgo/pawl/examples/research/internal/docs"
	"github.com/pawlgo/pawl/examples/research/internal/llm/llmtest"
)

var text = docs.Text{
	Title:     "Logs",
	Sentences: []string{"The log comes first.", "The page comes second.", "Then both are flushed."},
	Words:     "The log comes first. The page comes second. Then both are flushed.",
}

// half is an answer that would be accepted if a cut were not noticed: whole
// JSON, with the end of the stream missing.
const half = `{"summary": "Half of it.", "sentences": [3]}`

func client(t *testing.T, s *llmtest.Server, change func(*Config)) *Client {
	t.Helper()
	t.Cleanup(s.Close)
	cfg := Config{BaseURL: s.URL, Model: "m1", APIKey: "sk-secret", Timeout: 10 * time.Second, MinWait: time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// whole checks that a is made of a proper answer.
func whole(t *testing.T, a analysis.Analysis, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if a.Summary != "It is about Logs." || len(a.Sentences) != 2 || a.Sentences[0] != (analysis.Sentence{N: 2, Text: "The page comes second."}) {
		t.Errorf("analysis %+v", a)
	}
	if base := analysis.Base("", text); a.Words != base.Words || len(a.Counts) != len(base.Counts) || a.Title != "Logs" || !strings.Contains(a.Method, "m1") {
		t.Errorf("what does not depend on the model: %+v", a)
	}
}

func TestAnalyze(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/never") // what the user did not give by flag must not count
	t.Setenv("OPENAI_API_KEY", "sk-other")
	s := llmtest.New()
	c := client(t, s, nil)
	a, err := c.Analyze(t.Context(), text)
	whole(t, a, err)
	if s.Authorization() != "Bearer sk-secret" {
		t.Errorf("authorization %q", s.Authorization())
	}
	prompts, _ := s.Requests()
	if len(prompts) != 1 || !strings.Contains(prompts[0], "\n3. Then both are flushed.\n") {
		t.Errorf("prompts %q", prompts)
	}
	if a, err := c.Analyze(t.Context(), docs.Text{Title: "empty"}); err != nil || a.Title != "empty" {
		t.Errorf("no sentences: %+v, %v", a, err)
	}
	if prompts, _ := s.Requests(); len(prompts) != 1 {
		t.Error("paid for a document without sentences")
	}
}

// TestRecovers: every fault that may pass is followed by another try, and what
// counts is the whole answer that comes at last.
func TestRecovers(t *testing.T) {
	for name, faults := range map[string][]llmtest.Answer{
		"429 without Retry-After": {llmtest.Status(429, "", `{"error":{"message":"slow down"}}`)},
		"5xx":                     {llmtest.Status(500, "", "oops"), llmtest.Status(502, "", "<html>"), llmtest.Status(503, "0", "")},
		"connection dropped":      {llmtest.CutOff(half)},
		"dropped at once":         {llmtest.CutOff("")},
		"ended without an end":    {llmtest.Say(half, "")},
		"error in the stream":     {llmtest.StreamError(half[:10])},
		"nonsense":                {llmtest.Say("Sure! Here you are.", "stop"), llmtest.Say(`{"summary":"x","sentences":[4]}`, "stop"), llmtest.Say(`{"sentences":[1]}`, "stop")},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(faults...)
			a, err := client(t, s, nil).Analyze(t.Context(), text)
			whole(t, a, err)
			if prompts, _ := s.Requests(); len(prompts) != len(faults)+1 {
				t.Errorf("%d requests after %d faults", len(prompts), len(faults))
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	s := llmtest.New(llmtest.Status(429, "1", `{"error":{"message":"slow down"}}`))
	a, err := client(t, s, nil).Analyze(t.Context(), text)
	whole(t, a, err)
	_, times := s.Requests()
	if gap := times[1].Sub(times[0]); gap < time.Second || gap > 5*time.Second {
		t.Errorf("came back after %v; the server asked for 1 s", gap)
	}

	// More than the bound is not sat out, and the server is not asked earlier.
	s = llmtest.New(llmtest.Status(429, "3600", `{"error":{"message":"quota"}}`))
	_, err = client(t, s, nil).Analyze(t.Context(), text)
	if err == nil || !strings.Contains(err.Error(), "429 Too Many Requests: quota") || !strings.Contains(err.Error(), "wait 1h0m0s") {
		t.Errorf("an hour's wait: %v", err)
	}
	if prompts, _ := s.Requests(); len(prompts) != 1 {
		t.Errorf("%d requests", len(prompts))
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for h, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0.5": 500 * time.Millisecond, "0": 0, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0, "1e300": 1e6 * time.Second, "": -1, "-1": -1, "soon": -1, "NaN": -1,
	} {
		if got, ok := parseRetryAfter(h, now); ok != (want >= 0) || ok && got != want {
			t.Errorf("Retry-After %q: %v, %v", h, got, ok)
		}
	}
}

// TestGivesUp: faults that stay are reported after the allowed tries, and
// faults that another try cannot change at once. Half an answer is never
// taken.
func TestGivesUp(t *testing.T) {
	three := func(a llmtest.Answer) []llmtest.Answer { return []llmtest.Answer{a, a, a} }
	for name, tc := range map[string]struct {
		script []llmtest.Answer
		tries  int
		want   string
	}{
		"always 503":    {three(llmtest.Status(503, "0", "")), 3, "503 Service Unavailable (after 3 tries)"},
		"always cut":    {three(llmtest.CutOff(half)), 3, "cut off before its end"},
		"always unsaid": {three(llmtest.Say(half, "")), 3, "cut off before its end"},
		"length":        {three(llmtest.Say(half, "length")), 1, `finish_reason "length"`},
		"key":           {three(llmtest.Status(401, "", `{"error":{"message":"Bad key sk-secret given"}}`)), 1, "401 Unauthorized: Bad key [key] given; check the API key"},
		"model":         {three(llmtest.Status(404, "", `{"error":{"message":"no such model"}}`)), 1, "no such model; check the endpoint's path"},
		"bad request":   {three(llmtest.Status(400, "", "plain text")), 1, "400 Bad Request"},
		"endless":       {three(llmtest.Say(strings.Repeat("x", maxAnswerBytes+1), "stop")), 1, "longer than 256 KiB"},
		"wordy":         {three(llmtest.Say(`{"summary":"`+strings.Repeat("x", maxSummaryBytes+1)+`","sentences":[1]}`, "stop")), 3, "summary is longer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(tc.script...)
			a, err := client(t, s, func(c *Config) { c.MaxTries = 3 }).Analyze(t.Context(), text)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if a.Summary != "" || a.Sentences != nil {
				t.Errorf("half an answer came back: %+v", a)
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.Tries != tc.tries {
				t.Errorf("error %#v, want %d tries", err, tc.tries)
			}
			if prompts, _ := s.Requests(); len(prompts) != tc.tries {
				t.Errorf("%d requests, want %d", len(prompts), tc.tries)
			}
		})
	}
	// Nobody listens.
	s := llmtest.New()
	c := client(t, s, func(c *Config) { c.MaxTries = 2 })
	s.Close()
	if _, err := c.Analyze(t.Context(), text); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("closed server: %v", err)
	}
}

func TestHang(t *testing.T) {
	for _, sent := range []string{"", half} {
		// Both before the first byte and after a whole-looking half.
		s := llmtest.New(llmtest.Hang(sent))
		begin := time.Now()
		a, err := client(t, s, func(c *Config) { c.Timeout = 200 * time.Millisecond }).Analyze(t.Context(), text)
		whole(t, a, err)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
	}
	s := llmtest.New(llmtest.Hang(half), llmtest.Hang(half))
	_, err := client(t, s, func(c *Config) { c.Timeout, c.MaxTries = 100*time.Millisecond, 2 }).Analyze(t.Context(), text)
	if err == nil || !strings.Contains(err.Error(), "no whole answer after 100ms (after 2 tries)") {
		t.Errorf("hanging for good: %v", err)
	}
}

func TestCancel(t *testing.T) {
	for name, fault := range map[string]llmtest.Answer{
		"while it answers": llmtest.Hang(half),
		"while we wait":    llmtest.Status(503, "20", ""),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := llmtest.New(func(w http.ResponseWriter, r *http.Request, p string) {
				time.AfterFunc(100*time.Millisecond, cancel)
				fault(w, r, p)
			})
			begin := time.Now()
			_, err := client(t, s, nil).Analyze(ctx, text)
			if !errors.Is(err, context.Canceled) || time.Since(begin) > 5*time.Second {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
			if prompts, _ := s.Requests(); len(prompts) != 1 {
				t.Errorf("%d requests", len(prompts))
			}
		})
	}
}

func TestPrompt(t *testing.T) {
	long := docs.Text{Title: "T"}
	for i := range 1000 {
		long.Sentences = append(long.Sentences, fmt.Sprintf("%d %s.", i, strings.Repeat("x", 200)))
	}
	p, n := userPrompt(long)
	if len(p) > maxPromptBytes+1000 || n >= 1000 || n < 200 || !strings.Contains(p, fmt.Sprintf("\n%d. ", n)) {
		t.Errorf("prompt of %d bytes with %d sentences", len(p), n)
	}
	s := llmtest.New(llmtest.Say("```json\n"+fmt.Sprintf(`{"summary":"S\n t","sentences":[%d,1,1,2,3,4,5]}`, n)+"\n```", "stop"))
	a, err := client(t, s, nil).Analyze(t.Context(), long)
	if err != nil || !a.Cut || len(a.Sentences) != analysis.KeySentences || a.Sentences[0].N != n || a.Sentences[4].N != 4 || a.Summary != "S t" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{}, {BaseURL: "localhost:80", Model: "m"}, {BaseURL: "ftp://x", Model: "m"}, {BaseURL: "http://x/v1"}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("accepted %+v", cfg)
		}
	}
}
