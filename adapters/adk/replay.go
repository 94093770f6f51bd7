package adk

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"google.golang.org/adk/v2/session"
)

// recalled does a step whose function finds more than what is recorded: more is nil when the
// record was there.
func recalled[T, M any](ctx context.Context, key string, fn func(ctx context.Context) (T, *M, error)) (v T, more *M, err error) {
	text, _, err := numbered(ctx, key, func(ctx context.Context) (json.RawMessage, error) {
		v, m, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		more = m
		return encode(v)
	})
	if err == nil {
		err = decode(text, &v)
	}
	return v, more, err
}

// nameOf names a session in the key of a step.
func nameOf(app, user, id string) string {
	d := digest([]string{app, user, id})[:8]
	if len(id) > 64 {
		return d
	}
	return id + " " + d
}

// withoutIDs is an event as far as it is the same on every start.
func withoutIDs(ev *session.Event) *session.Event {
	c := *ev
	c.ID, c.InvocationID, c.Timestamp = "", "", time.Time{}
	c.LongRunningToolIDs = make([]string, len(ev.LongRunningToolIDs))
	if ev.Content != nil {
		content := *ev.Content
		content.Parts = nil
		for _, p := range ev.Content.Parts {
			if p != nil && (p.FunctionCall != nil || p.FunctionResponse != nil) {
				part := *p
				if p.FunctionCall != nil {
					call := *p.FunctionCall
					call.ID, part.FunctionCall = "", &call
				}
				if p.FunctionResponse != nil {
					r := *p.FunctionResponse
					r.ID, part.FunctionResponse = "", &r
				}
				p = &part
			}
			content.Parts = append(content.Parts, p)
		}
		c.Content = &content
	}
	if ev.RequestedInput != nil {
		r := *ev.RequestedInput
		r.InterruptID, c.RequestedInput = "", &r
	}
	c.Actions.RequestedToolConfirmations = nil
	c.Actions.StateDelta = maps.Clone(ev.Actions.StateDelta)
	return &c
}
