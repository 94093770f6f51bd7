package adk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawlgo/pawl"
	"google.golang.org/adk/v2/session"
)

// AppendEvent adds an event to a session that this service returned, durably, and then to cur.
// Partial events are not stored, and neither is state that begins with "temp:". In a run, with a
// session that was read in it, *ev becomes what is stored, and an event that an earlier start
// stored, with its ID and time, is not stored again.
//
// What an event changes of the state that sessions share is durable before the event is; a
// process that dies between has changed it without the event.
func (s *SessionService) AppendEvent(ctx context.Context, cur session.Session, ev *session.Event) error {
	if cur == nil || ev == nil {
		return fmt.Errorf("%w: adk: an append needs a session and an event", pawl.ErrInvalid)
	}
	if ev.Partial {
		return nil
	}
	sess, ok := cur.(*runSession)
	if !ok {
		return fmt.Errorf("%w: adk: session %q is a %T, which another service made", pawl.ErrInvalid, cur.ID(), cur)
	}
	sess.append.Lock()
	defer sess.append.Unlock()
	delta := ev.Actions.StateDelta
	if sess.writer == "" || !inRun(ctx) {
		event, err := encode(lasting(ev))
		if err != nil {
			return err
		}
		n, err := s.storeEvent(ctx, sess, "", event, delta)
		if err != nil {
			return err
		}
		kept := &session.Event{}
		if err := decode(event, kept); err != nil {
			return err
		}
		sess.take(n, kept, delta)
		return nil
	}
	if id, ok := sess.renamed[ev.InvocationID]; ok {
		ev.InvocationID = id // one invocation is one in the session, however many starts it took
	}
	event, err := encode(lasting(ev))
	if err != nil {
		return err
	}
	key := "append " + nameOf(sess.app, sess.user, sess.id) + " " + digest(withoutIDs(lasting(ev)))[:16]
	n, _, err := numbered(ctx, key, func(ctx context.Context) (int, error) {
		once := pawl.IdempotencyKey(ctx)
		if n, ok := sess.done[once]; ok {
			return n, nil // it died behind its append
		}
		return s.storeEvent(ctx, sess, once, event, delta)
	})
	if err != nil {
		return err
	}
	// What the agent goes on with is what is stored, now as on every later start: an empty
	// map is none there.
	kept, before := &session.Event{}, sess.left[n]
	if before != nil {
		delete(sess.left, n)
		sess.renamed[ev.InvocationID] = before.InvocationID
		kept = before
	} else if err := decode(event, kept); err != nil {
		return err
	}
	*ev = *kept
	sess.take(n, kept, delta)
	return nil
}

// storeEvent stores an event and returns its number. Once names the step of a run that appends it, "" if
// none does: a step that died behind its append finds it done.
func (s *SessionService) storeEvent(ctx context.Context, sess *runSession, once string, event json.RawMessage, delta map[string]any) (n int, err error) {
	err = s.own(ctx, sessionRun(sess.app, sess.user, sess.id), func(ctx context.Context, r *pawl.Run) error {
		n, err = s.storeAsOwner(ctx, r, sess, once, event, delta)
		if err == nil && n%128 == 0 {
			r.Compact() //nolint:errcheck // of what the openings wrote; the event is durable whatever comes of it
		}
		return err
	}, pawl.MustExist())
	return n, err
}

func (s *SessionService) storeAsOwner(ctx context.Context, r *pawl.Run, sess *runSession, once string, event json.RawMessage, delta map[string]any) (n int, err error) {
	text, err := pawl.Step(ctx, "create", func(context.Context) (json.RawMessage, error) { return nil, noSession(r.ID()) })
	if err != nil {
		return 0, err
	}
	var c created
	if err := decode(text, &c); err != nil {
		return 0, err
	}
	if c.UID != sess.uid {
		return 0, changed(r.ID(), "deleted and created again")
	}
	n = r.Resumed().Steps // the creation, and the events before
	if n-1 > sess.knows() {
		st, err := s.read(ctx, r.ID())
		if err != nil {
			return 0, err
		}
		for _, e := range st.events[sess.knows():] {
			switch {
			case once != "" && e.Once == once:
				return e.N, nil // an append that failed was there all the same
			case sess.writer == "" || e.Writer != sess.writer:
				// What an earlier start of the same work left is not somebody else's.
				return 0, changed(r.ID(), "changed by somebody else")
			}
		}
	}
	_, err = pawl.Step(ctx, fmt.Sprint("event ", n), func(ctx context.Context) (json.RawMessage, error) {
		app, user, _ := split(delta)
		if err := s.share(ctx, sharedRun(sess.app), app); err != nil {
			return nil, err
		}
		if err := s.share(ctx, sharedRun(sess.app, sess.user), user); err != nil {
			return nil, err
		}
		return encode(appended{N: n, Writer: sess.writer, Once: once, Event: event})
	})
	return n, err
}
