package pawl

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/hook"
)

// maxKey bounds a full key in bytes: it is held in memory for every step.
const maxKey = 1024

// scope is what the context carries: the run, the prefix for keys, and the
// context that the run itself was given, whose end is an interruption.
type scope struct {
	run    *Run
	prefix string
	base   context.Context //nolint:containedctx // to tell the run's end from a step's own timeout
	wrong  string          // why a name given to Scope cannot be one
	step   string          // full key of the step around, "" outside of all steps
	try    int64           // of that step
	live   uint64          // names that try while it is under way
	idem   string          // idempotency key of the step, "" if it comes from the step's key alone
	outer  *scope          // of the step around that step, nil if there is none
	gates  []hook.Gate     // that this try has passed
}

type scopeKey struct{}

func scopeOf(ctx context.Context) (*scope, error) {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return nil, &RunError{Op: "find the run", Err: ErrNoRun, Hint: "use the context that Do, Step or Map gave to your function, or one derived from it"}
	}
	return s, nil
}

// within returns ctx for a try of the step key.
func (s *scope) within(ctx context.Context, key string, t tried, gates []hook.Gate) context.Context {
	return &scoped{ctx, scope{run: s.run, prefix: key, base: s.base, step: key, try: t.n, live: t.live, idem: t.idem, outer: s, gates: gates}}
}

// scoped is a context that carries a scope, as [context.WithValue] would, in one
// allocation: every step makes one.
type scoped struct {
	context.Context
	scope scope
}

func (c *scoped) Value(key any) any {
	if key == (scopeKey{}) {
		return &c.scope
	}
	return c.Context.Value(key)
}

// escaper keeps a slash in a name from looking like a border between names, as RFC
// 6901 does in JSON pointers: without it the item "x/fetch" would be the step "fetch"
// inside the item "x".
var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// join returns the full key of a step or an item in this scope.
func (s *scope) join(name string) (string, error) {
	full := escaper.Replace(name)
	if s.prefix != "" {
		full = s.prefix + "/" + full
	}
	reason := s.wrong
	switch {
	case reason != "":
	case name == "":
		reason = "a key must not be empty"
	default:
		reason = wrongName("a key", full)
	}
	if reason != "" {
		return "", &RunError{Op: "start", RunID: s.run.id, Key: strings.ToValidUTF8(full[:min(len(full), maxKey)], "\ufffd"), Err: fmt.Errorf("%w: %s", ErrInvalid, reason), Hint: "fn was not called"}
	}
	return full, nil
}

func wrongName(what, name string) string {
	switch {
	case !utf8.ValidString(name):
		return what + " must be valid UTF-8"
	case strings.IndexByte(name, 0) >= 0:
		return what + " must not contain a NUL byte"
	case len(name) > maxKey:
		return fmt.Sprintf("%s of %d bytes with its scope; the limit is %d", what, len(name), maxKey)
	}
	return ""
}

// Scope returns a context in which every key is prefixed by name and a slash, as
// in "turn/3/model". It is how equal names in a loop are told apart:
//
//	tc := pawl.Scope(ctx, fmt.Sprint("turn/", turn))
//
// A slash in name opens a scope inside a scope; a slash in a step's key or in an
// item's is part of its name and is recorded as "~1", and a tilde as "~0" in either. A
// Step's function and a Map's items have their own key as scope already: Scope(ctx, "a")
// and the step "a" are one place, with one state (see [SaveState]). Name must come from
// data or recorded results, like every key; one that cannot be a key, is empty or has an
// empty part ("/", "a/", "a//b") makes every step in it [ErrInvalid], and so does a full
// key above 1,024 bytes. A context without a run is returned as it is; Step then says
// [ErrNoRun].
func Scope(ctx context.Context, name string) context.Context {
	s, err := scopeOf(ctx)
	if err != nil {
		return ctx
	}
	inner := s.scope(strings.ReplaceAll(name, "~", "~0"))
	switch {
	case s.wrong != "":
	case name == "":
		inner.wrong = "a scope must have a name"
	case strings.Contains("/"+name+"/", "//"):
		inner.wrong = "a part of a scope's name, between slashes, must not be empty"
	}
	return context.WithValue(ctx, scopeKey{}, inner)
}

// scope returns a scope in s whose name is escaped already.
func (s *scope) scope(escaped string) *scope {
	inner := *s
	inner.prefix = escaped
	if s.prefix != "" {
		inner.prefix = s.prefix + "/" + escaped
	}
	if inner.wrong == "" {
		inner.wrong = wrongName("a scope", inner.prefix)
	}
	return &inner
}

func init() {
	hook.ScopeOfKey = func(ctx context.Context, key string) context.Context {
		s, err := scopeOf(ctx)
		if err != nil {
			return ctx
		}
		return context.WithValue(ctx, scopeKey{}, s.scope(key))
	}
}

// ended returns why ctx is done: its error, and the cause if that says more.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return joined{err, cause}
}

// interrupted reports whether err is the run being stopped rather than work that
// failed: its own context is done, it waits, or it was cancelled or taken over.
// A step's own timeout is a failure: then the run's context is still alive.
func (s *scope) interrupted(err error) bool {
	return s.halted() && !isLate(s.base) || s.run.isStop(err)
}

// halted reports whether the run's own context is done.
func (s *scope) halted() bool { return s.base.Err() != nil }

// isLate reports whether a run's context ended by the run's deadline: a failure.
func isLate(base context.Context) bool {
	_, late := context.Cause(base).(*deadlineError)
	return late
}
