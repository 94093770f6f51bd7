package fakeopenai_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

func serve(t *testing.T, c fakeopenai.Config) (*fakeopenai.Server, string) {
	t.Helper()
	s := fakeopenai.New(c)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL + "/v1/chat/completions"
}

func ask(text string) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":%q}]}`, text)
}

func post(t *testing.T, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	res, got, err := try(t.Context(), url, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return res, got
}

func try(ctx context.Context, url, body string, headers ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res, string(got), err
}

// normal is JSON without what differs from call to call, in a fixed order.
func normal(t *testing.T, text string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if _, is := m["created"].(float64); is {
		m["created"] = 0
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhole(t *testing.T) {
	s, url := serve(t, fakeopenai.Config{Answer: fakeopenai.Script(
		fakeopenai.Reply{Text: "Hello <there>"},
		fakeopenai.Reply{ToolCalls: []fakeopenai.ToolCall{{"call_1", "weather", `{"city":"Ulm"}`}}, Usage: fakeopenai.Usage{Prompt: 10, Completion: 20}},
		fakeopenai.Reply{Text: "cut", Finish: "length"},
	)})
	for i, want := range []string{
		`{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":"Hello \u003cthere\u003e","role":"assistant"}}],"created":0,"id":"chatcmpl-1","model":"m","object":"chat.completion","usage":{"completion_tokens":4,"prompt_tokens":3,"total_tokens":7}}`,
		`{"choices":[{"finish_reason":"tool_calls","index":0,"logprobs":null,"message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"Ulm\"}","name":"weather"},"id":"call_1","type":"function"}]}}],"created":0,"id":"chatcmpl-2","model":"m","object":"chat.completion","usage":{"completion_tokens":20,"prompt_tokens":10,"total_tokens":30}}`,
		`{"choices":[{"finish_reason":"length","index":0,"logprobs":null,"message":{"content":"cut","role":"assistant"}}],"created":0,"id":"chatcmpl-3","model":"m","object":"chat.completion","usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}}`,
		`{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":"hi","role":"assistant"}}],"created":0,"id":"chatcmpl-4","model":"m","object":"chat.completion","usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}}`,
	} {
		res, got := post(t, url, ask("hi"))
		if got = normal(t, got); got != want || res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d: %v %s\nwant %s", i, res.Status, got, want)
		}
	}
	if n, e := s.Count("hi"), s.Effects("hi"); n != 4 || e != 4 {
		t.Errorf("%d requests, %d effects", n, e)
	}
}

func TestStream(t *testing.T) {
	chunk := func(choices, usage string) string {
		return fmt.Sprintf(`{"choices":[%s],"created":0,"id":"chatcmpl-1","model":"m","object":"chat.completion.chunk"%s}`, choices, usage)
	}
	delta := func(delta, finish string) string {
		return fmt.Sprintf(`{"delta":%s,"finish_reason":%s,"index":0,"logprobs":null}`, delta, finish)
	}
	for name, tt := range map[string]struct {
		reply fakeopenai.Reply
		more  string
		want  []string
		cut   bool
	}{
		"words": {fakeopenai.Reply{Text: "one two  three"}, `"stream":true`, []string{
			chunk(delta(`{"content":"","role":"assistant"}`, "null"), ""), chunk(delta(`{"content":"one "}`, "null"), ""), chunk(delta(`{"content":"two "}`, "null"), ""),
			chunk(delta(`{"content":" "}`, "null"), ""), chunk(delta(`{"content":"three"}`, "null"), ""), chunk(delta(`{}`, `"stop"`), ""),
		}, false},
		"usage": {fakeopenai.Reply{Text: "one"}, `"stream":true,"stream_options":{"include_usage":true}`, []string{
			chunk(delta(`{"content":"","role":"assistant"}`, "null"), `,"usage":null`), chunk(delta(`{"content":"one"}`, "null"), `,"usage":null`), chunk(delta(`{}`, `"stop"`), `,"usage":null`),
			chunk("", `,"usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}`),
		}, false},
		"tools": {fakeopenai.Reply{ToolCalls: []fakeopenai.ToolCall{{"c0", "f", "{}"}, {"c1", "g", "{}"}}}, `"stream":true`, []string{
			chunk(delta(`{"content":"","role":"assistant"}`, "null"), ""),
			chunk(delta(`{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c0","index":0,"type":"function"}]}`, "null"), ""),
			chunk(delta(`{"tool_calls":[{"function":{"arguments":"{}","name":"g"},"id":"c1","index":1,"type":"function"}]}`, "null"), ""),
			chunk(delta(`{}`, `"tool_calls"`), ""),
		}, false},
		"dropped": {fakeopenai.Reply{Text: "one two three", Drop: true}, `"stream":true`, []string{
			chunk(delta(`{"content":"","role":"assistant"}`, "null"), ""), chunk(delta(`{"content":"one "}`, "null"), ""), chunk(delta(`{"content":"two "}`, "null"), ""),
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, url := serve(t, fakeopenai.Config{Answer: fakeopenai.Script(tt.reply)})
			res, body, err := try(t.Context(), url, strings.Replace(ask("hi"), "{", "{"+tt.more+",", 1))
			if (err != nil) != tt.cut || res != nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
				t.Fatalf("%v, %v", res, err)
			}
			var got []string
			lines := bufio.NewScanner(strings.NewReader(body))
			for lines.Scan() {
				if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
					got = append(got, data)
				} else if lines.Text() != "" {
					t.Errorf("line %q", lines.Text())
				}
			}
			if !tt.cut {
				if got[len(got)-1] != "[DONE]" {
					t.Fatalf("no end: %q", got)
				}
				got = got[:len(got)-1]
			}
			for i := range got {
				got[i] = normal(t, got[i])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			want := map[int]int{200: 1}
			if tt.cut {
				want = map[int]int{0: 1}
			}
			if st := s.Statuses(); !maps.Equal(st, want) || s.Effects("hi") != 1 {
				t.Errorf("statuses %v, %d effects", st, s.Effects("hi"))
			}
		})
	}
}

// TestErrors: those that a test asks for, and those of a client that asks wrongly.
func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		reply  fakeopenai.Reply
		body   string
		status int
		want   string // type and code
		header string // Retry-After
	}{
		"500":                 {fakeopenai.Reply{Status: 500}, ask("hi"), 500, "server_error <nil>", ""},
		"503":                 {fakeopenai.Reply{Status: 503, RetryAfter: 1500 * time.Millisecond}, ask("hi"), 503, "service_unavailable_error server_is_overloaded", "2 1500"},
		"429":                 {fakeopenai.Reply{Status: 429, RetryAfter: time.Second}, ask("hi"), 429, "requests rate_limit_exceeded", "1 1000"},
		"401":                 {fakeopenai.Reply{Status: 401, Text: "who are you?"}, ask("hi"), 401, "invalid_request_error invalid_api_key", ""},
		"no JSON":             {fakeopenai.Reply{}, "hi", 400, "invalid_request_error <nil>", ""},
		"no model":            {fakeopenai.Reply{}, `{"messages":[{"role":"user","content":"hi"}]}`, 400, "invalid_request_error <nil>", ""},
		"no messages":         {fakeopenai.Reply{}, `{"model":"m"}`, 400, "invalid_request_error <nil>", ""},
		"a number as content": {fakeopenai.Reply{}, `{"model":"m","messages":[{"role":"user","content":1}]}`, 400, "invalid_request_error <nil>", ""},
		"usage of no stream":  {fakeopenai.Reply{}, strings.Replace(ask("hi"), "{", `{"stream_options":{"include_usage":true},`, 1), 400, "invalid_request_error <nil>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, url := serve(t, fakeopenai.Config{Answer: fakeopenai.Script(tt.reply), RetryAfterMS: true})
			res, got := post(t, url, tt.body)
			var e struct {
				Error struct {
					Message, Type string
					Param, Code   any
				}
			}
			if err := json.Unmarshal([]byte(got), &e); err != nil {
				t.Fatal(err)
			}
			if is := fmt.Sprint(e.Error.Type, " ", e.Error.Code); res.StatusCode != tt.status || is != tt.want || e.Error.Message == "" {
				t.Errorf("%v: %s", res.Status, got)
			}
			if is := strings.TrimSpace(res.Header.Get("Retry-After") + " " + res.Header.Get("Retry-After-Ms")); is != tt.header {
				t.Errorf("Retry-After %q", is)
			}
			if tt.reply.Text != "" && e.Error.Message != tt.reply.Text {
				t.Errorf("message %q", e.Error.Message)
			}
			if st := s.Statuses(); !maps.Equal(st, map[int]int{tt.status: 1}) || s.Effects("hi") != 0 {
				t.Errorf("statuses %v, %d effects", st, s.Effects("hi"))
			}
		})
	}
	_, url := serve(t, fakeopenai.Config{})
	if res, got := post(t, strings.TrimSuffix(url, "s"), ask("hi")); res.StatusCode != 404 || !strings.Contains(got, "/v1/chat/completion,") {
		t.Errorf("%v: %s", res.Status, got)
	}
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
		t.Error(res.Status)
	}
}

