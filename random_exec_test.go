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
	left   []leftBehind
}

// errDead ends a program whose process is dead.
var errDead = errors.New("dead")

// place is where in a program a call stands.
type place struct {
	ctx  context.Context
	path string
	late bool // ctx has ended by itself
	step *request
	par  bool // other calls are made there at the same time
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

// atOnce makes calls in goroutines of the program's own.
func (x *random) atOnce(p place, nodes []*node) error {
	p.par = true
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		if n.skip {
			continue
		}
		wg.Go(func() {
			errs[i] = &randomError{"the goroutine ended by itself"}
			defer func() { recover() }() //nolint:errcheck // it stays an error
			errs[i] = x.node(p, n)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
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
		inner.par = false
		inner.ctx, inner.path = pawl.Scope(p.ctx, n.name), strings.TrimPrefix(p.path+"/"+n.name, "/")
		return x.body(inner, n.body)
	case "at once":
		return x.atOnce(p, n.body)
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
	if r.IntN(4) == 0 {
		if err := errors.Join(x.load(inner, "load"), x.save(inner)); err != nil {
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
	return ending{how: "error", err: err, refused: onlyRefused(err), waits: waitsOnly(err), stop: waitsOnly(err) || is(pawl.ErrCancelled) || is(pawl.ErrLeaseLost), doubt: is(pawl.ErrInDoubt)}
}

// waitsOnly reports whether an error says that the run waits: of several errors, whether all do.
func waitsOnly(err error) bool {
	if many, ok := err.(interface{ Unwrap() []error }); ok && fmt.Sprintf("%T", err) == "*errors.joinError" {
		for _, err := range many.Unwrap() {
			if !waitsOnly(err) {
				return false
			}
		}
		return true
	}
	if inner := errors.Unwrap(err); inner != nil {
		return waitsOnly(inner)
	}
	return errors.Is(err, pawl.ErrWaiting)
}

// onlyRefused reports whether an error comes from nothing but steps in doubt, which were not
// called.
func onlyRefused(err error) bool {
	if e, ok := err.(*pawl.RunError); ok {
		return e.Op == "start" && e.Err == pawl.ErrInDoubt
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range many.Unwrap() {
			if !onlyRefused(err) {
				return false
			}
		}
		return true
	}
	inner := errors.Unwrap(err)
	return inner != nil && onlyRefused(inner)
}
