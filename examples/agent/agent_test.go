package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// newAgent returns an agent whose model gives answers in turn, picky as ever.
func newAgent(t *testing.T, answers ...fakeopenai.Reply) *agent {
	t.Helper()
	c := fakeopenai.Config{Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		if err := valid(r.Body); err != nil {
			t.Errorf("the model was asked\n%s\n%v", r.Body, err)
			return fakeopenai.Reply{Status: http.StatusBadRequest}
		}
		return answers[turnOf(r)]
	}}
	if answers == nil {
		c.Answer = nil
	}
	srv := httptest.NewServer(newScript(c, 0))
	t.Cleanup(srv.Close)
	shop := &shop{refunds: filepath.Join(t.TempDir(), "refunds.txt")}
	return &agent{
		model: &client{url: srv.URL + "/v1", model: "m", http: srv.Client(), warn: t.Logf},
		tools: shop.tools(), turns: 5, parallel: 4, say: func(string, ...any) {},
		limit: limit.New(srv.URL, 4, limit.Unlimited()),
	}
}

// TestCrashEverywhere dies at every record that the run makes, in memory.
func TestCrashEverywhere(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.parallel = 1
	pawltest.CrashEverywhere(t, func(ctx context.Context, store *pawl.Store) (string, error) {
		work := func(ctx context.Context) (string, error) { return a.answer(ctx, "help") }
		out, err := pawl.Do(ctx, store, "r", work)
		if !errors.Is(err, pawl.ErrWaiting) {
			return out, err
		}
		if err := store.Answer(ctx, "r", question0, endings[2].says, "ann", ""); err != nil {
			return "", err
		}
		return pawl.Do(ctx, store, "r", work)
	})
}

// TestOddCalls: whatever a model calls, each call gets its result, in its place.
func TestOddCalls(t *testing.T) {
	odd := fakeopenai.Reply{}
	for _, c := range [][2]string{
		{"look_up_order", `{"order":9007199254740993}`},
		{"look_up_order", `{"order":9007199254740993}`}, // the same again, under the same ID
		{"look_up_order", `{"order":9007199254740993`},
		{"look_up_order", `{"order":1} {"order":2}`},
		{"look_up_order", `{"orders":1}`},
		{"look_up_order", `{"order":1,"order":2}`},
		{"no/such~tool\x00" + strings.Repeat("x", 2000), `{}`},
		{"read_rules", `{"subject":"\ud83d"}`},
		{"read_rules", ``},
	} {
		odd.ToolCalls = append(odd.ToolCalls, fakeopenai.ToolCall{ID: "call_0", Name: c[0], Arguments: c[1]})
	}
	a := newAgent(t, odd, odd, fakeopenai.Reply{Text: "done"})
	out, err := pawl.Do(t.Context(), pawltest.NewStore(t, pawltest.Strict(t)), "r", func(ctx context.Context) (string, error) {
		return a.answer(ctx, "help")
	})
	if out != "done" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestOddDangerousCall: what a person allows is what runs.
func TestOddDangerousCall(t *testing.T) {
	a := newAgent(t, calls("refund", `{"order":17,"cents":1,"order":9007199254740993}`), fakeopenai.Reply{Text: "done"})
	store := pawltest.NewStore(t)
	work := func(ctx context.Context) (string, error) { return a.answer(ctx, "help") }
	if _, err := pawl.Do(t.Context(), store, "r", work); !errors.Is(err, pawl.ErrWaiting) {
		t.Fatal(err)
	}
	questions, err := store.Questions(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(questions[0].Question); got != `{"tool":"refund","arguments":{"cents":1,"order":9007199254740993}}` {
		t.Errorf("asked: %s", got)
	}
	if err := store.Answer(t.Context(), "r", "turn/0/tool/0/approve", endings[0].says, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if out, err := pawl.Do(t.Context(), store, "r", work); out != "done" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestOpaque: what the program does not understand goes back as it came, white space too, also when it
// comes from the record.
func TestOpaque(t *testing.T) {
	const said = `{ "role": "assistant",
		"thinking": {"b": 1.0, "a": 9007199254740993, "a ": "\u003c<\/é\u00e9 &"},
		"tool_calls": [ {"function": {"name": "read_rules", "arguments": "{\"subject\": \"late\"}", "strict": null}, "id": "call_0"} ] }`
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, string(b))
		m := said
		if strings.Contains(string(b), "postage") {
			m = `{"role":"assistant","content":"done"}`
		}
		fmt.Fprintf(w, `{"choices":[{"message":%s}]}`, m)
	}))
	defer srv.Close()
	a := newAgent(t)
	a.model.url = srv.URL
	store, err := pawl.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := func(ctx context.Context) (string, error) { return a.answer(ctx, "help") }
	a.turns = 1
	if out, err := pawl.Do(t.Context(), store, "r", work); err == nil {
		t.Error(out)
	}
	a.turns = 2
	if out, err := pawl.Do(t.Context(), store, "r", work); out != "done" || err != nil {
		t.Error(out, err)
	}
	if len(seen) != 2 || !strings.Contains(seen[1], said) {
		t.Errorf("%d requests; the last one is\n%s", len(seen), seen[len(seen)-1])
	}
}

// TestTurns: a model that never ends is stopped, and the run goes on when it is allowed more.
func TestTurns(t *testing.T) {
	a := newAgent(t, calls("read_rules", `{"subject":"late"}`), calls("read_rules", `{"subject":"late"}`), fakeopenai.Reply{Text: "done"})
	store := pawltest.NewStore(t)
	for turns, want := range []string{1: "no answer after 1 turns", 2: "no answer after 2 turns", 3: "<nil>"} {
		if turns == 0 {
			continue
		}
		a.turns = turns
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (string, error) { return a.answer(ctx, "help") })
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%d turns: %v", turns, err)
		}
	}
}

// TestPicky: the played model refuses what the services refuse.
func TestPicky(t *testing.T) {
	said := string(sign([]byte(`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}},{"id":"b","function":{"name":"x"}}]}`)))
	user, a, b := `{"role":"user","content":"help"}`, `{"role":"tool","tool_call_id":"a"}`, `{"role":"tool","tool_call_id":"b"}`
	for name, tt := range map[string]struct {
		msgs []string
		want string
	}{
		"good":           {[]string{user, said, a, b, said, a, b}, "<nil>"},
		"an orphan":      {[]string{user, said, a}, "the last calls have no results"},
		"an orphan amid": {[]string{user, said, a, user}, "messages[3]: the call b of x has no result"},
		"out of order":   {[]string{user, said, b, a}, "messages[2]: the result of b where that of a belongs"},
		"one too many":   {[]string{user, said, a, b, b}, "messages[4]: a result without a call"},
		"two bytes":      {[]string{user, strings.Replace(said, `\/`, `/`, 1), a, b}, "messages[1]: this is not what the model said"},
		"a number":       {[]string{user, strings.Replace(said, `993`, `992`, 1), a, b}, "messages[1]: this is not what the model said"},
		"escaped":        {[]string{user, strings.Replace(said, `<&`, `\u003c\u0026`, 1), a, b}, "messages[1]: this is not what the model said"},
	} {
		if got := fmt.Sprint(valid([]byte(`{"messages":[` + strings.Join(tt.msgs, ",") + `]}`))); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