// TestKeys: by what requests are counted.
func TestKeys(t *testing.T) {
	s, url := serve(t, fakeopenai.Config{})
	post(t, url, `{"model":"m","messages":[{"role":"user","content":"first"},{"role":"assistant","content":null},{"role":"user","content":[{"type":"text","text":"in "},{"type":"text","text":"parts"}]},{"role":"tool","tool_call_id":"c","content":"7"}]}`)
	if s.Count("in parts") != 1 || s.Records()[0].Key != "in parts" {
		t.Errorf("%+v", s.Records())
	}
	var nth []int
	s, url = serve(t, fakeopenai.Config{
		Key:    func(r fakeopenai.Request) string { return r.Model + " for " + r.Header.Get("X-Run") },
		Answer: func(r fakeopenai.Request) fakeopenai.Reply { nth = append(nth, r.Nth); return fakeopenai.Echo(r) },
	})
	for range 3 {
		post(t, url, ask("hi"), "X-Run", "r1")
	}
	post(t, url, ask("hi"), "X-Run", "r2")
	if s.Count("m for r1") != 3 || s.Effects("m for r2") != 1 || s.Count("hi") != 0 || !slices.Equal(nth, []int{1, 2, 3, 1}) {
		t.Errorf("%+v, %v", s.Records(), nth)
	}
}

