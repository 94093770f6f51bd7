package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
)

// doCells are the rows of Do, and of what stands between steps.
func doCells() []cell {
	value := func(context.Context) (string, error) { return "done", nil }
	return []cell{
		{row: "Do, run absent", program: func(p *program) error {
			p.once(die)
			return p.do(value)
		}, want: []string{"killed", `fn = "done"`}},
		{row: "Do, run absent", name: "MustExist", program: func(p *program) error {
			return p.do(value, pawl.MustExist())
		}, want: []string{"! ErrNotFound", "! ErrNotFound"}},
		{row: "Do, in progress", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				if err != nil {
					return "", err
				}
				p.once(die)
				b, err := p.step(ctx, "b")
				return a + " " + b, err
			})
		}, want: []string{"fn a killed", `fn b = "a@1 b@2"`}},
		{row: "Do, failed", program: func(p *program) error {
			err := p.do(func(context.Context) (string, error) {
				if p.start < 3 {
					return "", errors.New("boom")
				}
				return "done", nil
			})
			p.once(die)
			return err
		}, want: []string{"fn ! boom killed", "fn ! boom", `fn = "done"`}},
		{row: "Do, complete", program: func(p *program) error {
			// Text that an encoder would write otherwise on its way back.
			v, err := pawl.Do(context.Background(), p.store, "r", func(context.Context) (json.RawMessage, error) {
				p.effect("fn")
				return json.RawMessage(`{"b":1e2,"a":9007199254740993,"t":"\u0041<"}`), nil
			})
			if err != nil {
				return p.end(nil, err)
			}
			p.effect(string(v))
			p.once(die)
			return nil
		}, want: []string{`fn {"b":1e2,"a":9007199254740993,"t":"\u0041<"} killed`, `{"b":1e2,"a":9007199254740993,"t":"\u0041<"}`, `{"b":1e2,"a":9007199254740993,"t":"\u0041<"}`}},
		{row: "Do, complete, another RunInput", program: func(p *program) error {
			err := p.do(value, pawl.RunInput(map[string]int{"model": min(p.start, 2) % 2}))
			p.once(die)
			return err
		}, want: []string{`fn = "done" killed`, "! ErrInputChanged", "! ErrInputChanged"}},
		{row: "Do, complete, another RunInput", name: "IgnoreInput", program: func(p *program) error {
			opts := []pawl.RunOption{pawl.RunInput(min(p.start, 2))}
			if p.start == 3 {
				opts = append(opts, pawl.IgnoreInput())
			}
			err := p.do(value, opts...)
			p.once(die)
			return err
		}, want: []string{`fn = "done" killed`, "! ErrInputChanged", `= "done"`}},
		{row: "Do, owned by a live process", program: func(p *program) error {
			return p.do(func(context.Context) (string, error) {
				p.once(func() { p.effect("hold"); select {} })
				return "done", nil
			})
		}, want: []string{"fn hold", "! ErrLocked", `fn = "done"`}},
		unreadable("damaged", "! ErrCorrupt", func(text []byte) []byte {
			return bytes.Replace(text, []byte(`a@1`), []byte(`b@1`), 1)
		}),
		unreadable("empty", "! ErrCorrupt", func([]byte) []byte { return nil }),
		unreadable("newer", "! ErrNewerFormat", func([]byte) []byte { return newerJournal() }),
		{row: "plain code between steps", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				p.effect("plain-1")
				a, err := p.step(ctx, "a")
				if err != nil {
					return "", err
				}
				p.effect("plain-2")
				p.once(die)
				return a, nil
			})
		}, want: []string{"fn plain-1 a plain-2 killed", `fn plain-1 plain-2 = "a@1"`}},
	}
}

// unreadable is a cell whose journal is changed between the starts. Whatever comes
// then, not a byte of it may change.
func unreadable(name, want string, change func([]byte) []byte) cell {
	var left []byte
	return cell{
		row: "Do, unreadable", name: name,
		program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				if err == nil {
					_, err = p.step(ctx, "b")
				}
				p.once(die)
				return a, err
			})
		},
		want: []string{"fn a b killed", want, want},
		between: func(t *testing.T, start int, store string) {
			path := filepath.Join(store, "runs", "r.jsonl")
			text, err := os.ReadFile(path)
			ckNil(t, err)
			if start > 1 {
				if !bytes.Equal(text, left) {
					t.Errorf("start %d changed what it could not read", start)
				}
				return
			}
			left = change(text)
			if bytes.Equal(text, left) {
				t.Fatal("nothing was damaged")
			}
			ckNil(t, os.WriteFile(path, left, 0o600))
		},
	}
}
