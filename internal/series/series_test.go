package series_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/series"
)

var errBusy = errors.New("busy")

func TestNext(t *testing.T) {
	most := func() float64 { return math.Nextafter(1, 0) }
	none := func() float64 { return 0 }
	const h = time.Hour
	for _, tt := range []struct {
		name    string
		p       series.Policy
		err     error
		fails   int64
		elapsed time.Duration
		want    time.Duration // rounded to a millisecond
		again   bool
	}{
		{"first", series.Policy{Jitter: most}, errBusy, 1, 0, time.Second, true},
		{"doubled", series.Policy{Jitter: most}, errBusy, 3, 0, 4 * time.Second, true},
		{"full jitter begins at nothing", series.Policy{Jitter: none}, errBusy, 3, 0, 0, true},
		{"last", series.Policy{Jitter: most}, errBusy, 5, 0, 0, false},
		{"try 1,000", series.Policy{Tries: 1001, Jitter: most}, errBusy, 1000, 0, time.Minute, true},
		{"try 10^18", series.Policy{Tries: math.MaxInt, Jitter: most}, errBusy, 1e18, 0, time.Minute, true},
		{"huge backoff", series.Policy{Tries: 1001, Base: math.MaxInt64, Cap: math.MaxInt64, Jitter: most}, errBusy, 1000, 0, series.MaxWait, true},
		{"base above the default cap", series.Policy{Base: 2 * h, Jitter: most}, errBusy, 2, 0, 2 * h, true},
		{"cap below the base", series.Policy{Base: h, Cap: time.Second, Jitter: most}, errBusy, 1, 0, time.Second, true},
		{"negative members are defaults", series.Policy{Tries: -1, Base: -h, Cap: -h, Elapsed: -h, Jitter: most}, errBusy, 4, 0, 8 * time.Second, true},
		{"asked to wait", series.Policy{Jitter: none}, &series.Later{Err: errBusy, D: h}, 1, 0, h, true},
		{"asked to wait less", series.Policy{Jitter: most}, &series.Later{Err: errBusy, D: time.Millisecond}, 1, 0, time.Second, true},
		{"asked to wait for ever", series.Policy{Jitter: none}, fmt.Errorf("deep: %w", &series.Later{Err: errBusy, D: math.MaxInt64}), 1, 0, series.MaxWait, true},
		{"asked to wait backwards", series.Policy{Jitter: none}, &series.Later{Err: errBusy, D: -h}, 1, 0, 0, true},
		{"permanent", series.Policy{Jitter: none}, fmt.Errorf("deep: %w", &series.Permanent{Err: errBusy}), 1, 0, 0, false},
		{"not worth it", series.Policy{If: func(err error) bool { return !errors.Is(err, errBusy) }}, errBusy, 1, 0, 0, false},
		{"within its time", series.Policy{Elapsed: h, Jitter: most}, errBusy, 1, h - 2*time.Second, time.Second, true},
		{"beyond its time", series.Policy{Elapsed: h, Jitter: most}, errBusy, 1, h - time.Second/2, 0, false},
		{"clock set back", series.Policy{Elapsed: h, Jitter: most}, errBusy, 1, -1000 * h, time.Second, true},
		{"clock set forward", series.Policy{Elapsed: h, Jitter: most}, errBusy, 1, 1000 * h, 0, false},
	} {
		got, again := tt.p.Next(tt.err, tt.fails, tt.elapsed)
		if got.Round(time.Millisecond) != tt.want || again != tt.again {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, got, again, tt.want, tt.again)
		}
	}
}

// Waits are drawn from the whole range, and never outside of it.
func TestJitter(t *testing.T) {
	low, high := time.Duration(math.MaxInt64), time.Duration(0)
	for range 2000 {
		d, _ := series.Policy{}.Next(errBusy, 4, 0)
		low, high = min(low, d), max(high, d)
	}
	if low < 0 || high >= 8*time.Second || low > 200*time.Millisecond || high < 7800*time.Millisecond {
		t.Errorf("waits between %v and %v", low, high)
	}
}

func TestRest(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, tt := range []struct{ next, wait, want time.Duration }{
		{time.Hour, time.Hour, time.Hour},
		{time.Minute, time.Hour, time.Minute},
		{-time.Minute, time.Hour, 0},                  // over, or the clock was set forward
		{1000 * time.Hour, time.Hour, time.Hour},      // the clock was set back
		{math.MaxInt64, math.MaxInt64, math.MaxInt64}, // nothing overflows
		{time.Hour, -time.Hour, 0},
	} {
		if got := series.Rest(now, now.Add(tt.next), tt.wait); got != tt.want {
			t.Errorf("%v of %v: %v, want %v", tt.next, tt.wait, got, tt.want)
		}
	}
}