// record serves a request without a network: in a bubble there is none.
func record(s http.Handler, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestRate: any window holds as many as it may, what is refused is told when it may come, and
// is let in then.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeopenai.New(fakeopenai.Config{Rate: 3, Per: 10 * time.Second, RetryAfterMS: true})
		start := time.Now()
		for _, at := range []struct {
			second   float64
			status   int
			wait, ms string
			room     string
		}{
			{0, 200, "", "", "2"},
			{1, 200, "", "", "1"},
			{4.5, 200, "", "", "0"},
			{4.5, 429, "6", "5500", "0"},
			{9.9995, 429, "1", "1", "0"},
			{10, 200, "", "", "0"},
			{10.5, 429, "1", "500", "0"},
			{11, 200, "", "", "0"},
			{30, 200, "", "", "2"},
		} {
			time.Sleep(time.Until(start.Add(time.Duration(at.second * float64(time.Second)))))
			w := record(s, ask("hi"))
			h := w.Header()
			if w.Code != at.status || h.Get("Retry-After") != at.wait || h.Get("Retry-After-Ms") != at.ms || h.Get("X-Ratelimit-Remaining-Requests") != at.room || h.Get("X-Ratelimit-Limit-Requests") != "3" {
				t.Errorf("at %vs: %d %v", at.second, w.Code, h)
			}
		}
		if most, st := s.MostIn(10*time.Second), s.Statuses(); most != 6 || !maps.Equal(st, map[int]int{200: 6, 429: 3}) {
			t.Errorf("most in 10s %d, statuses %v", most, st)
		}
		if s.MostIn(time.Nanosecond) != 2 || s.Count("hi") != 6 {
			t.Errorf("most at once %d, let in %d", s.MostIn(time.Nanosecond), s.Count("hi"))
		}
	})
}

// TestConcurrent: as many at once as there may be, and who leaves makes room.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeopenai.New(fakeopenai.Config{Concurrent: 2, Delay: time.Second, RetryAfter: 3 * time.Second})
		for i, want := range []int{200, 200, 429, 200} {
			go func() {
				if w := record(s, ask("hi")); w.Code != want || w.Header().Get("Retry-After") != map[int]string{200: "", 429: "3"}[want] {
					t.Errorf("request %d: %d %v", i, w.Code, w.Header())
				}
			}()
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		if s.MostAtOnce() != 2 {
			t.Errorf("%d at once", s.MostAtOnce())
		}
	})
}

