package adk

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"
)

// runSession is a session as one reader sees it: what was stored when it was read, and what has been
// appended through it since. It is safe for concurrent use.
type runSession struct {
	app, user, id string
	uid           string // of this session, and of none that has the same names later

	// writer marks what is appended through this session as the work of one run, "" outside of
	// runs. What earlier starts of that work have stored is in left, by number, until it is
	// appended again, and in done by the step that appended it.
	writer string
	left   map[int]*session.Event
	done   map[string]int

	append sync.Mutex // one append at a time

	mu      sync.RWMutex
	events  []*session.Event
	at      []int // numbers of events, in order
	known   int   // the highest number that this reader knows of
	state   map[string]any
	time    time.Time
	renamed map[string]string // invocation IDs of this start, and those that they are stored as
}

var _ session.Session = (*runSession)(nil)

func (s *runSession) ID() string      { return s.id }
func (s *runSession) AppName() string { return s.app }
func (s *runSession) UserID() string  { return s.user }

func (s *runSession) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.time
}

func (s *runSession) State() session.State { return (*sessionState)(s) }

func (s *runSession) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return eventList(s.events)
}

// knows returns the highest number of an event that this reader knows of.
func (s *runSession) knows() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known
}

// take adds an event that is stored under a number. Its state is applied as it was given, with
// what lives only as long as the invocation.
func (s *runSession) take(n int, ev *session.Event, delta map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.at, n)
	// Readers hold the older slices.
	s.events = slices.Insert(slices.Clip(slices.Clone(s.events)), at, ev)
	s.at = slices.Insert(s.at, at, n)
	s.known = max(s.known, n)
	maps.Copy(s.state, delta)
	s.time = ev.Timestamp
}

// eventList is a list that does not change.
type eventList []*session.Event

func (l eventList) All() iter.Seq[*session.Event] { return slices.Values(l) }
func (l eventList) Len() int                      { return len(l) }

func (l eventList) At(i int) *session.Event {
	if i < 0 || i >= len(l) {
		return nil
	}
	return l[i]
}

// sessionState is the state of a session as its reader sees it. Only what an event carries is
// stored.
type sessionState runSession

func (s *sessionState) Get(key string) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if v, ok := s.state[key]; ok {
		return v, nil
	}
	return nil, session.ErrStateKeyNotExist
}

func (s *sessionState) Set(key string, v any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[key] = v
	return nil
}

func (s *sessionState) All() iter.Seq2[string, any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.All(maps.Clone(s.state))
}

// split tells the scopes of a state apart: what all sessions of an app share, what all of a
// user's do, and the session's own. Keys of the first two lose their prefix. What begins with temp:
// is in none.
func split(state map[string]any) (app, user, own map[string]any) {
	app, user, own = map[string]any{}, map[string]any{}, map[string]any{}
	for k, v := range state {
		if name, ok := strings.CutPrefix(k, session.KeyPrefixApp); ok {
			app[name] = v
		} else if name, ok := strings.CutPrefix(k, session.KeyPrefixUser); ok {
			user[name] = v
		} else if !strings.HasPrefix(k, session.KeyPrefixTemp) {
			own[k] = v
		}
	}
	return app, user, own
}

// join is the inverse of split, into own.
func join(app, user, own map[string]any) map[string]any {
	for k, v := range app {
		own[session.KeyPrefixApp+k] = v
	}
	for k, v := range user {
		own[session.KeyPrefixUser+k] = v
	}
	return own
}

// lasting returns an event without the state that lives only as long as the invocation.
func lasting(ev *session.Event) *session.Event {
	isTemp := func(k string, _ any) bool { return strings.HasPrefix(k, session.KeyPrefixTemp) }
	kept := maps.Clone(ev.Actions.StateDelta)
	maps.DeleteFunc(kept, isTemp)
	if len(kept) == len(ev.Actions.StateDelta) {
		return ev
	}
	copied := *ev
	copied.Actions.StateDelta = kept
	return &copied
}
