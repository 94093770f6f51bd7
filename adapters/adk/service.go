package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
)

// SessionService keeps sessions in a pawl store. It is safe for concurrent use, and by several
// processes on one store.
//
// Each session is a run of the store, adk/session/<app>/<user>/<id>, that is owned only while
// something is appended; readers own nothing. When Create or AppendEvent return nil what
// they did is durable. A writer waits up to 10 seconds for another one, then it gets
// [pawl.ErrLocked] with the other's host and process. Names are escaped and may have 512 bytes
// together.
//
// A session that was changed by somebody else since it was read takes no more events through the older
// reading: AppendEvent is [pawl.ErrConflict] then, nothing is written, and the session must be read
// again. So is one that was deleted, or deleted and created again. A session that is not
// there is [pawl.ErrNotFound].
//
// Inside of a run, that is with a context that carries one, Create, Get and AppendEvent are steps of
// that run. A later start of it gets the session as it was at the first one, and the events that it
// appends again are those that are stored: they are told by what they say, not by their IDs
// and times. So the transcript that a model sees is the same on every start, and the stored one has
// no event twice.
type SessionService struct {
	store  *pawl.Store
	owners owners
}

var _ session.Service = (*SessionService)(nil)

// NewSessionService returns the sessions of a store. They need no other preparation, and
// closing the store is all that ends their use.
func NewSessionService(store *pawl.Store) *SessionService { return &SessionService{store: store} }

// creation is the step of a Create in a run.
type creation struct {
	ID    string         `json:"id"`
	UID   string         `json:"uid"`
	Token string         `json:"token"`
	App   map[string]any `json:"app"`
	User  map[string]any `json:"user"`
}

// Create makes a session. If it exists already that is [pawl.ErrConflict]. In a run a session
// without an ID gets one that is the same on every start.
func (s *SessionService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req.AppName == "" || req.UserID == "" {
		return nil, fmt.Errorf("%w: adk: a session needs the names of an app and a user", pawl.ErrInvalid)
	}
	id := req.SessionID
	if !inRun(ctx) {
		if id == "" {
			id = platform.NewUUID(ctx)
		}
		st, err := s.create(ctx, req, id, "")
		if err != nil {
			return nil, err
		}
		app, user, err := s.shared(ctx, req.AppName, req.UserID)
		if err != nil {
			return nil, err
		}
		return &session.CreateResponse{Session: st.view(0, app, user)}, nil
	}
	c, st, err := recalled(ctx, "create "+nameOf(req.AppName, req.UserID, id), func(ctx context.Context) (c creation, st *stored, err error) {
		c.Token = pawl.IdempotencyKey(ctx)
		if c.ID = id; id == "" {
			c.ID = c.Token
		}
		if st, err = s.create(ctx, req, c.ID, c.Token); err != nil {
			return c, nil, err
		}
		c.UID = st.UID
		c.App, c.User, err = s.shared(ctx, req.AppName, req.UserID)
		return c, st, err
	})
	if err != nil {
		return nil, err
	}
	sess, err := s.again(ctx, sessionRun(req.AppName, req.UserID, c.ID), st, c.UID, 0, c.App, c.User, c.Token)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: sess}, nil
}

// create makes a session. If the writer, a step of a run, did it before, that is it.
func (s *SessionService) create(ctx context.Context, req *session.CreateRequest, id, writer string) (*stored, error) {
	app, user, own := split(req.State)
	st := &stored{created: created{App: req.AppName, User: req.UserID, ID: id, UID: platform.NewUUID(ctx), Writer: writer, At: platform.Now(ctx), State: own}}
	run := sessionRun(req.AppName, req.UserID, id)
	err := s.own(ctx, run, func(ctx context.Context, _ *pawl.Run) error {
		text, err := encode(st.created)
		if err != nil {
			return err
		}
		fresh := false
		text, err = pawl.Step(ctx, "create", func(ctx context.Context) (json.RawMessage, error) {
			fresh = true
			if err := s.share(ctx, sharedRun(req.AppName), app); err != nil {
				return nil, err
			}
			return text, s.share(ctx, sharedRun(req.AppName, req.UserID), user)
		})
		if err != nil {
			return err
		}
		st.created = created{}
		if err := decode(text, &st.created); err != nil {
			return err
		}
		if !fresh && (writer == "" || st.Writer != writer) {
			return fmt.Errorf("%w: adk: session %q of user %q exists already", pawl.ErrConflict, id, req.UserID)
		}
		return nil
	}, pawl.RunKind("adk-session"))
	return st, err
}

// sight is the step of a Get in a run: what it saw.
type sight struct {
	Found bool           `json:"found"` // that there was none is an answer too
	UID   string         `json:"uid,omitempty"`
	Known int            `json:"known"`
	Token string         `json:"token,omitempty"`
	App   map[string]any `json:"app"`
	User  map[string]any `json:"user"`
}

