package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pawlgo/pawl"
	"google.golang.org/adk/v2/session"
)

// A session is a run of the store whose steps are its creation and its events. It never
// completes. What sessions share is a run too, for an app and for each user of it, with one step
// that is begun anew by every change.

func sessionRun(app, user, id string) string {
	return "adk/session/" + url.PathEscape(app) + "/" + url.PathEscape(user) + "/" + url.PathEscape(id)
}

func sharedRun(names ...string) string {
	var id strings.Builder
	id.WriteString("adk/state")
	for _, name := range names {
		id.WriteString("/" + url.PathEscape(name))
	}
	return id.String()
}

// created is the step that makes a run a session.
type created struct {
	App    string         `json:"app"`
	User   string         `json:"user"`
	ID     string         `json:"id"`
	UID    string         `json:"uid"`
	Writer string         `json:"writer,omitempty"`
	At     time.Time      `json:"at"`
	State  map[string]any `json:"state"`
}

// appended is the step of an event.
type appended struct {
	N      int             `json:"n"` // from 1, without gaps
	Writer string          `json:"writer,omitempty"`
	Once   string          `json:"once,omitempty"` // the step of a run that appended it
	Event  json.RawMessage `json:"event"`
}

// stored is what a session's run says.
type stored struct {
	created
	events []storedEvent
}

type storedEvent struct {
	appended
	event *session.Event
}

// read reads a session as somebody who does not own its run: it may grow meanwhile.
func (s *SessionService) read(ctx context.Context, run string) (*stored, error) {
	var st *stored
	for ev, err := range s.store.History(ctx, run) {
		if err != nil {
			return nil, err
		}
		if ev.Kind != "step" {
			continue
		}
		text, err := valueOf(ev.JSON)
		if err != nil {
			return nil, err
		}
		switch {
		case ev.Key == "create":
			st = &stored{}
			if err := decode(text, &st.created); err != nil {
				return nil, err
			}
		case strings.HasPrefix(ev.Key, "event ") && st != nil:
			var e storedEvent
			if err := decode(text, &e.appended); err != nil {
				return nil, err
			}
			e.event = &session.Event{}
			if err := decode(e.Event, e.event); err != nil {
				return nil, err
			}
			st.events = append(st.events, e)
		}
	}
	if st == nil { // a process died between making the run and the session
		return nil, noSession(run)
	}
	return st, nil
}

func noSession(run string) error {
	return fmt.Errorf("%w: adk: there is no session in run %q", pawl.ErrNotFound, run)
}

// valueOf returns the value that a record of a journal holds: as it is, or as a string of its exact
// text if it could not stand in a line.
func valueOf(record []byte) ([]byte, error) {
	var r struct {
		Value json.RawMessage `json:"value"`
		Text  *string         `json:"vs"`
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return nil, fmt.Errorf("%w: adk: %w", pawl.ErrCorrupt, err)
	}
	if r.Text != nil {
		return []byte(*r.Text), nil
	}
	return r.Value, nil
}

// view makes a session of the first n events; n < 0 is all.
func (st *stored) view(n int, app, user map[string]any) *runSession {
	if n < 0 {
		n = len(st.events)
	}
	s := &runSession{app: st.App, user: st.User, id: st.ID, uid: st.UID, time: st.At, state: join(app, user, map[string]any{}), known: n}
	_, _, own := split(st.State)
	maps.Copy(s.state, own)
	for i, e := range st.events[:n] {
		_, _, own := split(e.event.Actions.StateDelta)
		maps.Copy(s.state, own)
		s.events, s.at, s.time = append(s.events, e.event), append(s.at, i+1), e.event.Timestamp
	}
	return s
}

// patience bounds how long an append waits for another process that has the session open. Nobody
// has it for longer than an append takes.
const patience = 10 * time.Second

// own calls fn as the owner of a run, which it creates if opts allow.
func (s *SessionService) own(ctx context.Context, id string, fn func(ctx context.Context, r *pawl.Run) error, opts ...pawl.RunOption) error {
	leave, err := s.owners.enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	var r *pawl.Run
	err = s.patiently(ctx, func() (err error) {
		r, err = s.store.Begin(ctx, id, opts...)
		return err
	})
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // for the second time, unless fn panics
	err = fn(r.Context(ctx), r)
	return errors.Join(err, r.Close())
}

// patiently calls fn until no other process is in its way.
func (s *SessionService) patiently(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := fn()
		if !errors.Is(err, pawl.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// shared returns what all sessions of an app share, and all of a user's. A state that was never
// changed is empty.
func (s *SessionService) shared(ctx context.Context, app, user string) (ofApp, ofUser map[string]any, err error) {
	if ofApp, err = s.sharedState(ctx, sharedRun(app)); err != nil {
		return nil, nil, err
	}
	ofUser, err = s.sharedState(ctx, sharedRun(app, user))
	return ofApp, ofUser, err
}

// sharedAs is the step of a shared state.
type sharedAs struct {
	Rev   int            `json:"rev"`
	State map[string]any `json:"state"`
}

func (s *SessionService) sharedState(ctx context.Context, run string) (map[string]any, error) {
	v, err := s.lastShared(ctx, run)
	return v.State, err
}

func (s *SessionService) lastShared(ctx context.Context, run string) (sharedAs, error) {
	var v sharedAs
	for ev, err := range s.store.History(ctx, run) {
		if errors.Is(err, pawl.ErrNotFound) {
			return v, nil
		}
		if err != nil {
			return v, err
		}
		if ev.Kind == "step" && ev.Key == "state" {
			text, err := valueOf(ev.JSON)
			if err != nil {
				return v, err
			}
			v = sharedAs{}
			if err := decode(text, &v); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// share changes a shared state. Values are assigned, so that doing it twice is doing it once.
func (s *SessionService) share(ctx context.Context, run string, delta map[string]any) error {
	if len(delta) == 0 {
		return nil
	}
	return s.own(ctx, run, func(ctx context.Context, r *pawl.Run) error {
		next, err := s.lastShared(ctx, run)
		if err != nil {
			return err
		}
		next.Rev++
		if next.State == nil {
			next.State = map[string]any{}
		}
		maps.Copy(next.State, delta)
		text, err := encode(next)
		if err != nil {
			return err
		}
		_, err = pawl.Step(ctx, "state", func(context.Context) (json.RawMessage, error) { return text, nil }, pawl.WithInput(next.Rev), pawl.RerunOnChange())
		if err == nil && next.Rev%64 == 0 {
			err = r.Compact() // the older ones are of no use to anybody
		}
		return err
	}, pawl.RunKind("adk-state"))
}

// owners lets goroutines of this process wait for each other.
type owners struct {
	mu sync.Mutex
	in map[string]*seat
}

type seat struct {
	free chan struct{} // holds one token
	n    int           // who sits or waits
}

func (o *owners) enter(ctx context.Context, id string) (leave func(), err error) {
	o.mu.Lock()
	if o.in == nil {
		o.in = map[string]*seat{}
	}
	s := o.in[id]
	if s == nil {
		s = &seat{free: make(chan struct{}, 1)}
		s.free <- struct{}{}
		o.in[id] = s
	}
	s.n++
	o.mu.Unlock()
	gone := func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if s.n--; s.n == 0 {
			delete(o.in, id)
		}
	}
	select {
	case <-s.free:
		return func() { s.free <- struct{}{}; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
