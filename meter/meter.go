// Package meter keeps account of what a run uses: money, tokens, calls, in any unit.
//
//	resp, err := client.Chat(ctx, req)
//	…
//	err = meter.Add(ctx, "usd", 0.0042)
//
// What is added is recorded with the run, so that its totals hold over all starts: pawl show
// and pawl ls have them, [pawl.Resume] says what a start did not have to pay again, and
// [Budget] bounds them.
package meter

import (
	"context"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// Add adds amount, in some unit, to what the run in ctx has used, under the step around ctx if
// there is one. It is with the kernel when Add returns nil, so that it survives the death of the
// process; it is durable with the next step's end. Units are names: at most 256 bytes of UTF-8
// without NUL.
//
// Errors: [pawl.ErrNoRun]; [pawl.ErrInvalid] (the unit; an amount that is negative or no number;
// the context of a step that has ended); those of writing. It is safe for concurrent use.
func Add(ctx context.Context, unit string, amount float64) error {
	return hook.Meter(ctx, unit, amount)
}

// Budget bounds what a run may use of a unit, over all its starts: no step's function is called,
// and no try begins, when the total has reached limit; the step returns [pawl.ErrBudget]
// then. Steps that have a result return it all the same, and what is under way may end: with n
// steps in parallel a run may use up to n steps' worth more. The run fails with that error and
// goes on where it stopped when it is started with a higher limit. The limit is that of this start:
// one without it has none. What a fork inherits of its parent's steps was spent by the parent, and counts for the fork too.
func Budget(unit string, limit float64) pawl.RunOption {
	return hook.Budget(unit, limit).(pawl.RunOption)
}
