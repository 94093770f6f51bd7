package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/pawlgo/pawl"
)

// random runs a random program once, and tells the model of it.
type random struct {
	m      *model
	store  *pawl.Store
	run    *pawl.Run // of a start without Do
	seed   uint64
	start  int
	calm   bool // nothing fails any more
	cancel context.CancelFunc

	mu     sync.Mutex
	calls  map[string]int
	serial int
}

// errDead ends a program whose process is dead.
var errDead = errors.New("dead")

// place is where in a program a call stands.
type place struct {
	ctx  context.Context
	path string
	late bool // ctx has ended by itself
	step *request
}

// randomValue is what steps return: a copy that was decoded from a record lacks Lost.
type randomValue struct {
	Text string
	Lost string `json:"-"`
	Num  float64
}

// randomError is the error of one call of a function.
type randomError struct{ text string }

func (e *randomError) Error() string { return e.text }

func (x *random) unique(what string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.serial++
	return fmt.Sprint(what, "#", x.start, ".", x.serial)
}

func join(path, name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	if path == "" {
		return name
	}
	return path + "/" + name
}

// body runs the calls of a program one after the other.
func (x *random) body(p place, nodes []*node) error {
	for _, n := range nodes {
		if n.skip {
			continue
		}
		err := x.guarded(p, n)
		if err != nil && n.onErr == "again" && !x.m.dead() {
			err = x.guarded(p, n)
		}
		if x.m.dead() {
			return errDead
		}
		if err != nil && n.onErr != "ignore" && !x.calm {
			return err
		}
	}
	return nil
}

// guarded runs one call, and makes an error of a panic where the program does that.
func (x *random) guarded(p place, n *node) (err error) {
	if n.onErr == "recover" {
		defer func() {
			if r := recover(); r != nil {
				err = &randomError{fmt.Sprint("recovered: ", r)}
			}
		}()
	}
	return x.node(p, n)
}

func (x *random) node(p place, n *node) error {
	switch n.op {
	case "step":
		return x.step(p, n)
	case "map":
		return x.mapping(p, n)
	case "state":
		return errors.Join(x.load(p, "load"), x.save(p))
	case "blind save":
		return x.save(p)
	case "scope":
		inner := p
		inner.ctx, inner.path = pawl.Scope(p.ctx, n.name), strings.TrimPrefix(p.path+"/"+n.name, "/")
		return x.body(inner, n.body)
	case "cancel":
		if !x.calm && x.fate(p.path+"!").IntN(2) == 0 {
			x.m.cancel(x.cancel)
		}
	case "compact":
		if x.run != nil {
			return x.simple(&request{kind: "compact in it"}, x.run.Compact)
		}
	case "busy":
		return x.busy()
	}
	return nil
}

// busy tries what must not be done to a run that is open.
func (x *random) busy() error {
	ctx := context.Background()
	return errors.Join(
		ignoreErr(x.simple(&request{kind: "begin again"}, func() error {
			run, err := x.store.Begin(ctx, "r")
			if err == nil {
				err = run.Close()
			}
			return err
		})),
		ignoreErr(x.simple(&request{kind: "compact owned"}, func() error { _, _, err := x.store.Compact(ctx, "r"); return err })),
		ignoreErr(x.simple(&request{kind: "clear owned"}, func() error { _, err := x.store.Clear(ctx, "r"); return err })),
		ignoreErr(x.simple(&request{kind: "resolve owned"}, func() error { return x.store.ResolveRerun(ctx, "r", "a", "me", "") })))
}

func ignoreErr(err error) error {
	if err == errDead {
		return err
	}
	return nil
}

// simple makes a call that returns nothing but an error.
func (x *random) simple(c *request, do func() error) error {
	if !x.m.ask(c) {
		return errDead
	}
	err := do()
	if !x.m.returned(c, seen{err: err}) {
		return errDead
	}
	return err
}

// options are those of a call, and what the model must know of them.
func (x *random) options(p place, n *node, c *request) (opts []pawl.StepOption) {
	if n.in > 0 && n.op == "step" || n.in > 1 {
		c.in = fmt.Sprint("in-", n.in)
		opts = append(opts, pawl.WithInput(map[string]string{"v": c.in}))
	}
	if c.rerun = n.rerun; n.rerun {
		opts = append(opts, pawl.RerunOnChange())
	}
	if c.ignore = n.ignore; n.ignore {
		opts = append(opts, pawl.IgnoreInput())
	}
	if c.once = n.once; n.once {
		opts = append(opts, pawl.AtMostOnce())
	}
	if n.alias != "" {
		c.alias = join(p.path, n.alias)
		opts = append(opts, pawl.Alias(n.alias))
	}
	return opts
}

