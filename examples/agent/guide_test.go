package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
	"github.com/pawlgo/pawl/pawltest/fakeopenai"
)

// What docs/agents.md shows beside the example itself.

// colleague is a tool behind which another agent works. Its turns are steps inside of the tool's step,
// so a crash in the middle of its work costs one of its calls, not all.
func (a *agent) colleague() tool {
	b := *a
	b.tools, b.turns = nil, 5
	return tool{
		name: "ask_colleague", about: "Asks a colleague who knows the law.",
		parameters: `{"type":"object","properties":{"question":{"type":"string"}},"required":["question"]}`,
		run: func(ctx context.Context, args json.RawMessage) (string, error) {
			var in struct{ Question string }
			if err := strict(args, &in); err != nil {
				return "", err
			}
			return b.answer(ctx, in.Question)
		},
	}
}

func TestSubAgent(t *testing.T) {
	down := true
	srv := httptest.NewServer(newScript(fakeopenai.Config{Answer: func(r fakeopenai.Request) fakeopenai.Reply {
		switch {
		case r.Last("user") == "may we?" && down:
			return fakeopenai.Reply{Status: 400, Text: "out of order"}
		case r.Last("user") == "may we?":
			return fakeopenai.Reply{Text: "no"}
		case turnOf(r) == 0:
			return calls("ask_colleague", `{"question":"may we?"}`)
		}
		return fakeopenai.Reply{Text: "The colleague says " + r.Last("tool") + "."}
	}}, 0))
	defer srv.Close()
	a := newAgent(t)
	a.model.url = srv.URL + "/v1"
	a.tools = append(a.tools, a.colleague())
	store := pawltest.NewStore(t)
	work := func(ctx context.Context) (string, error) { return a.answer(ctx, "help") }
	if _, err := pawl.Do(t.Context(), store, "r", work); err == nil || !strings.Contains(err.Error(), `"turn/0/tool/0/run/turn/0/model" failed`) {
		t.Fatal(err) // not told to the model: it may pass
	}
	down = false
	if out, err := pawl.Do(t.Context(), store, "r", work); out != "The colleague says no." || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// mailer is a tool whose effect no key protects: a mail that may have gone out is not sent again before
// somebody has looked.
func mailer(send func(ctx context.Context, args json.RawMessage) (string, error)) tool {
	return tool{
		name: "send_mail", about: "Sends a mail to the customer.",
		parameters: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
		run:        send,
		options:    []pawl.StepOption{pawl.AtMostOnce()},
	}
}

func TestMailOnce(t *testing.T) {
	a := newAgent(t, calls("send_mail", `{"text":"sorry"}`), fakeopenai.Reply{Text: "done"})
	sent := 0
	a.tools = append(a.tools, mailer(func(context.Context, json.RawMessage) (string, error) {
		sent++
		panic("the process dies when the mail is out")
	}))
	store := pawltest.NewStore(t)
	work := func(ctx context.Context) (string, error) { return a.answer(ctx, "help") }
	func() {
		defer func() { recover() }() //nolint:errcheck // it is the death
		pawl.Do(t.Context(), store, "r", work)
	}()
	if _, err := pawl.Do(t.Context(), store, "r", work); !errors.Is(err, pawl.ErrInDoubt) {
		t.Fatal(err)
	}
	if err := store.ResolveDone(t.Context(), "r", "turn/0/tool/0/run", "sent", "ann", "it is in the outbox"); err != nil {
		t.Fatal(err)
	}
	if out, err := pawl.Do(t.Context(), store, "r", work); out != "done" || err != nil || sent != 1 {
		t.Errorf("%q, %v, sent %d times", out, err, sent)
	}
}

// streamed shows an answer as it comes, and returns it when it is whole and recorded.
func streamed(ctx context.Context, screen io.Writer, msgs []json.RawMessage, stream func(context.Context, []json.RawMessage) iter.Seq2[string, error]) (string, error) {
	shown := false
	text, err := pawl.Step(ctx, "model", func(ctx context.Context) (string, error) {
		if pawl.Try(ctx) > 1 {
			fmt.Fprintln(screen, "\n(again, from the beginning)")
		}
		var whole strings.Builder
		for chunk, err := range stream(ctx, msgs) {
			if err != nil {
				return "", err // half an answer is none
			}
			shown = true
			fmt.Fprint(screen, chunk)
			whole.WriteString(chunk)
		}
		return whole.String(), nil
	}, pawl.WithInput(msgs))
	if err == nil && !shown {
		fmt.Fprint(screen, text) // from the record, at once
	}
	return text, err
}

func TestStreamed(t *testing.T) {
	store := pawltest.NewStore(t)
	broken := errors.New("connection reset")
	for i, tt := range []struct {
		chunks []string
		err    error
		screen string
	}{
		{[]string{"to ", "be"}, broken, "to be"},
		{[]string{"or ", "not"}, nil, "\n(again, from the beginning)\nor not"},
		{nil, nil, "or not"},
	} {
		var screen strings.Builder
		pawl.Do(t.Context(), store, "r", func(ctx context.Context) (string, error) { //nolint:errcheck // the screen shows it
			_, err := streamed(ctx, &screen, []json.RawMessage{message("user", "hi")}, func(context.Context, []json.RawMessage) iter.Seq2[string, error] {
				return func(yield func(string, error) bool) {
					for _, c := range tt.chunks {
						yield(c, nil)
					}
					if tt.err != nil {
						yield("", tt.err)
					}
				}
			})
			if err == nil {
				err = errors.New("go on later")
			}
			return "", err
		})
		if screen.String() != tt.screen {
			t.Errorf("start %d: %q", i+1, &screen)
		}
	}
}

// secrets hides what a store must not hold.
func secrets(hidden ...string) func(text string) string {
	hidden = slices.DeleteFunc(hidden, func(s string) bool { return len(s) < 8 }) // "" is in every text
	return func(text string) string {
		for _, s := range hidden {
			text = strings.ReplaceAll(text, s, "[hidden]")
		}
		return text
	}
}

func TestSecrets(t *testing.T) {
	store := pawltest.NewStore(t, pawl.Redact(secrets("", "sk-12345678")))
	out, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (string, error) {
		return pawl.Step(ctx, "say", func(context.Context) (string, error) { return "the key is sk-12345678", nil })
	})
	if out != "the key is [hidden]" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestOtherInstructions: a start that asks something else is refused and breaks nothing.
func TestOtherInstructions(t *testing.T) {
	a := newAgent(t, calls("read_rules", `{"subject":"late"}`), fakeopenai.Reply{Text: "done"})
	store := pawltest.NewStore(t)
	start := func(task string, turns int) (string, error) {
		a.turns = turns
		return pawl.Do(t.Context(), store, "r", func(ctx context.Context) (string, error) { return a.answer(ctx, task) })
	}
	if _, err := start("help", 1); err == nil {
		t.Error("one turn is enough")
	}
	if _, err := start("help!", 5); !errors.Is(err, pawl.ErrInputChanged) || !strings.Contains(err.Error(), "$[1].content") {
		t.Error(err)
	}
	if out, err := start("help", 5); out != "done" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestOnPurpose: what goes on with other instructions when that is wanted.
func TestOnPurpose(t *testing.T) {
	store := pawltest.NewStore(t)
	var did []string
	start := func(instructions string, opt pawl.StepOption) error {
		did = nil
		_, err := pawl.Do(t.Context(), store, "r", func(ctx context.Context) (string, error) {
			tc := pawl.Scope(ctx, "turn/0")
			calls, err := pawl.Step(tc, "model", func(context.Context) ([]call, error) {
				did = append(did, "model "+instructions)
				return []call{{ID: "call_0", Tool: instructions}}, nil
			}, pawl.WithInput(instructions), opt)
			if err == nil {
				_, err = pawl.Map(tc, "tool", calls, place, func(_ context.Context, c call) (string, error) {
					did = append(did, "tool "+c.Tool)
					return "", nil
				}, opt)
			}
			return "", errors.Join(err, errors.New("go on later"))
		})
		return err
	}
	for _, tt := range []struct {
		instructions string
		opt          pawl.StepOption
		did          string
	}{
		{"old", pawl.IgnoreInput(), "[model old tool old]"},
		{"new", pawl.IgnoreInput(), "[]"},
		{"new", pawl.RerunOnChange(), "[model new tool new]"},
		{"new", pawl.RerunOnChange(), "[]"},
	} {
		if err := start(tt.instructions, tt.opt); !strings.Contains(err.Error(), "go on later") || fmt.Sprint(did) != tt.did {
			t.Errorf("%s: %v, %v", tt.instructions, did, err)
		}
	}
}
