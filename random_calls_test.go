package pawl_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl"
)

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
	if n.alias != "" && !p.par { // nobody could say which of two gets it
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
	var idem string
	defer func() { // also on the way of a panic
		if !x.m.returned(c, o) && err == nil {
			err = errDead
		}
		if leaked != nil && !o.crashed && x.seed%8 == 0 && x.late(leaked, idem) == errDead {
			err = errDead
		}
	}()
	v, err := pawl.Step(p.ctx, n.name, func(ctx context.Context) (randomValue, error) {
		leaked, idem = ctx, pawl.IdempotencyKey(ctx)
		return x.function(ctx, p, n, c)
	}, opts...)
	o = seen{value: v.Text + v.Lost, err: err}
	return err
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

// late does what a goroutine may do that outlives the try it was begun in.
func (x *random) late(ctx context.Context, idem string) error {
	x.mu.Lock()
	x.left = append(x.left, leftBehind{ctx, idem})
	left := slices.Clone(x.left)
	x.mu.Unlock()
	for _, l := range left { // epochs may have begun since
		if pawl.IdempotencyKey(l.ctx) != l.idem {
			return x.simple(&request{kind: "late key"}, func() error { return fmt.Errorf("a try that has ended gets another idempotency key") })
		}
	}
	return cmp.Or(
		x.simple(&request{kind: "late note"}, func() error { return pawl.Note(ctx, "late") }),
		x.simple(&request{kind: "late load note"}, func() error { _, _, err := pawl.LoadNote[string](ctx); return err }))
}

// leftBehind is the context of a try that has ended, with the idempotency key it had.
type leftBehind struct {
	ctx  context.Context
	idem string
}
