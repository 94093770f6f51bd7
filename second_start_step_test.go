package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl"
)

// stepCells are the rows of Step.
func stepCells() []cell {
	// pay is a step that dies inside, on the first start.
	pay := func(p *program, ctx context.Context, opts ...pawl.StepOption) (string, error) {
		return pawl.Step(ctx, "pay", func(ctx context.Context) (string, error) {
			p.effect(fmt.Sprint("pay-try-", pawl.Try(ctx)))
			p.once(die)
			return p.value("pay"), nil
		}, opts...)
	}
	return []cell{
		{row: "Step with a recorded result", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				a, err := p.step(ctx, "a")
				p.once(die)
				return a, err
			})
		}, want: []string{"fn a killed", `fn = "a@1"`}},
		{row: "Step with a recorded result", name: "live as replayed", program: func(p *program) error {
			type lossy struct {
				Kept string
				Lost string `json:"-"`
			}
			return p.do(func(ctx context.Context) (string, error) {
				v, err := pawl.Step(ctx, "a", func(context.Context) (lossy, error) { p.effect("a"); return lossy{"kept", "lost"}, nil })
				p.effect(fmt.Sprintf("%q", v))
				p.once(die)
				return v.Kept, err
			})
		}, want: []string{`fn a {"kept" ""} killed`, `fn {"kept" ""} = "kept"`}},
		{row: "Step that failed", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				flaky := func() (string, error) {
					return pawl.Step(ctx, "a", func(ctx context.Context) (string, error) {
						p.effect(fmt.Sprint("a-try-", pawl.Try(ctx)))
						if pawl.Try(ctx) < 4 {
							return "", errors.New("overloaded")
						}
						return p.value("a"), nil
					})
				}
				if _, err := flaky(); err == nil {
					return "", errors.New("the first call of a start was to fail")
				}
				v, err := flaky()
				p.once(die)
				return v, err
			})
		}, want: []string{"fn a-try-1 a-try-2 killed", `fn a-try-3 a-try-4 = "a@2"`}},
		{row: "Step under way at the death", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) { return pay(p, ctx) })
		}, want: []string{"fn pay-try-1 killed", `fn pay-try-2 = "pay@2"`}},
		{row: "Step under way at the death", name: "one idempotency key", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "pay", func(ctx context.Context) (string, error) {
					// The witness of the first start is the outside: compare with what it kept.
					name := p.log.Name() + ".key"
					p.once(func() {
						if os.WriteFile(name, []byte(pawl.IdempotencyKey(ctx)), 0o600) == nil {
							die()
						}
					})
					first, err := os.ReadFile(name)
					p.effect(fmt.Sprint("equal-", string(first) == pawl.IdempotencyKey(ctx) && len(first) == 32))
					return "", err
				})
			})
		}, want: []string{"fn killed", `fn equal-true = ""`}},
		{row: "Step under way at the death", name: "with finished steps inside", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "outer", func(ctx context.Context) (string, error) {
					p.effect("outer")
					in, err := p.step(ctx, "in")
					p.once(die)
					return in, err
				})
			})
		}, want: []string{"fn outer in killed", `fn outer = "in@1"`}},
		{row: "Step under way at the death, AtMostOnce", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) { return pay(p, ctx, pawl.AtMostOnce()) })
		}, want: []string{"fn pay-try-1 killed", "fn ! ErrInDoubt", "fn ! ErrInDoubt"}},
		{row: "Step under way at the death, input changed", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) { return pay(p, ctx, pawl.WithInput(p.start)) })
		}, want: []string{"fn pay-try-1 killed", "fn ! ErrInputChanged", "fn ! ErrInputChanged"}},
		{row: "Step under way at the death, input changed", name: "at most once", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				return pay(p, ctx, pawl.WithInput(p.start), pawl.AtMostOnce(), pawl.RerunOnChange())
			})
		}, want: []string{"fn pay-try-1 killed", "fn ! ErrInDoubt", "fn ! ErrInDoubt"}},
		{row: "Step under way at the death, AtMostOnce", name: "resolved done", program: func(p *program) error {
			if p.start == 2 {
				if err := p.store.ResolveDone(context.Background(), "r", "pay", "seen", "ann", "it is on the statement"); err != nil {
					return err
				}
				die()
			}
			return p.do(func(ctx context.Context) (string, error) { return pay(p, ctx, pawl.AtMostOnce()) })
		}, want: []string{"fn pay-try-1 killed", "killed", `fn = "seen"`}},
		{row: "Step under way at the death, AtMostOnce", name: "resolved to run again", program: func(p *program) error {
			if p.start == 2 {
				if err := p.store.ResolveRerun(context.Background(), "r", "pay", "ann", "no trace of it"); err != nil {
					return err
				}
				die()
			}
			return p.do(func(ctx context.Context) (string, error) { return pay(p, ctx, pawl.AtMostOnce()) })
		}, want: []string{"fn pay-try-1 killed", "killed", `fn pay-try-1 = "pay@3"`}},
		{row: "Step under way at the death, AtMostOnce", name: "around one that is finished", program: func(p *program) error {
			if p.start == 2 {
				if err := p.store.ResolveRerun(context.Background(), "r", "order", "ann", "it was not finished"); err != nil {
					return err
				}
				die()
			}
			return p.do(func(ctx context.Context) (string, error) {
				return pawl.Step(ctx, "order", func(ctx context.Context) (string, error) {
					p.effect("order")
					v, err := p.step(ctx, "pay", pawl.AtMostOnce())
					p.once(die)
					return v, err
				}, pawl.AtMostOnce())
			})
		}, want: []string{"fn order pay killed", "killed", `fn order = "pay@1"`}},
		{row: "Step that failed, input changed", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				v, err := pawl.Step(ctx, "a", func(context.Context) (string, error) {
					if p.effect("a"); p.start < 3 {
						return "", errors.New("failed")
					}
					return p.value("a"), nil
				}, pawl.WithInput(p.start))
				if err != nil {
					die()
				}
				return v, err
			})
		}, want: []string{"fn a killed", "fn a killed", `fn a = "a@3"`}},
		{row: "Step that failed, input changed", name: "with a state", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				_, err := pawl.Step(ctx, "a", func(ctx context.Context) (string, error) {
					n, _, err := pawl.LoadState[int](ctx)
					p.effect(fmt.Sprint("a-", n))
					return "", errors.Join(err, pawl.SaveState(ctx, n+1), errors.New("failed"))
				}, pawl.WithInput(p.start%2))
				if p.start != 2 {
					die()
				}
				return "", err
			})
		}, want: []string{"fn a-0 killed", "fn ! ErrInputChanged", "fn a-1 killed"}},
		changed("Step whose input changed", "", []string{"fn outer in killed", "fn paths-[$.model] ! ErrInputChanged", "fn = \"in@1\""}),
		changed("Step whose input changed, RerunOnChange", "", []string{"fn outer in killed", "fn outer in killed", `fn = "in@2"`}, pawl.RerunOnChange()),
		changed("Step whose input changed, IgnoreInput", "", []string{"fn outer in killed", `fn = "in@1"`}, pawl.IgnoreInput()),
		{row: "Step that was renamed, Alias", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				outer := func(ctx context.Context) (string, error) {
					p.effect("outer")
					in, err := p.step(ctx, "in")
					if p.start < 3 { // the second time under its new name
						die()
					}
					return in, err
				}
				if p.start == 1 {
					return pawl.Step(ctx, "old", outer)
				}
				return pawl.Step(ctx, "new", outer, pawl.Alias("old"))
			})
		}, want: []string{"fn outer in killed", "fn outer killed", `fn outer = "in@1"`}},
		{row: "Step that was renamed, Alias", name: "too late", program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				if p.start == 1 {
					if _, err := p.step(ctx, "old"); err != nil {
						return "", err
					}
					die()
				}
				var opts []pawl.StepOption
				if p.start == 3 {
					opts = append(opts, pawl.Alias("old"))
				}
				return pawl.Step(ctx, "new", func(context.Context) (string, error) {
					if p.effect("new"); p.start == 2 {
						die()
					}
					return p.value("new"), nil
				}, opts...)
			})
		}, want: []string{"fn old killed", "fn new killed", `fn new = "new@3"`}},
		unasked(),
	}
}

