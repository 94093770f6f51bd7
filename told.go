package pawl

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// told is an error that is not pawl's own, as it may be shown: of a value's methods, of a
// migration, the cause of a context's end. Its text went through Redact and is bounded.
type told struct {
	text string
	err  error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.err }

// tell returns err as it may be shown. What pawl says itself is fit for that already.
func tell(redact func(string) string, err error) error {
	switch err.(type) {
	case *RunError, *deadlineError, *told:
		return err
	}
	if err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	text := toldText(redact, err)
	if e, ok := errors.AsType[*told](err); ok && e.text == text {
		return err
	}
	return &told{text, err}
}

// toldText is the message of an error, redacted and bounded.
func toldText(redact func(string) string, err error) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("an error of type %T, whose text cannot be told: its Error method, or Redact, panics", err)
		}
	}()
	return bounded(hidden(redact, strings.ToValidUTF8(err.Error(), "\ufffd"))) // before it is cut: half a secret is one too
}

// hidden returns a text as it may be written.
func hidden(redact func(string) string, text string) string {
	if redact == nil {
		return text
	}
	return strings.ToValidUTF8(redact(text), "\ufffd")
}

// ended says why ctx is done, as it may be shown.
func (s *Store) ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || cause == err {
		return err
	}
	return joined{err, tell(s.redact, cause)}
}

// shown is as much of a text that was refused as an error tells.
func (s *Store) shown(text string) string {
	return shown(hidden(s.redact, strings.ToValidUTF8(text, "\ufffd")))
}
