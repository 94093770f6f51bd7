package meter

import (
	"math"
	"strings"
	"testing"
)

// TestPricesOf: whose price a model has, told by Input.
func TestPricesOf(t *testing.T) {
	prices := Prices{
		"gpt-4o": {Input: 1}, "gpt-4o-mini": {Input: 2}, "gpt-4o-2024-05-13": {Input: 3}, "gpt-4": {Input: 4},
		"claude-sonnet-4": {Input: 5}, "claude-sonnet-4-5": {Input: 6},
		"ft:gpt-4o*": {Input: 7}, "ft:*": {Input: 8}, "gpt-4o*": {Input: 9}, "wrong": {Input: -1}, "wrong*": {Input: 10},
	}
	for _, tt := range []struct {
		model string
		want  float64 // 0: none
	}{
		{"gpt-4o", 1},
		{"gpt-4o-2024-08-06", 1},
		{"gpt-4o-2024-05-13", 3},
		{"gpt-4o-mini", 2},
		{"gpt-4o-mini-2024-07-18", 2},
		{"gpt-4o-audio-preview", 9},
		{"gpt-4o-2024-13-06", 9}, // no date
		{"gpt-4-0613", 4},
		{"gpt-4-8192", 0},
		{"gpt-4.1", 0},
		{"gpt-4-turbo-2024-04-09", 0},
		{"claude-sonnet-4-20250514", 5},
		{"claude-sonnet-4@20250514", 5},
		{"claude-sonnet-4-5-20250929", 6},
		{"claude-sonnet-4-6", 0},
		{"claude-sonnet-4-99999999", 0},
		{"ft:gpt-4o-2024-08-06:org::id", 7},
		{"ft:davinci", 8},
		{"ft:", 8},
		{"wrong", 0}, // its price is none, and no other one is meant
		{"", 0},
		{"-2024-08-06", 0},
		{"2024", 0},
	} {
		price, ok := prices.of(tt.model)
		if ok != (tt.want != 0) || ok && price.Input != tt.want {
			t.Errorf("%q: %v, %v, want %v", tt.model, price.Input, ok, tt.want)
		}
	}
	if price, ok := (Prices{"*": {Input: 1}}).of(""); !ok || price.Input != 1 {
		t.Errorf("an asterisk: %v, %v", price, ok)
	}
}

func TestPricesCost(t *testing.T) {
	million := Usage{Model: "m", Input: 1e6, CachedInput: 1e6, CacheWrite: 2e6, LongCacheWrite: 1e6, Output: 1e6, Reasoning: 1e6}
	for _, tt := range []struct {
		name  string
		price Price
		want  float64
	}{
		{"all of them", Price{Input: 1, CachedInput: 20, CacheWrite: 300, LongCacheWrite: 4000, Output: 50000}, 54321},
		{"left out: as input", Price{Input: 1, Output: 10}, 14},
		{"left out: as written", Price{Input: 1, CacheWrite: 5, Output: 10}, 22},
		{"free", Price{}, 0},
	} {
		usd, known := Prices{"m": tt.price}.Cost(million)
		if !known || math.Abs(usd-tt.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", tt.name, usd, known, tt.want)
		}
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, price := range []Price{{Input: bad}, {CachedInput: bad}, {CacheWrite: bad}, {LongCacheWrite: bad}, {Output: bad}} {
			if usd, known := (Prices{"m": price}).Cost(million); known || usd != 0 {
				t.Errorf("%v: %v, %v", price, usd, known)
			}
		}
	}
	if usd, known := Prices(nil).Cost(million); known || usd != 0 {
		t.Errorf("nil: %v, %v", usd, known)
	}
	million.Others = []Usage{{Model: "n", Output: 1e6}, {Model: "o", Output: 1e6}}
	if usd, known := (Prices{"m": {Input: 1}, "o": {Output: 2}}).Cost(million); known || usd != 6 {
		t.Errorf("one of three unknown: %v, %v", usd, known)
	}
}

func TestQuoteModels(t *testing.T) {
	for _, tt := range []struct {
		models []string
		want   string
	}{
		{[]string{"b", "a", "a"}, `"a", "b"`},
		{[]string{""}, `""`},
		{[]string{strings.Repeat("é", 60)}, `"` + strings.Repeat(`\u00e9`, 40) + `"`},
		{[]string{"a", "b", "c", "d", "e"}, `"a", "b", "c" and 2 more`},
	} {
		if got := quoteModels(tt.models); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
