package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Model returns m with each call made a step of the run that the context carries: the n-th call of
// an agent in the run is "adk/model <agent>", "adk/model <agent> #2" and so on. When a response
// is handed on it is durable, and a later start gets it from the record. Every transcript that m
// sees went through [Repair]. Without a run only that is done.
//
// What the model is asked (its name, the instruction, the transcript, the tools and the
// configuration, without HTTP options) is the step's input: a recorded response to another
// question is [pawl.ErrInputChanged], unless opts have [pawl.RerunOnChange] or
// [pawl.IgnoreInput]. Other options of a step serve too: a retry.Policy, a limit. An error of
// m is a failure of the step and is returned as it is; the next start calls m again.
//
// While a response streams its parts are passed on as they come; the whole responses follow
// when they are recorded. From the record there are only the whole ones. A function call without
// an ID, or with one that the transcript has already (local models name every first call
// call_0), gets one that is the same on every start. The tokens that m reports are metered as
// "tokens".
//
// Tools that the model calls are made durable too, see [Plugin]. Live sessions are passed through
// and nothing of them is durable. What Model returns is as safe for concurrent use as m is.
func Model(m model.LLM, opts ...pawl.StepOption) model.LLM {
	d := &durableModel{m, opts}
	google, isGoogle := m.(googleLLM)
	live, isLive := m.(liveLLM)
	switch {
	case isGoogle && isLive:
		return struct {
			*durableModel
			googleLLM
			liveLLM
		}{d, google, live}
	case isGoogle:
		return struct {
			*durableModel
			googleLLM
		}{d, google}
	case isLive:
		return struct {
			*durableModel
			liveLLM
		}{d, live}
	}
	return d
}

// googleLLM and liveLLM are what the framework asks models for beyond model.LLM.
type googleLLM interface{ GetGoogleLLMVariant() genai.Backend }

type liveLLM interface{ Client() *genai.Client }

type durableModel struct {
	inner model.LLM
	opts  []pawl.StepOption
}

func (m *durableModel) Name() string { return m.inner.Name() }

// errLeft ends a try whose reader does not want the rest. It is no failure of the model.
var errLeft = fmt.Errorf("adk: nobody reads the response: %w", pawl.ErrCancelled)

func (m *durableModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		req.Contents = Repair(req.Contents)
		if !inRun(ctx) {
			m.inner.GenerateContent(ctx, req, stream)(yield)
			return
		}
		who := callerOf(ctx)
		if err := stopped(who.invocation); err != nil {
			stopOver(who.invocation)
			yield(nil, err)
			return
		}
		input, err := question(req)
		if err != nil {
			yield(nil, err)
			return
		}
		var failure error
		left := false
		text, n, err := numbered(ctx, "model "+who.name, func(sctx context.Context) (json.RawMessage, error) {
			var whole []*model.LLMResponse
			failure = nil
			for resp, err := range m.inner.GenerateContent(who.within(sctx), req, stream) {
				switch {
				case err != nil:
					failure = err
					return nil, err
				case resp == nil:
				case !resp.Partial:
					whole = append(whole, resp)
				case !yield(resp, nil):
					left = true
					return nil, errLeft
				}
			}
			nameCalls(pawl.IdempotencyKey(sctx), req.Contents, whole)
			if err := account(sctx, whole); err != nil {
				return nil, err
			}
			return encode(whole)
		}, append([]pawl.StepOption{pawl.WithInput(input)}, m.opts...)...)
		if left {
			return
		}
		if err != nil {
			if step, ok := errors.AsType[*pawl.StepError](err); ok && failure != nil && !step.Final {
				err = failure // callbacks of the framework look at the model's own errors
			}
			yield(nil, err)
			return
		}
		var whole []*model.LLMResponse
		if err := decode(text, &whole); err != nil {
			yield(nil, err)
			return
		}
		t := &turn{agent: who.name, n: n}
		for _, resp := range whole {
			t.calls = append(t.calls, callsOf(resp.Content)...)
		}
		t.wrap(req.Tools)
		for _, resp := range whole {
			if !yield(resp, nil) {
				return
			}
		}
	}
}

// question is what the response of a model depends on.
func question(req *model.LLMRequest) (json.RawMessage, error) {
	q := struct {
		Model    string                       `json:"model"`
		System   *genai.Content               `json:"system,omitempty"`
		Tools    []*genai.Tool                `json:"tools,omitempty"`
		Config   *genai.GenerateContentConfig `json:"config,omitempty"`
		Contents []*genai.Content             `json:"contents"`
	}{Model: req.Model, Contents: req.Contents}
	if req.Config != nil {
		c := *req.Config
		q.System, q.Tools = c.SystemInstruction, c.Tools
		c.SystemInstruction, c.Tools, c.HTTPOptions = nil, nil, nil // the last has keys of accounts
		q.Config = &c
	}
	return encode(q)
}

// nameCalls gives function calls an ID if they have none, or one that is used already.
func nameCalls(seed string, before []*genai.Content, responses []*model.LLMResponse) {
	used := map[string]bool{}
	for _, c := range before {
		for _, call := range callsOf(c) {
			used[call.ID] = true
		}
	}
	n := 0
	for _, resp := range responses {
		for _, call := range callsOf(resp.Content) {
			switch {
			case call.ID == "":
				call.ID = fmt.Sprintf("adk-%s-%d", seed, n) // the framework hides such IDs from the model
			case used[call.ID]:
				call.ID = fmt.Sprintf("%s-%.8s-%d", call.ID, seed, n)
			}
			used[call.ID] = true
			n++
		}
	}
}

func account(ctx context.Context, responses []*model.LLMResponse) error {
	tokens := 0.0
	for _, resp := range responses {
		if resp.UsageMetadata != nil {
			tokens += float64(max(0, resp.UsageMetadata.TotalTokenCount))
		}
	}
	if tokens == 0 {
		return nil
	}
	return meter.Add(ctx, "tokens", tokens)
}

// caller is who calls a model.
type caller struct {
	name       string // of the agent, and where it runs if it may run in several places at once
	invocation string
	ctx        agent.InvocationContext // nil if it is none of the framework's
}

func callerOf(ctx context.Context) caller {
	ic, ok := ctx.(agent.InvocationContext)
	if !ok {
		return caller{name: "-"}
	}
	c := caller{name: "-", invocation: ic.InvocationID(), ctx: ic}
	if a := ic.Agent(); a != nil && a.Name() != "" {
		c.name = a.Name()
	}
	if scope := ic.IsolationScope(); scope != "" {
		c.name += " " + scope // the function call that it works for
		return c
	}
	if branch := ic.Branch(); branch != "" {
		c.name += " " + branch
	}
	if node, ok := ctx.(agent.Context); ok && node.Path() != "" {
		c.name += " " + node.Path()
	}
	return c
}

// within gives the model the context of the step, as the framework's kind of context if it was
// one.
func (c caller) within(ctx context.Context) context.Context {
	if c.ctx == nil {
		return ctx
	}
	return c.ctx.WithContext(ctx)
}
