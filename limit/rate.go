package limit

import (
	"fmt"
	"time"
)

// Rate is how many calls may begin in a time. It is made by [PerSecond], [PerMinute],
// [PerHour], [Per] or [Unlimited]; the zero Rate is none, and [New] makes an error of it.
type Rate struct {
	n         int
	per       time.Duration
	burst     int
	unlimited bool
}

// PerSecond is n calls a second, evenly spaced.
func PerSecond(n int) Rate { return Per(n, time.Second) }

// PerMinute is n calls a minute, evenly spaced.
func PerMinute(n int) Rate { return Per(n, time.Minute) }

// PerHour is n calls an hour, evenly spaced.
func PerHour(n int) Rate { return Per(n, time.Hour) }

// Per is n calls in every d, evenly spaced.
func Per(n int, d time.Duration) Rate { return Rate{n: n, per: d, burst: 1} }

// Unlimited is no rate: only how many run at once is limited, and pauses are kept.
func Unlimited() Rate { return Rate{burst: 1, unlimited: true} }

// Burst returns the rate with a burst of b calls, which may begin at once when none began for
// as long as they are worth. Any window of the rate's time then sees up to n+b-1 calls, so the
// service must count less strictly than the rate says, or the rate be lower by that.
// After a pause there is no burst: the calls that waited begin evenly spaced.
func (r Rate) Burst(b int) Rate {
	r.burst = b
	return r
}

// String says the rate in words, as in "500 in 1m0s".
func (r Rate) String() string {
	switch {
	case r == Rate{}:
		return "no rate"
	case r.unlimited:
		return "without a rate"
	case r.burst != 1:
		return fmt.Sprintf("%d in %v with a burst of %d", r.n, r.per, r.burst)
	}
	return fmt.Sprintf("%d in %v", r.n, r.per)
}

// maxSlack bounds what a burst is worth, far below where a duration ends.
const maxSlack = 366 * 24 * time.Hour

// senseless says why the rate cannot be kept, or nothing.
func (r Rate) senseless() string {
	switch {
	case r == Rate{}:
		return "no rate; if there is to be none, say limit.Unlimited()"
	case r.unlimited && r.burst != 1:
		return "a burst needs a rate"
	case r.unlimited:
		return ""
	case r.n < 1:
		return fmt.Sprintf("a rate of %d calls; the least is 1", r.n)
	case r.per < 1:
		return fmt.Sprintf("a rate of %d calls in %v, which is no time", r.n, r.per)
	case r.burst < 1:
		return fmt.Sprintf("a burst of %d; the least is 1, which is none", r.burst)
	case time.Duration(r.burst-1) > maxSlack/r.gap():
		return fmt.Sprintf("a burst of %d is worth more than a year of the rate", r.burst)
	}
	return ""
}

// gap is the time between two calls. It is rounded up, so that n of them are never worth less
// than the rate's time.
func (r Rate) gap() time.Duration {
	if r.unlimited {
		return 0
	}
	return up(r.per, time.Duration(r.n))
}

func up(d, n time.Duration) time.Duration {
	if d%n != 0 {
		return d/n + 1
	}
	return d / n
}

// late is how late a timer comes on a machine that has other things to do.
const late = 2 * time.Millisecond

// schedule returns how calls are spaced. Where they follow each other fast, a tenth of the
// rate and more would be lost by timers that come late, so that a call may make up for
// it: it may begin that much earlier than evenly. That would be one more in the rate's time, for
// which the gap is made longer, by one percent at most.
func (r Rate) schedule() schedule {
	s := schedule{gap: r.gap()}
	s.slack = time.Duration(r.burst-1) * s.gap
	if r.burst == 1 && s.gap < 10*late && r.per >= 100*late {
		s.gap, s.slack = up(r.per+late, time.Duration(r.n)), late
	}
	return s
}
