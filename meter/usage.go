package meter

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlgo/pawl"
)

// Usage is what a model's response says of the tokens that it used. Input, CachedInput,
// CacheWrite and Output are disjoint, whichever vendor counted: each token is in one of
// them, and each has its own price. The rest says more about some of them.
type Usage struct {
	Model string // as the response names it; "" if it does not

	Input       int64 // tokens read, neither from a cache nor into one
	CachedInput int64 // tokens read from the vendor's prompt cache
	CacheWrite  int64 // tokens read and written into that cache
	Output      int64 // tokens generated, reasoning included

	LongCacheWrite int64 // part of CacheWrite: kept for an hour, at a price of its own (Anthropic)
	Reasoning      int64 // part of Output, 0 if the vendor does not say

	// Others is what other models used for the same response, which the above leaves out:
	// an advisor, or one that declined after some output (Anthropic). They have no Others.
	Others []Usage
}

// Units that [Response] meters.
const (
	unitInput       = "input_tokens"
	unitCachedInput = "cached_input_tokens"
	unitCacheWrite  = "cache_write_tokens"
	unitOutput      = "output_tokens"
	unitUSD         = "usd"
)

// Response reads the usage of a response with [ReadUsage] and adds it to what the run in ctx
// has used: "input_tokens", "cached_input_tokens", "cache_write_tokens" and "output_tokens",
// the four disjoint counts of [Usage], other models' included, and its price in "usd". What
// is zero is not added. With nil prices there is no "usd".
//
//	answer, err := call(ctx, prompt)
//	…
//	if _, err := meter.Response(ctx, answer, prices); err != nil {
//		return "", err
//	}
//
// Of a model that has no price, the tokens are added, and the error is [ErrNoPrice]: a budget
// in dollars would not hold. The response is paid and good; a step that throws it away pays
// again at its next try. So ask [Prices.Cost] before the call whether a model has a price, or
// go on when errors.Is(err, ErrNoPrice).
//
// Other errors: those of ReadUsage, after what it returned with them was added, and those of
// [Add], at which it stops, so that some units may be added already. Call it once for each
// response. It is safe for concurrent use.
func Response(ctx context.Context, body []byte, prices Prices) (Usage, error) {
	u, err := ReadUsage(body)
	// A stream that was cut off is paid too, as far as it came.
	return u, both(err, meterUsage(u, prices, func(unit string, amount float64) error {
		return Add(ctx, unit, amount)
	}))
}

// meterUsage hands each unit of u to add.
func meterUsage(u Usage, prices Prices, add func(unit string, amount float64) error) error {
	var input, cached, written, output float64
	for _, o := range append([]Usage{u}, u.Others...) {
		input += float64(o.Input)
		cached += float64(o.CachedInput)
		written += float64(o.CacheWrite)
		output += float64(o.Output)
	}
	usd, known := prices.Cost(u)
	if prices == nil {
		usd, known = 0, true
	}
	for _, a := range []struct {
		unit   string
		amount float64
	}{
		{unitInput, input},
		{unitCachedInput, cached},
		{unitCacheWrite, written},
		{unitOutput, output},
		{unitUSD, usd},
	} {
		if a.amount == 0 {
			continue
		}
		if err := add(a.unit, a.amount); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	return &pawl.RunError{
		Op:   "meter a response",
		Err:  fmt.Errorf("%w: %w %s", pawl.ErrInvalid, ErrNoPrice, quoteModels(prices.unknown(u))),
		Hint: "its tokens are metered, its dollars are not; add the model to the prices",
	}
}

// both joins two errors, either of which may be nil.
func both(a, b error) error {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return errors.Join(a, b)
}
