package wait

import (
	"encoding/json"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
)

// Within bounds the time in which a question may be answered, from when it was asked first, over
// all starts. When it is over the step fails finally, with an error that says so, or with [Default] gets
// that answer; whoever starts the run then finds out, nobody else does. A d of 0 or less is no bound.
func Within(d time.Duration) pawl.AwaitOption { return hook.Within(d).(pawl.AwaitOption) }

// Default is the answer if nobody gives one [Within] the time. It must be what the code that asks
// can take ([pawl.ErrInvalid]); without Within it means nothing.
func Default(answer any) pawl.AwaitOption { return hook.Default(answer).(pawl.AwaitOption) }

// Block makes [pawl.Await] wait for the answer, for d at most, before it says [pawl.ErrWaiting]. An
// answer from another process reaches it within a tenth of a second.
func Block(d time.Duration) pawl.AwaitOption { return hook.Block(d).(pawl.AwaitOption) }

// Approval is an answer to "may I?". The commands pawl approve and pawl reject give it, and give
// true and false where a bool is awaited.
type Approval struct {
	Approved bool `json:"approved"`
	// Reason is for the program, and the model behind it.
	Reason string `json:"reason,omitempty"`
	// Edited is what to do instead of what was asked for, if the person has changed it.
	Edited json.RawMessage `json:"edited,omitempty"`
}
