package meter_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/meter"
)

// Each answer is metered in the step that asked for it, and a budget in dollars holds.
func ExampleResponse() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	prices := meter.Prices{"model-1": {Input: 3, Output: 15}} // from the vendor's list
	ask := func(context.Context) (string, error) {
		// A call over HTTP, whose body is
		body := []byte(`{"type":"message","model":"model-1","content":[],"usage":{"input_tokens":1000,"output_tokens":200}}`)
		return string(body), nil
	}
	summarize := func(ctx context.Context) (int, error) {
		for n := range 100 {
			_, err := pawl.Step(ctx, fmt.Sprintf("page-%d", n), func(ctx context.Context) (string, error) {
				body, err := ask(ctx)
				if err != nil {
					return "", err
				}
				u, err := meter.Response(ctx, []byte(body), prices)
				if err != nil && !errors.Is(err, meter.ErrNoPrice) {
					return "", err
				}
				return fmt.Sprint(u.Output, " tokens of summary"), nil
			})
			if err != nil {
				return n, err
			}
		}
		return 100, nil
	}
	_, err = pawl.Do(context.Background(), store, "summary", summarize, meter.Budget("usd", 0.02))
	fmt.Println(errors.Is(err, pawl.ErrBudget), err)
	// Output:
	// true pawl: start run "summary" step "page-4": budget used up: 0.024 of 0.02 usd; fn was not called and what is done stays recorded; start the run with a higher budget to go on (docs/errors.md#errbudget)
}

func ExampleReadUsage() {
	// OpenAI counts cached tokens among the prompt's, Anthropic beside its input.
	for _, body := range []string{
		`{"model":"gpt-4o-2024-08-06","usage":{"prompt_tokens":1100,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":1000}}}`,
		`{"type":"message","model":"claude-sonnet-4-5","usage":{"input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":50}}`,
	} {
		u, err := meter.ReadUsage([]byte(body))
		fmt.Println(u.Model, u.Input, u.CachedInput, u.Output, err)
	}
	_, err := meter.ReadUsage([]byte(`{"usage":{"prompt_tokens":-1}}`))
	fmt.Println(err)
	// Output:
	// gpt-4o-2024-08-06 100 1000 50 <nil>
	// claude-sonnet-4-5 100 1000 50 <nil>
	// pawl: read usage: invalid: $.usage.prompt_tokens is no whole number from 0 to 2^53 (docs/errors.md#errinvalid)
}

func ExamplePrices_Cost() {
	// Made up: take yours from the vendor's price list.
	prices := meter.Prices{"gpt-4o": {Input: 2.50, CachedInput: 1.25, Output: 10}}
	for _, model := range []string{"gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-mini"} {
		usd, known := prices.Cost(meter.Usage{Model: model, Input: 100_000, CachedInput: 1_000_000, Output: 50_000})
		fmt.Printf("%s: $%.2f, known: %v\n", model, usd, known)
	}
	// Output:
	// gpt-4o: $2.00, known: true
	// gpt-4o-2024-08-06: $2.00, known: true
	// gpt-4o-mini: $0.00, known: false
}
