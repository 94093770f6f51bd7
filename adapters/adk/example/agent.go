package main

import (
	"fmt"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
)

// This file is the agent as it was before: nothing in it knows of pawl.

type trip struct {
	To string `json:"to"`
}

type booking struct {
	Flight string `json:"flight"`
	Hotel  string `json:"hotel"`
}

// newAgent makes an agent that books trips. Before is called when a tool is about to do something to
// the world.
func newAgent(m model.LLM, before func(what string) error) (agent.Agent, error) {
	flights, err := functiontool.New(functiontool.Config{Name: "find_flight", Description: "Finds the best flight to a city."},
		func(_ agent.Context, t trip) (map[string]any, error) {
			return map[string]any{"flight": "PA 17 to " + t.To}, before("find_flight")
		})
	if err != nil {
		return nil, err
	}
	hotels, err := functiontool.New(functiontool.Config{Name: "find_hotel", Description: "Finds the best hotel in a city."},
		func(_ agent.Context, t trip) (map[string]any, error) {
			return map[string]any{"hotel": "Albergo " + t.To}, before("find_hotel")
		})
	if err != nil {
		return nil, err
	}
	book, err := functiontool.New(functiontool.Config{Name: "book", Description: "Books a flight and a hotel."},
		func(ctx agent.Context, b booking) (map[string]any, error) {
			if err := before("book"); err != nil {
				return nil, err
			}
			if err := ctx.State().Set("user:booked", b.Flight); err != nil {
				return nil, err
			}
			return map[string]any{"reference": fmt.Sprintf("%s + %s", b.Flight, b.Hotel)}, nil
		})
	if err != nil {
		return nil, err
	}
	return llmagent.New(llmagent.Config{
		Name:        "clerk",
		Description: "Books trips.",
		Instruction: "You are a travel clerk. Find a flight and a hotel, book both, and say what you booked.",
		Model:       m,
		Tools:       []tool.Tool{flights, hotels, book},
	})
}
