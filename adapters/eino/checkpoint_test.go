package eino_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/eino"
	"github.com/pawlgo/pawl/pawltest"
)

// payTool asks before it pays.
func payTool(paid *atomic.Int64) *textTool {
	return &textTool{"pay", func(ctx ctx, args string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "pay "+args+"?")
		}
		return fmt.Sprint("paid ", paid.Add(1)), nil
	}}
}

// shopper is a model that looks around, pays, and says what that gave.
func shopper(err func() error) *fake {
	return &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
		if turn == 0 {
			return asks("", `look {"q":"1"}`, `pay {"q":"2"}`), nil
		}
		return schema.AssistantMessage(input[len(input)-2].Content+", "+input[len(input)-1].Content, nil), err()
	}}
}

// TestInterruptInRun: an agent that was interrupted, resumed, cut short and resumed again pays once.
func TestInterruptInRun(t *testing.T) {
	bothModes(t, func(t *testing.T, streaming bool) {
		var looked, paid atomic.Int64
		broken := true
		m := shopper(func() error {
			if broken {
				return errLater
			}
			return nil
		})
		look := &textTool{"look", func(ctx, string) (string, error) { looked.Add(1); return "looked", nil }}
		for _, nested := range []bool{false, true} {
			t.Run(fmt.Sprint("nested ", nested), func(t *testing.T) {
				store := pawltest.NewStore(t)
				looked.Store(0)
				paid.Store(0)
				m.calls.Store(0)
				broken = true
				begin := func() (string, error) {
					points := eino.NewCheckPoints(store)
					var a adk.Agent = newAgent(t, "shopper", m, durable(), look, payTool(&paid))
					if nested {
						boss := &fake{answer: func(_ ctx, turn int, input []*schema.Message) (*schema.Message, error) {
							if turn == 0 {
								return asks("", `shopper {"request":"buy"}`), nil
							}
							return schema.AssistantMessage(input[len(input)-1].Content, nil), nil
						}}
						a = newAgent(t, "boss", boss, durable(), adk.NewAgentTool(t.Context(), a))
					}
					return pawl.Do(t.Context(), store, "r", func(ctx ctx) (string, error) {
						runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: streaming, CheckPointStore: points})
						saved, err := points.Saved(ctx, "a/b")
						if err != nil {
							return "", err
						}
						if !saved {
							text, err := drain(runner.Query(ctx, "q", adk.WithCheckPointID("a/b")))
							if errors.Is(err, errInterrupted) {
								err = pawl.ErrWaiting
							}
							return text, err
						}
						events, err := runner.Resume(ctx, "a/b")
						if err != nil {
							return "", err
						}
						text, err := drain(events)
						if _, again := runner.Resume(ctx, "a/b"); !errors.Is(again, pawl.ErrDuplicateKey) {
							t.Errorf("resumed twice in one attempt: %v", again)
						}
						return text, err
					})
				}
				if _, err := begin(); !errors.Is(err, pawl.ErrWaiting) {
					t.Fatal(err)
				}
				if info, err := store.Inspect(t.Context(), "r"); err != nil || info.Status != "waiting" || info.Failed != 0 || paid.Load() != 0 {
					t.Errorf("%v %v, paid %d", info.Status, err, paid.Load())
				}
				if _, err := begin(); !errors.Is(err, errLater) || paid.Load() != 1 {
					t.Fatal(err, paid.Load())
				}
				broken = false
				got, err := begin()
				if got != "looked, paid 1" || err != nil || paid.Load() != 1 || looked.Load() != 1 || m.calls.Load() != 3 {
					t.Errorf("%q %v: paid %d, looked %d, %d model calls", got, err, paid.Load(), looked.Load(), m.calls.Load())
				}
			})
		}
	})
}

// TestInterruptFromTheTop: without any checkpoint a later start comes to the same question.
func TestInterruptFromTheTop(t *testing.T) {
	store := pawltest.NewStore(t)
	var looked, paid atomic.Int64
	m := shopper(func() error { return nil })
	look := &textTool{"look", func(ctx, string) (string, error) { looked.Add(1); return "looked", nil }}
	for range 3 {
		if _, err := start(t, store, "r", newAgent(t, "shopper", m, durable(), look, payTool(&paid)), false); !errors.Is(err, errInterrupted) {
			t.Fatal(err)
		}
	}
	if looked.Load() != 1 || m.calls.Load() != 1 || paid.Load() != 0 {
		t.Error(looked.Load(), m.calls.Load(), paid.Load())
	}
}

