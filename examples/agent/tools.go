package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/wait"
)

// tool is something that the model may call.
type tool struct {
	name, about string
	parameters  string // a JSON Schema
	// dangerous says that a person must allow each call.
	dangerous bool
	run       func(ctx context.Context, args json.RawMessage) (string, error)
	// options are for the calls of this tool alone, such as pawl.AtMostOnce.
	options []pawl.StepOption
}

// definitions tells the model of the tools.
func definitions(tools []tool) json.RawMessage {
	var out []any
	for _, t := range tools {
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": t.name, "description": t.about, "parameters": json.RawMessage(t.parameters),
		}})
	}
	return encode(out)
}

// use answers a call. It is an item of a Map: it runs again on every start until it has a result, and
// what is recorded inside it, an approval above all, is there then.
func (a *agent) use(ctx context.Context, c call) (json.RawMessage, error) {
	t, ok := a.find(c.Tool)
	if !ok {
		return c.result("error: there is no tool of that name"), nil
	}
	args, err := plain(c.Arguments)
	if err != nil {
		return c.result("error: the arguments are not JSON: " + err.Error()), nil
	}
	remark := ""
	if t.dangerous {
		decided, err := a.mayI(ctx, c, args)
		if err != nil {
			return nil, err
		}
		if !decided.Approved {
			return c.result("error: a person did not allow this. " + decided.Reason), nil
		}
		if decided.Edited != nil {
			args, remark = decided.Edited, fmt.Sprintf("A person changed the arguments to %s. ", decided.Edited)
		}
	}
	text, err := a.run(ctx, t, c, args)
	if err != nil {
		return nil, err
	}
	return c.result(remark + text), nil
}

// plain gives arguments one meaning: what a person allows is what the tool reads, also where a model
// wrote a member twice or half of a character.
func plain(arguments string) (json.RawMessage, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber() // float64 would change integers above 2^53
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one value")
	}
	return json.Marshal(v)
}

// question is what a person is asked.
type question struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// mayI asks a person. It returns [pawl.ErrWaiting] until there is an answer, which may come while no
// process of this program runs; the other tools of the turn go on meanwhile.
func (a *agent) mayI(ctx context.Context, c call, args json.RawMessage) (wait.Approval, error) {
	at := fmt.Sprintf("turn/%d/tool/%d/approve", c.Turn, c.Place)
	a.watch.see("before", at, nil)
	decided, err := pawl.Await[wait.Approval](ctx, "approve", question{c.Tool, args})
	if errors.Is(err, pawl.ErrWaiting) {
		a.watch.see("asked", at, nil)
	}
	if err == nil {
		a.watch.see("answered", at, nil)
	}
	return decided, err
}

// run lets a tool do its work, once. It is a step of its own, since Map's options are the same for all
// items, and tools differ: a mail must not be sent twice, a search has a limit of its own.
func (a *agent) run(ctx context.Context, t tool, c call, args json.RawMessage) (string, error) {
	at := fmt.Sprintf("turn/%d/tool/%d", c.Turn, c.Place)
	a.watch.see("before", at, nil)
	text, err := pawl.Step(ctx, "run", func(ctx context.Context) (string, error) {
		a.watch.see("begun", at, nil)
		a.say("%s: %s %s", at, c.Tool, args)
		text, err := t.run(ctx, args)
		if err != nil && ends(ctx, err) {
			return "", err
		}
		if err != nil { // one of the tool is a value: the model sees it, and may do better
			text = "error: " + err.Error()
		}
		a.watch.see("effect", at, nil)
		return strings.ToValidUTF8(text, "\ufffd"), nil // what is no text could not be recorded
	}, t.options...)
	if err == nil {
		a.watch.see("acked", at, []byte(text))
	}
	return text, err
}

// ends tells what ends the run for now from what the model should see. The first is an interruption; an
// error of pawl itself: the run waits, has used up its budget, a step inside is in doubt; and the
// failure of a step inside, such as a sub-agent's model that cannot be reached. The next start tries
// again then, where the model would have been told for good.
func ends(ctx context.Context, err error) bool {
	_, ours := errors.AsType[*pawl.RunError](err)
	_, inside := errors.AsType[*pawl.StepError](err)
	return ctx.Err() != nil || ours || inside
}

func (a *agent) find(name string) (tool, bool) {
	for _, t := range a.tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}
