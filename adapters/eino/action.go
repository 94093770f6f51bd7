package eino

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
)

// actionRecord is what a tool has asked its agent to do, beside its result: a transfer to another
// agent, the end of a loop. Eino keeps it in memory, so a tool that does not run again must have
// it recorded.
type actionRecord struct {
	Exit     bool         `json:"exit,omitempty"`
	Transfer string       `json:"transfer,omitempty"`
	Break    *breakRecord `json:"break,omitempty"`
	Custom   *typedValue  `json:"custom,omitempty"`
}

type breakRecord struct {
	From       string `json:"from"`
	Done       bool   `json:"done,omitempty"`
	Iterations int    `json:"iterations,omitempty"`
}

// takeAction returns what the tool has asked for by [adk.SendToolGenAction], nil if nothing.
func takeAction(ctx context.Context, t *adk.ToolContext) (*actionRecord, error) {
	var a *adk.AgentAction
	// There is no other way to see it: eino has a function to send an action and none to read it.
	// Outside of an agent's graph there is no state, and no action.
	//lint:ignore SA1019 its fields are what checkpoints hold, so they stay
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error {
		if a = st.ToolGenActions[t.CallID]; a == nil {
			a = st.ToolGenActions[t.Name]
		}
		return nil
	})
	if a == nil {
		return nil, nil
	}
	rec := &actionRecord{Exit: a.Exit}
	if a.TransferToAgent != nil {
		rec.Transfer = a.TransferToAgent.DestAgentName
	}
	if b := a.BreakLoop; b != nil {
		rec.Break = &breakRecord{b.From, b.Done, b.CurrentIterations}
	}
	if a.CustomizedAction != nil {
		custom, err := typedOf(a.CustomizedAction)
		if rec.Custom = &custom; err != nil {
			return nil, fmt.Errorf("pawl: eino: the customized action of tool %q cannot be recorded: %w; register its type with schema.RegisterName, or name the tool in Again", t.Name, err)
		}
	}
	return rec, nil
}

// send asks the agent again.
func (r *actionRecord) send(ctx context.Context, t *adk.ToolContext) error {
	a := &adk.AgentAction{Exit: r.Exit}
	if r.Transfer != "" {
		a.TransferToAgent = &adk.TransferToAgentAction{DestAgentName: r.Transfer}
	}
	if b := r.Break; b != nil {
		a.BreakLoop = &adk.BreakLoopAction{From: b.From, Done: b.Done, CurrentIterations: b.Iterations}
	}
	if r.Custom != nil {
		v, err := r.Custom.value()
		if err != nil {
			return fmt.Errorf("pawl: eino: the recorded action of tool %q: %w", t.Name, err)
		}
		a.CustomizedAction = v
	}
	return adk.SendToolGenAction(ctx, t.Name, a)
}
