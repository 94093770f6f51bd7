package eino

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
)

// place is where in its run an agent is. It is kept with the agent's state, as a run-local
// value of eino, so that an agent which is resumed from a checkpoint goes on counting.
type place struct {
	Agent string   `json:"agent"`          // label of the agent
	Talk  string   `json:"talk"`           // digest of who was asked what
	Nth   int      `json:"nth"`            // of those that began alike in this run; 0 is not known yet
	Turn  int      `json:"turn"`           // model calls, this one included
	Calls []string `json:"call,omitempty"` // IDs of the tool calls that this turn's message asks for
}

// placeKey is the name of the run-local value.
const placeKey = "github.com/pawlgo/pawl/adapters/eino"

func loadPlace(ctx context.Context) (place, error) {
	var at place
	v, ok, err := adk.GetRunLocalValue(ctx, placeKey)
	if err != nil {
		return at, fmt.Errorf("pawl: eino: %w", err)
	}
	text, _ := v.(string)
	if !ok || text == "" {
		return at, nil
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return at, fmt.Errorf("pawl: eino: place of the agent: %w", err)
	}
	return at, nil
}

func (p place) save(ctx context.Context) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("pawl: eino: place of the agent: %w", err)
	}
	// A string, since checkpoints are gob: a type of ours would have to be known to whoever reads
	// them.
	if err := adk.SetRunLocalValue(ctx, placeKey, string(text)); err != nil {
		return fmt.Errorf("pawl: eino: %w", err)
	}
	return nil
}

// newPlace returns the place of an agent that begins. Instructions are no part of who it is: a
// changed one is a changed input of its steps, not another agent's work.
func newPlace(ctx context.Context, begin []*schema.Message) place {
	var names []string
	for _, s := range compose.GetCurrentAddress(ctx) {
		if s.Type == adk.AddressSegmentAgent {
			names = append(names, s.ID)
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", names)
	for i, d := range digests(begin) {
		if begin[i].Role != schema.System {
			fmt.Fprintln(h, d)
		}
	}
	p := place{Agent: "agent", Talk: hex.EncodeToString(h.Sum(nil)[:5])}
	if len(names) > 0 {
		if l := label(names[len(names)-1]); l != "" {
			p.Agent = l
		}
	}
	return p
}

// scope returns the context for the steps of a turn, when the agent is the nth that began alike.
func (p place) scope(ctx context.Context, nth int) context.Context {
	return pawl.Scope(ctx, numbered(p.Agent+"-"+p.Talk, nth)+fmt.Sprintf("/turn/%d", p.Turn))
}

// tool returns the name of a tool call within its turn: its position in the model's message, or,
// if the ID does not tell which one it is, what is asked.
func (p place) tool(name, id, args string) string {
	found := -1
	for i, c := range p.Calls {
		if c == id {
			if found >= 0 {
				found = -1
				break
			}
			found = i
		}
	}
	if found >= 0 {
		return fmt.Sprintf("%d-%s", found, label(name))
	}
	sum := sha256.Sum256([]byte(id + "\x00" + args))
	return label(name) + "-" + hex.EncodeToString(sum[:5])
}

// label makes a name fit for keys that people read. What tells two places apart is elsewhere.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 48)]
}

// numbered tells the nth of equal names from the others.
func numbered(name string, nth int) string {
	if nth <= 1 {
		return name
	}
	return fmt.Sprintf("%s#%d", name, nth)
}
