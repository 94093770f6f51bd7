package meter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// meterAll returns what meterUsage adds, in its order.
func meterAll(u Usage, prices Prices, fail string) (added []string, err error) {
	err = meterUsage(u, prices, func(unit string, amount float64) error {
		if unit == fail {
			return errors.New("disk full")
		}
		added = append(added, fmt.Sprintf("%g %s", amount, unit))
		return nil
	})
	return added, err
}

func TestMeterUsage(t *testing.T) {
	prices := Prices{"m": {Input: 1, CachedInput: 0.5, Output: 4}, "free": {}}
	all := Usage{Model: "m", Input: 1000, CachedInput: 200, CacheWrite: 30, Output: 500}
	for _, tt := range []struct {
		name   string
		usage  Usage
		prices Prices
		want   string // units, in order
		err    string
	}{
		{"all units", all, prices, "1000 input_tokens, 200 cached_input_tokens, 30 cache_write_tokens, 500 output_tokens, 0.00313 usd", ""},
		{"zeros are left out", Usage{Model: "m", Output: 1}, prices, "1 output_tokens, 4e-06 usd", ""},
		{"nothing used", Usage{Model: "m"}, prices, "", ""},
		{"free of charge", Usage{Model: "free", Input: 5}, prices, "5 input_tokens", ""},
		{"no prices wanted", Usage{Model: "x", Input: 5}, nil, "5 input_tokens", ""},
		{"no price", Usage{Model: "x\n", Input: 5}, prices, "5 input_tokens", `no price for the model "x\n"`},
		{"prices for none", Usage{Model: "x", Input: 5}, Prices{}, "5 input_tokens", `no price for the model "x"`},
		{
			"other models",
			Usage{Model: "m", Input: 5, Others: []Usage{{Model: "m2", Input: 1, Output: 2}, {Model: "free", Input: 3}}},
			prices, "9 input_tokens, 2 output_tokens, 5e-06 usd", `no price for the model "m2"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := meterAll(tt.usage, tt.prices, "")
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("added %s\nwant  %s", text, tt.want)
			}
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantRefusal(t, err, tt.err)
			if !errors.Is(err, ErrNoPrice) {
				t.Errorf("%v is not ErrNoPrice", err)
			}
		})
	}
}

// TestMeterUsageStops at the first unit that cannot be added.
func TestMeterUsageStops(t *testing.T) {
	got, err := meterAll(Usage{Model: "x", Input: 1, Output: 2}, Prices{}, "output_tokens")
	if err == nil || err.Error() != "disk full" || !slices.Equal(got, []string{"1 input_tokens"}) {
		t.Errorf("added %q, %v", got, err)
	}
}

// TestResponseUnread: what cannot be read is not metered, and not in need of a run.
func TestResponseUnread(t *testing.T) {
	_, err := Response(t.Context(), []byte(`{"error":{}}`), nil)
	wantRefusal(t, err, "an error response")
	if u, err := Response(t.Context(), []byte(`{"usage":{"prompt_tokens":0}}`), nil); err != nil {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestResponseWithoutRun: what was used belongs to a run.
func TestResponseWithoutRun(t *testing.T) {
	u, err := Response(t.Context(), []byte(`{"usage":{"prompt_tokens":3}}`), nil)
	if !errors.Is(err, pawl.ErrNoRun) || u.Input != 3 {
		t.Errorf("got %+v, %v", u, err)
	}
	_, err = Response(t.Context(), []byte(messagesStart), nil)
	if !errors.Is(err, pawl.ErrNoRun) || !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