// Get reads a session.
func (s *SessionService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req.AppName == "" || req.UserID == "" || req.SessionID == "" {
		return nil, fmt.Errorf("%w: adk: a session has the names of an app and a user and an ID", pawl.ErrInvalid)
	}
	run := sessionRun(req.AppName, req.UserID, req.SessionID)
	var sess *runSession
	if inRun(ctx) {
		saw, st, err := recalled(ctx, "get "+nameOf(req.AppName, req.UserID, req.SessionID), func(ctx context.Context) (saw sight, st *stored, err error) {
			if st, err = s.read(ctx, run); errors.Is(err, pawl.ErrNotFound) {
				return sight{}, nil, nil
			} else if err != nil {
				return saw, nil, err
			}
			saw = sight{Found: true, UID: st.UID, Known: len(st.events), Token: pawl.IdempotencyKey(ctx)}
			saw.App, saw.User, err = s.shared(ctx, req.AppName, req.UserID)
			return saw, st, err
		})
		if err != nil {
			return nil, err
		}
		if !saw.Found {
			return nil, noSession(run)
		}
		if sess, err = s.again(ctx, run, st, saw.UID, saw.Known, saw.App, saw.User, saw.Token); err != nil {
			return nil, err
		}
	} else {
		st, err := s.read(ctx, run)
		if err != nil {
			return nil, err
		}
		app, user, err := s.shared(ctx, req.AppName, req.UserID)
		if err != nil {
			return nil, err
		}
		sess = st.view(-1, app, user)
	}
	sess.filter(req.NumRecentEvents, req.After)
	return &session.GetResponse{Session: sess}, nil
}

// filter leaves only the newest events in sight.
func (s *runSession) filter(recent int, after time.Time) {
	from := 0
	if recent > 0 {
		from = max(0, len(s.events)-recent)
	}
	for !after.IsZero() && from < len(s.events) && s.events[from].Timestamp.Before(after) {
		from++
	}
	s.events, s.at = s.events[from:], s.at[from:]
}

// again is a session as a step of a run saw it, with what that run has appended since then at hand. St is
// what is stored, nil if it must be read.
func (s *SessionService) again(ctx context.Context, run string, st *stored, uid string, known int, app, user map[string]any, token string) (*runSession, error) {
	if st == nil {
		var err error
		if st, err = s.read(ctx, run); err != nil {
			return nil, err
		}
	}
	if st.UID != uid || len(st.events) < known {
		return nil, changed(run, "deleted and created again")
	}
	sess := st.view(known, app, user)
	sess.writer, sess.left, sess.done, sess.renamed = token, map[int]*session.Event{}, map[string]int{}, map[string]string{}
	for _, e := range st.events[known:] {
		if e.Writer == token {
			sess.left[e.N], sess.done[e.Once] = e.event, e.N
		}
	}
	return sess, nil
}

func changed(run, how string) error {
	return fmt.Errorf("%w: adk: the session in run %q was %s since it was read; nothing was written, read it again", pawl.ErrConflict, run, how)
}

// List returns the sessions of an app, or of one of its users, with their state and without events. It
// reads each of them, and is no step in a run.
func (s *SessionService) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req.AppName == "" {
		return nil, fmt.Errorf("%w: adk: a list needs the name of an app", pawl.ErrInvalid)
	}
	prefix := sessionRun(req.AppName, req.UserID, "")
	if req.UserID == "" {
		prefix = prefix[:len(prefix)-1]
	}
	resp := &session.ListResponse{Sessions: []session.Session{}}
	for id, err := range s.store.IDs(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		st, err := s.read(ctx, id)
		if errors.Is(err, pawl.ErrNotFound) {
			continue // deleted meanwhile, or not created yet
		}
		if err != nil {
			return nil, err
		}
		app, user, err := s.shared(ctx, st.App, st.User)
		if err != nil {
			return nil, err
		}
		sess := st.view(-1, app, user)
		sess.events, sess.at = nil, nil
		resp.Sessions = append(resp.Sessions, sess)
	}
	return resp, nil
}

// Delete removes a session, with its history. One that is not there is no error. What sessions share
// stays. It is no step in a run.
func (s *SessionService) Delete(ctx context.Context, req *session.DeleteRequest) error {
	if req.AppName == "" || req.UserID == "" || req.SessionID == "" {
		return fmt.Errorf("%w: adk: a session has the names of an app and a user and an ID", pawl.ErrInvalid)
	}
	run := sessionRun(req.AppName, req.UserID, req.SessionID)
	leave, err := s.owners.enter(ctx, run)
	if err != nil {
		return err
	}
	defer leave()
	err = s.patiently(ctx, func() error { return s.store.Delete(ctx, run) })
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	return err
}
