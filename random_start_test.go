package pawl_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/killfs"
	"github.com/pawlgo/pawl/internal/memfs"
)

// process is one start of a random program.
type process struct {
	x    *random
	fs   *killfs.FS
	prog []*node
	r    *rand.Rand
}

// openMemory opens the store in a file system.
func openMemory(fs *killfs.FS) (*pawl.Store, error) {
	return pawl.Open("memory", hook.StoreFS(fs).(pawl.StoreOption))
}

// live runs the process until it ends or dies.
func (p *process) live() error {
	store, err := openMemory(p.fs)
	if p.fs.Dead() {
		return nil
	}
	if err != nil {
		return err
	}
	p.x.store = store
	p.outside()
	if p.fs.Dead() {
		return nil
	}
	gone := make(chan struct{})
	go func() { // the program may end by runtime.Goexit
		defer close(gone)
		defer func() { recover() }() //nolint:errcheck // the model has seen the panic
		p.program()
	}()
	<-gone
	return nil
}

// outside does what is done to a run that nobody owns.
func (p *process) outside() {
	x, ctx := p.x, context.Background()
	if x.calm {
		x.resolveAll()
		return
	}
	if p.r.IntN(3) > 0 {
		return
	}
	c := &request{kind: pick(p.r, "compact", "compact", "compact", "clear", "delete", "resolve done", "resolve rerun", "resolve done", "resolve rerun")}
	var do func() error
	switch c.kind {
	case "compact":
		do = func() error { _, _, err := x.store.Compact(ctx, "r"); return err }
	case "clear":
		do = func() error { _, err := x.store.Clear(ctx, "r"); return err }
	case "delete":
		do = func() error { return x.store.Delete(ctx, "r") }
	default:
		x.resolve(p.r, c.kind)
		return
	}
	x.simple(c, do) //nolint:errcheck // the model judges it
}

// resolve resolves a step, of those in doubt if there are any.
func (x *random) resolve(r *rand.Rand, kind string) {
	c := &request{kind: kind, key: "a", text: x.unique("resolved")}
	steps, _ := x.store.Steps(context.Background(), "r")
	for _, i := range r.Perm(len(steps)) {
		if c.key = steps[i].Key; steps[i].Status == "running" {
			break
		}
	}
	resolve := func(c *request) error {
		return x.simple(c, func() error {
			if c.kind == "resolve done" {
				return x.store.ResolveDone(context.Background(), "r", c.key, randomValue{Text: c.text}, "me", "")
			}
			return x.store.ResolveRerun(context.Background(), "r", c.key, "me", "")
		})
	}
	if resolve(c) != errDead && r.IntN(3) == 0 { // that was a mistake
		resolve(&request{kind: pick(r, "resolve done", "resolve rerun"), key: c.key, text: x.unique("resolved anew")}) //nolint:errcheck // the model judges it
	}
}

// resolveAll resolves what keeps a run from coming to its end.
func (x *random) resolveAll() {
	steps, _ := x.store.Steps(context.Background(), "r")
	for _, s := range steps {
		if s.Status == "running" && s.AtMostOnce {
			x.simple(&request{kind: "resolve rerun", key: s.Key}, func() error { //nolint:errcheck // the model judges it
				return x.store.ResolveRerun(context.Background(), "r", s.Key, "me", "")
			})
		}
	}
}

