package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/limit"
	"github.com/pawlgo/pawl/retry"
)

// agent answers a task with the help of a model and of tools.
type agent struct {
	model    *client
	tools    []tool
	limit    *limit.Limiter
	turns    int // how often the model may be asked
	parallel int // tools at once
	say      func(format string, args ...any)
	watch    watch
}

// answer is the whole agent: a plain loop over a plain slice. Nothing of the conversation is saved as
// such. It is rebuilt on every start from the recorded answers of the model and of the tools.
func (a *agent) answer(ctx context.Context, task string) (string, error) {
	msgs := []json.RawMessage{message("system", instructions), message("user", task)}
	for turn := range a.turns {
		tc := pawl.Scope(ctx, fmt.Sprint("turn/", turn))
		m, err := a.ask(tc, turn, msgs)
		if err != nil {
			return "", err
		}
		text, calls, err := understand(turn, m)
		if err != nil || len(calls) == 0 {
			return text, err
		}
		results, err := pawl.Map(tc, "tool", calls, place, a.use, pawl.Parallel(a.parallel))
		if err != nil {
			return "", err
		}
		msgs = append(append(msgs, m), results...) // one result for each call, in the order of the calls
	}
	return "", fmt.Errorf("no answer after %d turns; what was done is recorded, and -turns allows more", a.turns)
}

// ask calls the model, once for each conversation. What it says is kept as it came, byte for byte:
// this program need not understand all of it, and some vendors refuse a conversation in which
// their signatures have changed.
func (a *agent) ask(ctx context.Context, turn int, msgs []json.RawMessage) (json.RawMessage, error) {
	at := fmt.Sprintf("turn/%d/model", turn)
	a.watch.see("before", at, nil)
	m, err := pawl.Step(ctx, "model", func(ctx context.Context) (json.RawMessage, error) {
		a.watch.see("begun", at, nil)
		a.say("%s: %d messages", at, len(msgs))
		m, err := a.model.complete(ctx, msgs, definitions(a.tools))
		if err != nil {
			a.say("%s: %v", at, err)
			return nil, err
		}
		a.watch.see("effect", at, nil)
		return m, nil
	}, pawl.WithInput(msgs), a.limit, retry.With(retry.Policy{
		Tries: 6, Base: 500 * time.Millisecond, Timeout: 5 * time.Minute, If: mayPass,
	}))
	if err == nil {
		a.watch.see("acked", at, m)
	}
	return m, err
}

// place is a tool call's key: where it stands in the model's answer. The IDs that models give
// are no keys: many local ones name the first call of every turn call_0, or all calls alike.
// What is called, and with what, is the item, which pawl compares by its content.
func place(c call) string { return fmt.Sprint(c.Place) }
