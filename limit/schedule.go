package limit

import "time"

// maxPause bounds how long one pause can hold everybody: a service may well say that a
// day's quota is used up, and what says more is a mistake.
const maxPause = 24 * time.Hour

// schedule says when the next call may begin. It is the virtual scheduling form of the generic
// cell rate algorithm (ITU-T I.371, annex A), where a call that comes too early waits instead
// of being dropped.
type schedule struct {
	gap   time.Duration // between calls that are evenly spaced
	slack time.Duration // how much earlier than that one may begin
	due   time.Time     // when the next call begins if all are evenly spaced ("TAT")
	until time.Time     // end of the pause
	seen  time.Time     // the latest time that was told
}

// tell tells the time. It never goes back but where the clock is another one, as it is in each
// bubble of testing/synctest: then what was noted by the old one means nothing.
func (s *schedule) tell(now time.Time) {
	if now.Before(s.seen) {
		s.due, s.until = time.Time{}, time.Time{}
	}
	s.seen = now
}

// next returns when the next call may begin; what is not after now is now.
func (s *schedule) next() time.Time {
	return later(s.due.Add(-s.slack), s.until)
}

// begin notes that a call begins, and returns what gives its place back.
func (s *schedule) begin(now time.Time) (undo func()) {
	s.due = later(s.due, now).Add(s.gap)
	mine := s.due
	return func() {
		if s.due.Equal(mine) { // else those behind it are placed by it already
			s.due = s.due.Add(-s.gap)
		}
	}
}

// pause lets nothing begin for d from now. The slack is used up by then: those that waited would
// else begin all at once, at a service that just said it has too much to do.
func (s *schedule) pause(now time.Time, d time.Duration) {
	if d <= 0 {
		return
	}
	end := now.Add(min(d, maxPause))
	if end.After(s.until) {
		s.until = end
		s.due = later(s.due, end.Add(s.slack))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
