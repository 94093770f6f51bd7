package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// telling is a value whose methods put a secret into their errors.
type telling struct{}

func (telling) MarshalText() ([]byte, error) { return nil, errors.New("cannot write " + secret) }
func (*telling) UnmarshalText([]byte) error  { return nil }

// Texts of the program that pawl's own errors quote went through Redact, and are bounded.
func TestRedactSeesWhatMessagesSay(t *testing.T) {
	hide := pawl.Redact(func(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") })
	var logged bytes.Buffer
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), hide, pawl.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	ckNil(t, err)
	check := func(what string, err error, is error) {
		t.Helper()
		switch text := err.Error(); {
		case !errors.Is(err, is):
			t.Errorf("%s: %v is not %v", what, err, is)
		case strings.Contains(text, secret) || !strings.Contains(text, "[hidden]"):
			t.Errorf("%s: %v", what, err)
		}
	}
	in := func(fn func(ctx context.Context) error, opts ...pawl.RunOption) error {
		_, err := run(t, s, func(ctx context.Context) (int, error) { return 0, fn(ctx) }, opts...)
		return err
	}
	tell := func(context.Context) (telling, error) { return telling{}, nil }
	one := func(context.Context) (int, error) { return 1, nil }
	check("result", in(func(ctx context.Context) error { _, err := pawl.Step(ctx, "s", tell); return err }), pawl.ErrInvalid)
	check("at most once", in(func(ctx context.Context) error { _, err := pawl.Step(ctx, "o", tell, pawl.AtMostOnce()); return err }), pawl.ErrInvalid)
	check("input", in(func(ctx context.Context) error {
		_, err := pawl.Step(ctx, "i", one, pawl.WithInput(telling{}))
		return err
	}), pawl.ErrInvalid)
	check("item", in(func(ctx context.Context) error {
		_, err := pawl.Map(ctx, "m", []telling{{}}, func(telling) string { return "k" }, func(ctx context.Context, _ telling) (int, error) { return 1, nil })
		return err
	}), pawl.ErrInvalid)
	check("state", in(func(ctx context.Context) error { return pawl.SaveState(ctx, telling{}) }), pawl.ErrInvalid)
	check("note", in(func(ctx context.Context) error {
		_, err := pawl.Step(ctx, "n", func(ctx context.Context) (int, error) { return 0, pawl.Note(ctx, telling{}) })
		return err
	}), pawl.ErrInvalid)
	check("run input", in(func(context.Context) error { return nil }, pawl.RunInput(telling{})), pawl.ErrInvalid)
	_, err = pawl.Do(t.Context(), s, "other", tell)
	check("run result", err, pawl.ErrInvalid)
	check("resolution", s.ResolveDone(t.Context(), "r", "o", telling{}, "ann", ""), pawl.ErrInvalid)
	cause := errors.New("cannot read " + secret)
	check("migration", in(func(ctx context.Context) error {
		if err := pawl.SaveState(ctx, 1); err != nil {
			return err
		}
		_, _, err := pawl.LoadState[int](ctx, pawl.UnversionedAs(1), pawl.Migrate(1, func([]byte) ([]byte, error) { return nil, cause }))
		if !errors.Is(err, cause) {
			t.Errorf("the migration's own error is lost: %v", err)
		}
		return err
	}), pawl.ErrMismatch)
	check("kind", in(nil, pawl.RunKind(secret+"\x00")), pawl.ErrInvalid)
	check("label", in(nil, pawl.Label(secret, "")), pawl.ErrInvalid)

	stopped := errors.New("stopped for " + secret)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = pawl.Do(ctx, s, "r", func(ctx context.Context) (int, error) {
		cancel(stopped)
		return pawl.Step(ctx, "late", one)
	})
	check("cause", err, stopped)
	_, err = s.Begin(ctx, "r")
	check("cause of a start", err, stopped)
	check("cause of an export", s.Export(ctx, "r", &bytes.Buffer{}), stopped)

	func() {
		defer func() {
			err, ok := recover().(error)
			if !ok {
				t.Fatal("no panic")
			}
			check("panic in a Map", err, stopped)
			if !strings.Contains(err.Error(), "told_test.go") {
				t.Errorf("the stack is missing: %v", err)
			}
		}()
		in(func(ctx context.Context) error { //nolint:errcheck // it panics
			_, err := pawl.Map(ctx, "p", []int{1}, func(int) string { return "k" }, func(context.Context, int) (int, error) { panic(stopped) })
			return err
		})
	}()

	// Level 1 has the same texts.
	ck, err := pawl.OpenFile[telling](filepath.Join(t.TempDir(), "ck.json"), hide)
	ckNil(t, err)
	check("file", ck.Save(telling{}), pawl.ErrInvalid)
	ckNil(t, ck.Close())

	if strings.Contains(history(t, s)+logged.String(), secret) {
		t.Errorf("written or logged: %s%s", history(t, s), logged.String())
	}
}

// long is a value whose error has no end.
type long struct{}

func (long) MarshalText() ([]byte, error) { return nil, errors.New(strings.Repeat("x", 1<<20)) }
func (*long) UnmarshalText([]byte) error  { return nil }

func TestQuotedErrorsAreBounded(t *testing.T) {
	s := openStore(t)
	_, err := run(t, s, func(ctx context.Context) (int, error) { return 0, pawl.SaveState(ctx, long{}) })
	wantErr(t, err, pawl.ErrInvalid)
	if n := len(err.Error()); n > 6<<10 {
		t.Errorf("a message of %d bytes", n)
	}
}

// Two inputs that differ only in what Redact hides are equal.
func TestRedactedInputsAreEqual(t *testing.T) {
	s, err := pawl.Open(filepath.Join(t.TempDir(), "store"), pawl.Redact(func(s string) string { return strings.TrimPrefix(s, "secret ") }))
	ckNil(t, err)
	calls := 0
	for _, in := range []string{"secret value", "value"} {
		run(t, s, func(ctx context.Context) (int, error) { //nolint:errcheck // once more
			_, err := pawl.Step(ctx, "s", func(context.Context) (int, error) { calls++; return 1, nil }, pawl.WithInput(in))
			if err != nil {
				t.Error(err)
			}
			return 0, errors.New("once more")
		}, pawl.RunInput(in))
	}
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