// changed is a cell of a step whose input changes on the second start, and on the third
// is what the second one's was where that ran, else what it was at first.
func changed(row, name string, want []string, opts ...pawl.StepOption) cell {
	return cell{row: row, name: name, want: want, program: func(p *program) error {
		model := 1
		if p.start == 2 || p.start == 3 && len(opts) > 0 {
			model = 2
		}
		return p.do(func(ctx context.Context) (string, error) {
			v, err := pawl.Step(ctx, "outer", func(ctx context.Context) (string, error) {
				p.effect("outer")
				return p.step(ctx, "in")
			}, append(opts, pawl.WithInput(map[string]int{"model": model, "seed": 7}))...)
			if c, ok := errors.AsType[*pawl.InputChangedError](err); ok {
				p.effect(fmt.Sprint("paths-", c.Paths))
			}
			if len(p.ran("outer")) > 0 {
				die() // whenever it ran
			}
			return v, err
		})
	}}
}

// ran returns the effects of this name that the witness has of this process.
func (p *program) ran(name string) (lines []string) {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		panic(err)
	}
	last := text[bytes.LastIndex(text, []byte("fn\n")):]
	for line := range bytes.Lines(last) {
		if string(bytes.TrimSpace(line)) == name {
			lines = append(lines, name)
		}
	}
	return lines
}

// unasked is a step that the second start's program does not have any more and the third
// one's has again, beside one that the fourth lacks when it completes the run.
func unasked() cell {
	return cell{
		row: "Step that nobody asks for any more",
		program: func(p *program) error {
			return p.do(func(ctx context.Context) (string, error) {
				var values []string
				for i, key := range []string{"a", "b"} {
					if p.start == 2+2*i {
						continue
					}
					v, err := p.step(ctx, key)
					if err != nil {
						return "", err
					}
					values = append(values, v)
				}
				if p.start < 4 {
					die()
				}
				return fmt.Sprint(values), nil
			})
		},
		want: []string{"fn a b killed", "fn killed", "fn killed", `fn = "[a@1]"`},
		between: func(t *testing.T, start int, store string) {
			text, err := os.ReadFile(filepath.Join(store, "runs", "r.jsonl"))
			ckNil(t, err)
			if got := bytes.Contains(text, []byte(`"unasked":1,`)); got != (start == 4) {
				t.Errorf("start %d: the step that nobody asked for is counted: %v\n%s", start, got, text)
			}
		},
	}
}
