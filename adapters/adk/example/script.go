package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// script is a model that needs no network: it says what its turn has, and like a local model it
// names the first call of every turn call_0. Like a provider it refuses a transcript in which a
// call has no response.
type script struct {
	before func(what string) error // called when it is about to be paid
}

func (*script) Name() string { return "script" }

func (s *script) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		turn, err := turnOf(req.Contents)
		if err == nil {
			err = s.before(fmt.Sprint("model ", turn))
		}
		if err != nil {
			yield(nil, err)
			return
		}
		var parts []*genai.Part
		switch turn {
		case 0:
			parts = append(parts,
				called("call_0", "find_flight", map[string]any{"to": "Rome"}),
				called("call_1", "find_hotel", map[string]any{"to": "Rome"}))
		case 1:
			parts = append(parts, called("call_0", "book", map[string]any{"flight": "PA 17 to Rome", "hotel": "Albergo Rome"}))
		default:
			parts = append(parts, genai.NewPartFromText("You fly with PA 17 and stay at the Albergo Rome."))
		}
		yield(&model.LLMResponse{
			Content:       genai.NewContentFromParts(parts, genai.RoleModel),
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{TotalTokenCount: 250},
		}, nil)
	}
}

func called(id, name string, args map[string]any) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
}

// turnOf counts what the model has said, and checks that calls and responses are in pairs.
func turnOf(contents []*genai.Content) (turn int, err error) {
	var open []string
	for _, c := range contents {
		var calls, responses []string
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall.Name)
			}
			if p.FunctionResponse != nil {
				responses = append(responses, p.FunctionResponse.Name)
			}
		}
		if fmt.Sprint(responses) != fmt.Sprint(open) {
			return 0, errors.New("400: a call without its response")
		}
		open = calls
		if c.Role == genai.RoleModel {
			turn++
		}
	}
	return turn, nil
}
