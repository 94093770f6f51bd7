package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

const secret = "sk-test-0000"

// C-68: a secret is in no file, no log and no error that pawl makes.
func TestRedact(t *testing.T) {
	dir := t.TempDir()
	var logged bytes.Buffer
	hide := pawl.Redact(func(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") })
	s, err := pawl.Open(dir, hide, pawl.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	if err != nil {
		t.Fatal(err)
	}
	type creds struct{ Key string }
	has := creds{"Bearer " + secret + "\u2028 \"quoted\" \\"}
	var shown []error
	for range 2 {
		_, err := pawl.Do(t.Context(), s, "r", func(ctx context.Context) (creds, error) {
			v, err := pawl.Step(ctx, "s", func(ctx context.Context) (creds, error) {
				if err := pawl.Note(ctx, secret); err != nil {
					return creds{}, err
				}
				return has, nil
			}, pawl.WithInput(has))
			if err != nil || v.Key != "Bearer [hidden]\u2028 \"quoted\" \\" {
				return creds{}, fmt.Errorf("got %q, %v", v.Key, err)
			}
			if _, _, err := pawl.LoadState[[]any](ctx); err != nil {
				return creds{}, err
			}
			if err := pawl.SaveState(ctx, []any{1, secret, map[string]string{"k": secret}}); err != nil {
				return creds{}, err
			}
			_, err = pawl.Step(ctx, "bad", func(context.Context) (int, error) { return 0, errors.New("401 for " + secret) })
			shown = append(shown, err)
			_, err = pawl.Map(ctx, "m", []creds{has}, func(creds) string { return "k" }, func(context.Context, creds) (int, error) {
				return 0, errors.New(strings.Repeat("x", 4090) + secret)
			})
			shown = append(shown, err)
			return creds{}, errors.New("failed with " + secret)
		}, pawl.RunInput(has), pawl.Label("owner", secret))
		if err == nil {
			t.Fatal("no error")
		}
	}
	func() {
		defer func() { recover() }()                                          //nolint:errcheck // the panic is the point
		pawl.Do(t.Context(), s, "p", func(ctx context.Context) (int, error) { //nolint:errcheck // it panics
			return pawl.Step(ctx, "s", func(context.Context) (int, error) { panic(secret) })
		})
	}()
	if _, err := pawl.Do(t.Context(), s, "c", func(context.Context) (creds, error) { return has, nil }); err != nil {
		t.Fatal(err)
	}
	for _, file := range []func() error{
		func() error {
			ck, err := pawl.OpenFile[creds](filepath.Join(dir, "ck.json"), hide)
			return errors.Join(err, ck.Save(has), ck.Close())
		},
		func() error {
			ck, err := pawl.OpenState[creds](filepath.Join(dir, "ck.jsonl"), hide)
			return errors.Join(err, ck.Save(has), ck.Complete(has), ck.Close())
		},
	} {
		if err := file(); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the secret is in %s", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range shown {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("error: %v", err)
		}
	}
	if strings.Contains(logged.String(), secret) {
		t.Errorf("logged: %s", logged.String())
	}
	if info := mustInspect(t, s, "r"); info.Labels["owner"] != "[hidden]" || strings.Contains(info.Error, secret) {
		t.Errorf("info = %+v", info)
	}
}

func TestLabels(t *testing.T) {
	s := openStore(t)
	one := func(context.Context) (int, error) { return 1, nil }
	for _, bad := range [][2]string{{"", "v"}, {"k", ""}, {"k", "a\x00"}, {strings.Repeat("k", 257), "v"}, {"\xff", "v"}} {
		_, err := pawl.Do(t.Context(), s, "bad", one, pawl.Label(bad[0], bad[1]))
		wantErr(t, err, pawl.ErrInvalid)
	}
	for range 2 {
		if _, err := pawl.Do(t.Context(), s, "r", one, pawl.Label("team", "blue"), pawl.Label("a \"b\"", "\u2028"), pawl.Label("team", "red")); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustInspect(t, s, "r").Labels; len(got) != 2 || got["team"] != "red" || got["a \"b\""] != "\u2028" {
		t.Errorf("labels = %q", got)
	}
}