func (x *random) step(p place, n *node) (err error) {
	c := &request{kind: "step", key: join(p.path, n.name)}
	opts := x.options(p, n, c)
	if n.late {
		p.ctx, p.late = expired(p.ctx)
	}
	c.ctxDone = p.late
	if !x.m.ask(c) {
		return errDead
	}
	o := seen{crashed: true}
	var leaked context.Context
	defer func() { // also on the way of a panic
		if !x.m.returned(c, o) && err == nil {
			err = errDead
		}
		if leaked != nil && !o.crashed && x.seed%8 == 0 && x.simple(&request{kind: "late note"}, func() error { return pawl.Note(leaked, "late") }) == errDead {
			err = errDead
		}
	}()
	v, err := pawl.Step(p.ctx, n.name, func(ctx context.Context) (randomValue, error) {
		leaked = ctx
		return x.function(ctx, p, n, c)
	}, opts...)
	o = seen{value: v.Text + v.Lost, err: err}
	return err
}

// function is the function of a step or an item: it does its body and ends as its fate
// wants it.
func (x *random) function(ctx context.Context, p place, n *node, c *request) (v randomValue, err error) {
	if !x.m.called(c, pawl.Try(ctx), pawl.IdempotencyKey(ctx)) {
		return v, errDead
	}
	inner := place{ctx: ctx, path: c.key, late: p.late, step: c}
	r := x.fate(c.key)
	e := ending{how: "crash"}
	defer func() { x.m.ending(c, e) }() // as the last thing before pawl hears of it
	if !x.calm && r.IntN(20) == 0 {
		inner.ctx, inner.late = expired(ctx)
	}
	if r.IntN(3) == 0 {
		if err := errors.Join(x.load(inner, "load note"), x.note(inner)); err != nil {
			e = errorEnding(err)
			return v, err
		}
	}
	if err := x.body(inner, n.body); err != nil {
		e = errorEnding(err)
		return v, err
	}
	e = x.end(r, c)
	switch e.how {
	case "value":
		return randomValue{Text: e.text, Lost: "not in the record"}, nil
	case "bad":
		return randomValue{Num: math.NaN()}, nil
	case "error":
		return v, e.err
	}
	if r.IntN(2) == 0 {
		runtime.Goexit()
	}
	panic(&randomError{"panic of " + c.key})
}

// expired is a step's own timeout that has passed.
func expired(ctx context.Context) (context.Context, bool) {
	ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	cancel()
	return ctx, true
}

// end draws how a function ends that did its body.
func (x *random) end(r *rand.Rand, c *request) ending {
	if x.calm || r.IntN(10) < 6 {
		return ending{how: "value", text: x.unique(c.key)}
	}
	err := error(&randomError{x.unique("error of " + c.key)})
	switch r.IntN(9) {
	case 0:
		return ending{how: "crash"}
	case 1:
		return ending{how: "bad"}
	case 2:
		return errorEnding(fmt.Errorf("%w: %w", err, pick(r, pawl.ErrWaiting, pawl.ErrCancelled, pawl.ErrLeaseLost)))
	case 3:
		return errorEnding(fmt.Errorf("%w: %w", err, pawl.ErrInDoubt))
	case 4:
		return errorEnding(fmt.Errorf("%w: %w", err, context.DeadlineExceeded))
	}
	return errorEnding(err)
}

func errorEnding(err error) ending {
	is := func(target error) bool { return errors.Is(err, target) }
	return ending{how: "error", err: err, stop: is(pawl.ErrWaiting) || is(pawl.ErrCancelled) || is(pawl.ErrLeaseLost), doubt: is(pawl.ErrInDoubt)}
}

func (x *random) mapping(p place, n *node) (err error) {
	c := &request{kind: "map", key: join(p.path, n.name), parallel: n.parallel}
	opts := []pawl.MapOption{pawl.Parallel(n.parallel)}
	if n.late {
		p.ctx, p.late = expired(p.ctx)
	}
	if p.late { // which items had begun is not known otherwise
		c.parallel = 1
		opts = []pawl.MapOption{pawl.Parallel(1)}
	}
	for _, o := range x.options(p, n, c) {
		opts = append(opts, o)
	}
	byItem := map[randomItem]*request{}
	for _, it := range n.items {
		ic := &request{kind: "item", key: join(c.key, it.Key), in: c.in, rerun: c.rerun, ignore: c.ignore, once: c.once, ctxDone: p.late, inMap: c}
		if ic.in == "" {
			ic.in = fmt.Sprint("item-", it.Key, it.Content)
		}
		c.items = append(c.items, ic)
		byItem[it] = ic
	}
	if !x.m.ask(c) {
		return errDead
	}
	o := seen{crashed: true}
	defer func() {
		if !x.m.returned(c, o) && err == nil {
			err = errDead
		}
	}()
	vs, err := pawl.Map(p.ctx, n.name, n.items, func(it randomItem) string { return it.Key }, func(ctx context.Context, it randomItem) (randomValue, error) {
		return x.function(ctx, p, n, byItem[it])
	}, opts...)
	o = seen{err: err}
	for _, v := range vs {
		o.values = append(o.values, v.Text+v.Lost)
	}
	return err
}
