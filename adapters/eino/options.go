package eino

import (
	"github.com/pawlgo/pawl"
)

// Option configures [Durable].
type Option func(*config)

type config struct {
	model []pawl.StepOption
	tools map[string][]pawl.StepOption
	again map[string]bool
}

// ModelSteps gives options to the steps of model calls: retries, [pawl.RerunOnChange],
// [pawl.IgnoreInput] and so on. It may be given several times.
//
// A stream that breaks behind its first chunk is not tried again by a policy of package retry,
// since the caller has seen a part of it; eino's own ModelRetryConfig handles both cases.
func ModelSteps(opts ...pawl.StepOption) Option {
	return func(c *config) { c.model = append(c.model, opts...) }
}

// ToolSteps gives options to the steps of a tool's calls, such as [pawl.AtMostOnce] to a tool
// whose effect must not happen twice. It may be given several times, for one tool too; a
// tool "" is every tool.
//
// A tool that first interrupts, to ask a human say, must not be AtMostOnce as a whole: the call
// that asked would be in doubt. Give such a tool a [pawl.Step] of its own around its effect.
func ToolSteps(tool string, opts ...pawl.StepOption) Option {
	return func(c *config) { c.tools[tool] = append(c.tools[tool], opts...) }
}

// Again names tools that run at every start and are no steps: those whose effect is in the memory
// of the process, such as session values, and not in what they return. What they return must be
// the same at every start, or the next model call is [pawl.ErrInputChanged].
func Again(tools ...string) Option {
	return func(c *config) {
		for _, t := range tools {
			c.again[t] = true
		}
	}
}

// toolOptions returns the options of the steps of a tool.
func (c *config) toolOptions(tool string, input any) []pawl.StepOption {
	opts := []pawl.StepOption{pawl.WithInput(input)}
	opts = append(opts, c.tools[""]...)
	if tool != "" {
		opts = append(opts, c.tools[tool]...)
	}
	return opts
}
