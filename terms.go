package pawl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// terms are the limits that an attempt works under.
type terms struct {
	deadline time.Time     // zero if the run has none
	within   time.Duration // from the first start to that
	budget   map[string]float64
}

// setTerms takes the limits of this start and what is recorded of those of earlier ones.
func (r *Run) setTerms(c runConfig) {
	t := terms{deadline: r.fold.Deadline, within: r.fold.Within}
	for unit, limit := range c.budget {
		if t.budget == nil {
			t.budget = map[string]float64{}
		}
		t.budget[r.hide(unit)] = limit // as it is metered
	}
	if c.deadline > 0 {
		if t.deadline.IsZero() {
			t.deadline, t.within = r.store.now(), 0
		}
		t.deadline, t.within = t.deadline.Add(c.deadline-t.within), c.deadline
	}
	r.terms = t
}

// write adds the limits to the record of an attempt.
func (t terms) write(b *line.Body) {
	if !t.deadline.IsZero() {
		b.Str("deadline", clockText(t.deadline)).Int("within", t.within.Microseconds())
	}
	if len(t.budget) == 0 {
		return
	}
	text := []byte{'{'}
	for i, unit := range slices.Sorted(maps.Keys(t.budget)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(line.AppendString(text, unit), ':')
		text = appendAmount(text, t.budget[unit])
	}
	b.Raw("budget", append(text, '}'))
}

func appendAmount(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// deadlineError is the cause of the end of a run's context at its deadline.
type deadlineError struct{ at time.Time }

func (e *deadlineError) Error() string {
	return "the run's deadline, " + e.at.UTC().Format(time.RFC3339) + ", is over"
}
func (e *deadlineError) Unwrap() error { return context.DeadlineExceeded }

// tooLate returns an error if the deadline is over before anything began.
func (r *Run) tooLate() error {
	if r.terms.deadline.IsZero() || r.store.now().Before(r.terms.deadline) {
		return nil
	}
	return &RunError{Op: "start", RunID: r.id, Err: &deadlineError{r.terms.deadline}, Hint: "fn was not called and what is done stays recorded; start it with a longer wait.Deadline to go on"}
}

// overBudget returns an error if the run has used up what it may use.
func (r *Run) overBudget(key string) error {
	if len(r.terms.budget) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, unit := range slices.Sorted(maps.Keys(r.terms.budget)) {
		limit, spent := r.terms.budget[unit], r.fold.Spent[unit]
		if spent >= limit-math.Abs(limit)*1e-12 { // sums of decimal fractions are not exact
			return &RunError{
				Op: "start", RunID: r.id, Key: key, Err: fmt.Errorf("%w: %s of %s %s", ErrBudget, amountText(spent), amountText(limit), unit),
				Hint: "fn was not called and what is done stays recorded; start the run with a higher budget to go on",
			}
		}
	}
	return nil
}

// amountText shows an amount as people write it.
func amountText(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64)
}

// meter records what was used in a step.
func meter(ctx context.Context, unit string, amount float64) error {
	const op = "meter"
	s, err := scopeOf(ctx)
	if err != nil {
		return err
	}
	r := s.run
	refuse := func(why string) error {
		return &RunError{Op: op, RunID: r.id, Key: s.step, Err: fmt.Errorf("%w: %s", ErrInvalid, why), Hint: "nothing was recorded"}
	}
	switch {
	case unit == "" || badText(unit):
		return refuse(fmt.Sprintf("a unit must be UTF-8 without NUL bytes, 1 to %d bytes long: %q", maxLabel, r.store.shown(unit)))
	case math.IsNaN(amount) || math.IsInf(amount, 0) || amount < 0:
		return refuse(fmt.Sprintf("an amount of %v %s", amount, unit))
	}
	unit = r.hide(unit)
	b := line.NewBody(journal.KindMeter, s.step, r.store.now()).Str("unit", unit).Raw("amount", appendAmount(nil, amount))
	err = r.record(b.Bytes(), false, s.alive, func(f *journal.Fold, _ journal.Span) { f.Use(s.step, unit, amount) })
	if err != nil {
		return r.writeError(op, s.step, err)
	}
	return nil
}

// checkTerms refuses limits that mean nothing.
func (c runConfig) checkTerms(s *Store, id string) error {
	for _, unit := range slices.Sorted(maps.Keys(c.budget)) {
		if limit := c.budget[unit]; unit == "" || badText(unit) || math.IsNaN(limit) || math.IsInf(limit, 0) || limit < 0 {
			return &RunError{Op: "open", RunID: id, Err: fmt.Errorf("%w: a budget of %v %q", ErrInvalid, limit, s.shown(unit)), Hint: "nothing was started"}
		}
	}
	return nil
}

func init() {
	hook.Meter = meter
	hook.Budget = func(unit string, limit float64) any {
		return runOption(func(c *runConfig) {
			if c.budget == nil {
				c.budget = map[string]float64{}
			}
			c.budget[unit] = limit
		})
	}
}
