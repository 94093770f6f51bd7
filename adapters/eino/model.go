package eino

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
)

// durableModel asks the model inside of it once for each turn.
type durableModel struct {
	inner  model.BaseModel[*schema.Message]
	config *config
}

// modelCall is one call of the model in a turn.
type modelCall struct {
	run  *agentRun
	at   place
	opts []pawl.StepOption
}

func (m *durableModel) call(ctx context.Context, input []*schema.Message, opts []model.Option) (*modelCall, error) {
	at, err := loadPlace(ctx)
	if err != nil {
		return nil, err
	}
	if at.Turn == 0 {
		return nil, errors.New("pawl: eino: a model call before the first turn of its agent")
	}
	steps := append([]pawl.StepOption{pawl.WithInput(inputOf(input, opts))}, m.config.model...)
	return &modelCall{agentRunOf(ctx), at, steps}, nil
}

// where is the nth model call of its turn. The first turn decides which of the agents that began
// alike this one is: it is their first step.
func (c *modelCall) where(ctx context.Context, nth int) (context.Context, string) {
	if c.at.Nth == 0 {
		return c.at.scope(ctx, nth), "model"
	}
	return c.at.scope(ctx, c.at.Nth), numbered("model", nth)
}

func (c *modelCall) ask(ctx context.Context, fn func(context.Context) (*schema.Message, error)) (*schema.Message, error) {
	if err := c.run.halted(); err != nil {
		return nil, err
	}
	rec, nth, refused, err := ask(ctx, c.where, c.opts, func(ctx context.Context) (record, error) {
		msg, err := fn(ctx)
		if err != nil {
			return record{}, err
		}
		if err := meterUsage(ctx, msg); err != nil {
			return record{}, err
		}
		return freeze(msg)
	})
	if refused {
		c.run.stopAt(err)
	}
	if c.at.Nth == 0 {
		c.at.Nth = nth
		if saveErr := c.at.save(ctx); err == nil {
			err = saveErr
		}
	}
	if err != nil {
		return nil, err
	}
	return thaw[schema.Message](rec)
}

// Generate returns the recorded message, or asks the model and records what it says.
func (m *durableModel) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	c, err := m.call(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, func(ctx context.Context) (*schema.Message, error) {
		return m.inner.Generate(ctx, input, opts...)
	})
}

// Stream passes the model's chunks on as they come, and records the whole message before it says
// that the stream has ended. A recorded message is a stream of one chunk.
func (m *durableModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	c, err := m.call(ctx, input, opts)
	if err != nil {
		return nil, err
	}
	return streamed(stream[*schema.Message, *schema.Message]{
		ask: func(fn func(context.Context) (*schema.Message, error)) (*schema.Message, error) {
			return c.ask(ctx, fn)
		},
		open: func(ctx context.Context) (*schema.StreamReader[*schema.Message], error) {
			return m.inner.Stream(ctx, input, opts...)
		},
		join:  schema.ConcatMessages,
		chunk: func(msg *schema.Message) *schema.Message { return msg },
	})
}

// meterUsage adds the tokens that the model says it used. Vendors' prompt tokens include the cached
// ones; package meter's units do not.
func meterUsage(ctx context.Context, msg *schema.Message) error {
	if msg == nil || msg.ResponseMeta == nil || msg.ResponseMeta.Usage == nil {
		return nil
	}
	u := msg.ResponseMeta.Usage
	cached := min(max(u.PromptTokenDetails.CachedTokens, 0), max(u.PromptTokens, 0))
	for _, a := range []struct {
		unit   string
		tokens int
	}{
		{"input_tokens", u.PromptTokens - cached},
		{"cached_input_tokens", cached},
		{"output_tokens", u.CompletionTokens},
	} {
		if a.tokens <= 0 {
			continue
		}
		if err := meter.Add(ctx, a.unit, float64(a.tokens)); err != nil {
			return err
		}
	}
	return nil
}