// TestCheckPointsAlone: without a run around it a checkpoint is resumed once.
func TestCheckPointsAlone(t *testing.T) {
	dir := t.TempDir()
	open := func() (*eino.CheckPoints, func()) {
		store, err := pawl.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return eino.NewCheckPoints(store), func() { store.Close() }
	}
	var paid atomic.Int64
	m := shopper(func() error { return nil })
	a := newAgent(t, "shopper", m, nil, &textTool{"look", func(ctx, string) (string, error) { return "looked", nil }}, payTool(&paid))
	points, end := open()
	runner := func(p *eino.CheckPoints) *adk.Runner {
		return adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, CheckPointStore: p})
	}
	if _, err := runner(points).Resume(t.Context(), "id"); err == nil || !strings.Contains(err.Error(), "not exist") {
		t.Error(err)
	}
	if _, err := drain(runner(points).Query(t.Context(), "q", adk.WithCheckPointID("id"))); !errors.Is(err, errInterrupted) {
		t.Fatal(err)
	}
	end()
	points, end = open()
	defer end()
	events, err := runner(points).Resume(t.Context(), "id")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := drain(events); got != "looked, paid 1" || err != nil {
		t.Error(got, err)
	}
	if _, err := runner(points).Resume(t.Context(), "id"); !errors.Is(err, pawl.ErrInDoubt) || paid.Load() != 1 {
		t.Error(err, paid.Load())
	}
	if err := points.Reopen(t.Context(), "id"); err != nil {
		t.Error(err)
	}
	if _, ok, err := points.Get(t.Context(), "id"); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestCheckPoints(t *testing.T) {
	store := pawltest.NewStore(t)
	inRun := func(fn func(ctx ctx)) {
		pawlDo(t, store, func(ctx ctx) error { fn(ctx); return errLater })
	}
	alone := func(fn func(ctx ctx)) { fn(t.Context()) }
	for name, in := range map[string]func(func(ctx ctx)){"in a run": inRun, "alone": alone} {
		t.Run(name, func(t *testing.T) {
			points := eino.NewCheckPoints(store)
			if err := points.Delete(t.Context(), "none"); err != nil {
				t.Error(err)
			}
			for _, id := range []string{"x", "", "a/b", "a//b/", "~", strings.Repeat("long", 60), "ä", "x#1"} {
				in(func(ctx ctx) {
					if ok, err := points.Saved(ctx, id); ok || err != nil {
						t.Errorf("%q: %v %v", id, ok, err)
					}
					first, second := []byte("first "+id), bytes.Repeat([]byte{0, 255}, 9000)
					for _, data := range [][]byte{first, second} {
						if err := points.Set(ctx, id, data); err != nil {
							t.Fatalf("%q: %v", id, err)
						}
						got, ok, err := points.Get(ctx, id)
						if !bytes.Equal(got, data) || !ok || err != nil {
							t.Errorf("%q: %d bytes %v %v", id, len(got), ok, err)
						}
						if _, _, err := points.Get(ctx, id); !errors.Is(err, pawl.ErrDuplicateKey) && !errors.Is(err, pawl.ErrInDoubt) {
							t.Errorf("%q: resumed twice: %v", id, err)
						}
					}
					if ok, err := points.Saved(ctx, id); !ok || err != nil {
						t.Errorf("%q: %v %v", id, ok, err)
					}
					if err := points.Delete(ctx, id); err != nil {
						t.Error(err)
					}
					if _, ok, err := points.Get(ctx, id); ok || err != nil {
						t.Errorf("%q: deleted, and %v %v", id, ok, err)
					}
				})
			}
			in(func(ctx ctx) {
				if err := points.Set(ctx, "raced", []byte("data")); err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				var won atomic.Int64
				for range 8 {
					wg.Go(func() {
						if _, ok, err := points.Get(ctx, "raced"); ok && err == nil {
							won.Add(1)
						}
					})
				}
				wg.Wait()
				if won.Load() != 1 {
					t.Errorf("%d of 8 resume it", won.Load())
				}
				done, cancel := context.WithCancel(ctx)
				cancel()
				if err := points.Set(done, "late", []byte("data")); err != nil {
					t.Errorf("a context that is done: %v", err)
				}
			})
		})
	}
	if _, _, err := eino.NewCheckPoints(nil).Get(t.Context(), "x"); !errors.Is(err, pawl.ErrNoRun) {
		t.Error(err)
	}
}
