package main

import (
	"math"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

func TestAmounts(t *testing.T) {
	people, programs := &output{tty: true}, &output{}
	for _, tc := range []struct {
		unit             string
		x                float64
		people, programs string
	}{
		{"usd", 12.4, "$12.40", "12.4 usd"},
		{"usd", 1234.567, "$1234.57", "1234.567 usd"},
		{"usd", 0.1 + 0.2, "$0.30", "0.3 usd"},
		{"usd", 0.0142, "$0.0142", "0.0142 usd"},
		{"usd", 0.9951, "$1.00", "0.9951 usd"},
		{"usd", 0.9901, "$0.9901", "0.9901 usd"},
		{"usd", 0.000042, "$0.000042", "0.000042 usd"},
		{"usd", 0, "$0.00", "0 usd"},
		{"usd", 1e300, "$1e+300", "1e+300 usd"},
		{"tokens", 370368, "370,368 tokens", "370368 tokens"},
		{"tokens", 1234567.8, "1,234,568 tokens", "1234567.8 tokens"},
		{"tokens", 999.6, "1,000 tokens", "999.6 tokens"},
		{"hours", 0.123456, "0.1235 hours", "0.123456 hours"},
		{"hours", math.Inf(1), "+Inf hours", "+Inf hours"},
		{"a\x1b", 3, `3 "a\x1b"`, `3 "a\x1b"`},
	} {
		if got := people.amount(tc.unit, tc.x); got != tc.people {
			t.Errorf("%v %s for people: %s, want %s", tc.x, tc.unit, got, tc.people)
		}
		if got := programs.amount(tc.unit, tc.x); got != tc.programs {
			t.Errorf("%v %s for programs: %s, want %s", tc.x, tc.unit, got, tc.programs)
		}
	}
	some := map[string]float64{"input_tokens": 5000, "a": 1, "usd": 2}
	if got := people.amounts(some) + "; " + people.spent(some) + "; " + programs.spent(some) + "; " + people.spent(nil); got != "$2.00, 1 a, 5,000 input_tokens; $2.00; 2 usd, 1 a, 5000 input_tokens; -" {
		t.Error(got)
	}
	if got := string(encode(amountsOf(map[string]float64{"x": math.Inf(1)}))); got != `{"x":1.7976931348623157e+308}` {
		t.Error(got)
	}
	if got := string(encode(amountsOf(nil))); got != "null" {
		t.Error(got)
	}
	if got := skipped(pawl.Resume{Steps: 411, Saved: 38 * time.Minute, Units: map[string]float64{"usd": 12.4}}); got != "skipped 411 steps, $12.40, 38m0s" {
		t.Error(got)
	}
	if got := skipped(pawl.Resume{Steps: 1, Saved: time.Second}); got != "skipped 1 step, 1s" {
		t.Error(got)
	}
}
