package pawl

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxKey bounds a full key in bytes: it is held in memory for every step.
const maxKey = 1024

// scope is what the context carries: the run, the prefix for keys, and the
// context that the run itself was given, whose end is an interruption.
type scope struct {
	run    *Run
	prefix string
	base   context.Context //nolint:containedctx // to tell the run's end from a step's own timeout
}

type scopeKey struct{}

func scopeOf(ctx context.Context) (*scope, error) {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return nil, &RunError{Op: "find the run", Err: ErrNoRun, Hint: "use the context that Do, Step or Map gave to your function, or one derived from it"}
	}
	return s, nil
}

func (s *scope) with(ctx context.Context, prefix string) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{run: s.run, prefix: prefix, base: s.base})
}

// join returns the full key of key in this scope.
func (s *scope) join(key string) (string, error) {
	full := key
	if s.prefix != "" {
		full = s.prefix + "/" + key
	}
	reason := ""
	switch {
	case key == "":
		reason = "a key must not be empty"
	case !utf8.ValidString(key):
		reason = "a key must be valid UTF-8"
	case strings.IndexByte(key, 0) >= 0:
		reason = "a key must not contain a NUL byte"
	case len(full) > maxKey:
		reason = fmt.Sprintf("a key of %d bytes with its scope; the limit is %d", len(full), maxKey)
	}
	if reason != "" {
		return "", &RunError{Op: "start", RunID: s.run.id, Key: strings.ToValidUTF8(full[:min(len(full), maxKey)], "\ufffd"), Err: fmt.Errorf("%w: %s", ErrInvalid, reason)}
	}
	return full, nil
}

// Scope returns a context in which every key is prefixed by name and a slash, as
// in "turn/3/model". It is how equal names in a loop are told apart:
//
//	tc := pawl.Scope(ctx, fmt.Sprint("turn/", turn))
//
// A Step's function and a Map's items have their own key as scope already. Name
// must come from data or recorded results, like every key. A context without a
// run is returned as it is; Step then says [ErrNoRun].
func Scope(ctx context.Context, name string) context.Context {
	s, err := scopeOf(ctx)
	if err != nil {
		return ctx
	}
	prefix := name
	if s.prefix != "" {
		prefix = s.prefix + "/" + name
	}
	return s.with(ctx, prefix)
}

// interrupted reports whether err is the run being stopped rather than work that
// failed: its own context is done, it waits, or it was cancelled or taken over.
// A step's own timeout is a failure: then the run's context is still alive.
func (s *scope) interrupted(err error) bool {
	return s.base.Err() != nil || isStop(err)
}