// program starts the run, by Do or without it.
func (p *process) program() {
	x := p.x
	c := &request{kind: "start", mustExist: !x.calm && p.r.IntN(10) == 0}
	var opts []pawl.RunOption
	if !x.calm && p.r.IntN(3) == 0 {
		c.in = "run-" + strconv.Itoa(1+p.r.IntN(8)/7)
		opts = append(opts, pawl.RunInput(c.in))
		if c.ignore = p.r.IntN(3) == 0; c.ignore {
			opts = append(opts, pawl.IgnoreInput())
		}
	}
	if c.mustExist {
		opts = append(opts, pawl.MustExist())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.cancel = cancel
	if !x.m.ask(c) {
		return
	}
	if p.r.IntN(4) == 0 {
		p.manual(ctx, c, opts)
		return
	}
	o := seen{crashed: true}
	defer func() {
		if x.m.returned(c, o) && o.err == nil && !o.crashed && c.ended > 0 {
			x.m.completed(x.unasked())
		}
	}()
	v, err := pawl.Do(ctx, x.store, "r", func(ctx context.Context) (randomValue, error) {
		if !x.begun(c, pawl.Resumed(ctx)) {
			return randomValue{}, errDead
		}
		e := ending{how: "crash"}
		defer func() { x.m.ending(c, e) }()
		err := x.body(place{ctx: ctx}, p.prog)
		switch end := x.end(x.fate(""), c); {
		case err != nil:
			e = errorEnding(err)
		case end.how == "bad", end.how == "value" && !x.calm && x.fate("").IntN(3) > 0:
			e = errorEnding(&randomError{x.unique("not yet")}) // little happens to a complete run
		default:
			e = end
		}
		if e.how == "crash" {
			panic(&randomError{"panic of the run"})
		}
		return randomValue{Text: e.text, Lost: "not in the record"}, e.err
	}, opts...)
	o = seen{value: v.Text + v.Lost, err: err}
}

// begun tells the model that the run's function was called, or that Begin returned.
func (x *random) begun(c *request, found pawl.Resume) bool {
	return x.m.called(c, found.Attempt, "") && x.m.resumed(found.Steps)
}

// manual is a start without Do.
func (p *process) manual(ctx context.Context, c *request, opts []pawl.RunOption) {
	x := p.x
	run, err := x.store.Begin(ctx, "r", opts...)
	if err != nil {
		x.m.returned(c, seen{err: err})
		return
	}
	var v randomValue
	if done, err := run.Result(&v); done || err != nil {
		x.m.returned(c, seen{value: v.Text, err: errors.Join(err, run.Close())})
		return
	}
	if !x.begun(c, run.Resumed()) {
		return
	}
	x.run = run
	defer func() {
		x.simple(&request{kind: "close"}, run.Close) //nolint:errcheck // the model judges it
		x.m.ending(c, ending{how: "none"})
		x.m.returned(c, seen{})
	}()
	top := place{ctx: run.Context(ctx)}
	err = x.body(top, p.prog)
	complete := func(text string) {
		x.simple(&request{kind: "complete", text: text}, func() error { return run.Complete(randomValue{Text: text}) }) //nolint:errcheck // the model judges it
	}
	switch end := x.fate("").IntN(4); {
	case err != nil && end > 0, end == 1 && !x.calm:
		x.simple(&request{kind: "fail"}, func() error { return run.Fail(cmp.Or(err, error(&randomError{"given up"}))) }) //nolint:errcheck // the model judges it
	case err != nil, end == 2 && !x.calm:
		return // only closed
	default:
		complete("result")
		x.m.completed(x.unasked())
		complete("result")
	}
	complete("another result")
	x.body(top, p.prog) //nolint:errcheck // the model judges it: no call succeeds
}

// unasked returns what the record that completes the run says of steps that nobody asked
// for.
func (x *random) unasked() (n int) {
	for e, err := range x.store.History(context.Background(), "r") {
		if err != nil {
			return -1
		}
		if e.Kind != "complete" {
			continue
		}
		if _, rest, ok := bytes.Cut(e.JSON, []byte(`"unasked":`)); ok {
			fmt.Sscan(string(rest[:bytes.IndexAny(rest, ",}")]), &n) //nolint:errcheck // -1 would be no count
		}
	}
	return n
}

// look opens the store as somebody else would and looks at the run.
func look(m *model, fs *memfs.FS) error {
	store, err := openMemory(killfs.New(fs, func(killfs.Op) (killfs.Mode, bool) { return 0, false }))
	if err != nil {
		return err
	}
	info, err := store.Inspect(context.Background(), "r")
	if errors.Is(err, pawl.ErrNotFound) {
		m.look(false, info, nil)
		return nil
	}
	if err != nil {
		return err
	}
	steps, err := store.Steps(context.Background(), "r")
	if err != nil {
		return err
	}
	m.look(true, info, steps)
	return nil
}
