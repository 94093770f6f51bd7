package pawltest

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// Strict makes everything that pawl would only log an error of the test: recorded steps
// that nobody asks for any more (a key that changed), interrupted writes that were cut
// off, failures that could not be recorded.
func Strict(t testing.TB) pawl.StoreOption { return pawl.Logger(slog.New(strict{t: t})) }

type strict struct {
	t     testing.TB
	attrs []slog.Attr
}

func (strict) Enabled(context.Context, slog.Level) bool { return true }

func (s strict) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		return nil
	}
	var text strings.Builder
	text.WriteString(r.Message)
	for _, a := range s.attrs {
		text.WriteString(" " + a.String())
	}
	r.Attrs(func(a slog.Attr) bool { text.WriteString(" " + a.String()); return true })
	s.t.Errorf("pawltest: %s", text.String())
	return nil
}

func (s strict) WithAttrs(attrs []slog.Attr) slog.Handler {
	s.attrs = append(s.attrs[:len(s.attrs):len(s.attrs)], attrs...)
	return s
}

func (s strict) WithGroup(string) slog.Handler { return s }
