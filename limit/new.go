package limit

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// option hides the embedded interface: a Limiter is an option and has no field that says so.
type option = pawl.StepOption

var registry struct {
	sync.Mutex
	byName map[string]*Limiter
}

// New returns the limiter of the process that has this name: at most n calls at once, begun no
// faster than the rate. The first New makes it; each further one with the same numbers returns
// the same limiter, so that packages can share a service's limit by its name alone. It is never
// forgotten: names come from the program, not from its data.
//
// New does not fail, so that it can stand in a package's variables. A limiter that cannot be
// (no name, n below 1, a senseless rate; a name that has other numbers already) says so when it
// is first used: [Limiter.Acquire], and so a step that has it as an option, returns
// pawl.ErrInvalid, and nothing is called.
//
// It is safe for concurrent use.
func New(name string, n int, rate Rate) *Limiter {
	registry.Lock()
	defer registry.Unlock()
	l := newLimiter(name, n, rate)
	l.where = caller()
	if l.wrong != nil {
		return l
	}
	first := registry.byName[name]
	switch {
	case first == nil:
		if registry.byName == nil {
			registry.byName = map[string]*Limiter{}
		}
		registry.byName[name] = l
	case first.n == n && first.rate == rate:
		return first
	default:
		l.wrong = l.refusal(
			fmt.Sprintf("%s has %s, but %s has %s", first.where, first.numbers(), l.where, l.numbers()),
			"give both the same numbers, or each a name of its own")
	}
	return l
}

func newLimiter(name string, n int, rate Rate) *Limiter {
	l := &Limiter{name: name, n: n, rate: rate}
	l.option = hook.StepGate(l).(pawl.StepOption)
	switch why := rate.senseless(); {
	case name == "":
		l.wrong = l.refusal("a limiter without a name", "name the service that it is for")
	case n < 1:
		l.wrong = l.refusal(fmt.Sprintf("%d calls at once", n), "the least is 1")
	case why != "":
		l.wrong = l.refusal(why, "see limit.New")
	default:
		l.times = rate.schedule()
	}
	return l
}

func (l *Limiter) refusal(why, hint string) *pawl.RunError {
	return &pawl.RunError{Op: l.waiting(), Err: fmt.Errorf("%w: %s", pawl.ErrInvalid, why), Hint: hint}
}

func (l *Limiter) numbers() string { return fmt.Sprintf("%d at once, %v", l.n, l.rate) }

// caller returns where New was called, without the folders that only this machine has.
func caller() string {
	_, file, line, ok := runtime.Caller(2)
	if !ok {
		return "somebody"
	}
	file = filepath.ToSlash(file)
	return fmt.Sprintf("%s:%d", path.Join(path.Base(path.Dir(file)), path.Base(file)), line)
}