// A client that never has more than n under way is never refused by a server that takes n.
func TestConcurrentIsExact(t *testing.T) {
	const n = 4
	s, url := serve(t, fakeopenai.Config{Concurrent: n})
	var all sync.WaitGroup
	for i := range n {
		body := ask("hi")
		if i%2 == 0 {
			body = strings.Replace(body, "{", `{"stream":true,`, 1)
		}
		all.Go(func() {
			for range 50 {
				if _, _, err := try(t.Context(), url, body); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if st := s.Statuses(); !maps.Equal(st, map[int]int{200: 50 * n}) {
		t.Errorf("statuses %v", st)
	}
}

// TestDelay: work takes its time, and a client that leaves does not undo it.
func TestDelay(t *testing.T) {
	s, url := serve(t, fakeopenai.Config{Delay: 10 * time.Millisecond, Answer: fakeopenai.Script(
		fakeopenai.Reply{Delay: 10 * time.Millisecond}, fakeopenai.Reply{Delay: time.Hour})})
	begin := time.Now()
	post(t, url, ask("patient"))
	if took := time.Since(begin); took < 20*time.Millisecond {
		t.Errorf("took %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := try(ctx, url, ask("hasty")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for i := 0; s.Statuses()[0] == 0; i++ { // it hears of it a little later
		if i == 500 {
			t.Fatal(s.Records())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.Effects("hasty") != 1 {
		t.Error(s.Records())
	}
}

// TestDrop: the work is done and the answer does not arrive.
func TestDrop(t *testing.T) {
	s, url := serve(t, fakeopenai.Config{Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		return fakeopenai.Reply{Text: "done", Drop: r.Nth == 1}
	}})
	if _, _, err := try(t.Context(), url, ask("hi")); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	post(t, url, ask("hi"))
	if st := s.Statuses(); s.Effects("hi") != 2 || !maps.Equal(st, map[int]int{0: 1, 200: 1}) {
		t.Errorf("%d effects, statuses %v", s.Effects("hi"), st)
	}
}

// TestIdempotent: requests with one key are one, whatever became of the answer, and however many
// come at once; one that failed was none.
func TestIdempotent(t *testing.T) {
	s, url := serve(t, fakeopenai.Config{Idempotent: true, Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		switch {
		case r.Key == "dropped" && r.Nth == 1:
			return fakeopenai.Reply{Text: "done", Drop: true}
		case r.Key == "failed" && r.Nth == 1:
			return fakeopenai.Reply{Status: 500}
		case r.Key == "at once":
			return fakeopenai.Reply{Text: fmt.Sprint("answer of ", r.Nth), Delay: 20 * time.Millisecond}
		}
		return fakeopenai.Reply{Text: fmt.Sprint("answer ", r.Nth)}
	}})
	if _, _, err := try(t.Context(), url, ask("dropped"), "Idempotency-Key", "k1"); err == nil {
		t.Error("not dropped")
	}
	_, first := post(t, url, ask("dropped"), "Idempotency-Key", "k1")
	res, second := post(t, url, ask("dropped"), "Idempotency-Key", "k1")
	if first != second || !strings.Contains(first, `"done"`) || res.Header.Get("Idempotent-Replayed") != "true" || s.Effects("dropped") != 1 || s.Count("dropped") != 3 {
		t.Errorf("%s\n%s\n%+v", first, second, s.Records())
	}
	if res, got := post(t, url, ask("another"), "Idempotency-Key", "k1"); res.StatusCode != 400 || !strings.Contains(got, "another body") || s.Effects("another") != 0 {
		t.Errorf("%v %s", res.Status, got)
	}
	if res, _ := post(t, url, ask("failed"), "Idempotency-Key", "k2"); res.StatusCode != 500 {
		t.Error(res.Status)
	}
	if _, got := post(t, url, ask("failed"), "Idempotency-Key", "k2"); !strings.Contains(got, "answer 2") || s.Effects("failed") != 1 {
		t.Error(got)
	}
	var all sync.WaitGroup
	answers := make([]string, 20)
	for i := range answers {
		all.Go(func() { _, answers[i], _ = try(t.Context(), url, ask("at once"), "Idempotency-Key", "k3") })
	}
	all.Wait()
	if slices.Sort(answers); answers[0] == "" || answers[0] != answers[len(answers)-1] || s.Effects("at once") != 1 {
		t.Errorf("%q, %d effects", answers, s.Effects("at once"))
	}
	replayed := 0
	for _, rec := range s.Records() {
		if rec.IdempotencyKey == "k3" && rec.Replayed {
			replayed++
		}
	}
	if replayed != len(answers)-1 {
		t.Errorf("%d replayed", replayed)
	}
	post(t, url, ask("no key"))
	post(t, url, ask("no key"))
	if s.Effects("no key") != 2 {
		t.Error("a request without a key was taken for another")
	}
}

// An Answer that panics is the test's own failure; nobody else waits for it for good.
func TestAnswerPanics(t *testing.T) {
	s := fakeopenai.New(fakeopenai.Config{Idempotent: true, Concurrent: 1, Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		if r.Nth == 1 {
			panic("of the test")
		}
		return fakeopenai.Echo(r)
	}})
	func() {
		defer func() {
			if p := recover(); p != "of the test" {
				t.Error(p)
			}
		}()
		record(s, ask("hi"), "Idempotency-Key", "k")
	}()
	if w := record(s, ask("hi"), "Idempotency-Key", "k"); w.Code != 200 || !bytes.Contains(w.Body.Bytes(), []byte(`"hi"`)) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
