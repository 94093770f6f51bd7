package limit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestUndo: a call that was let in and does not begin gives its place back where that is still
// possible: not to those who were placed behind it, and not out of a pause.
func TestUndo(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	for name, tt := range map[string]struct {
		then func(s *schedule)
		want int // the next may begin
	}{
		"nothing more":     {func(*schedule) {}, 100},
		"a call behind it": {func(s *schedule) { s.begin(at(110)) }, 120},
		"a short pause":    {func(s *schedule) { s.pause(at(100), 5*time.Second) }, 105},
		"a long pause":     {func(s *schedule) { s.pause(at(100), 15*time.Second) }, 115},
	} {
		s := PerMinute(6).schedule()
		s.begin(at(0))
		undo := s.begin(at(100))
		tt.then(&s)
		undo()
		if next := later(s.next(), at(100)); !next.Equal(at(tt.want)) {
			t.Errorf("%s: the next at %ds, want %ds", name, next.Unix(), tt.want)
		}
	}
}

// Served and cancelled at one moment: it does not begin, and its place is the next one's. No
// timer is left when nobody waits.
func TestServedAndCancelled(t *testing.T) {
	cancelled := 0
	for i := range 20 {
		l := newLimiter(fmt.Sprint(i), 1, PerHour(1))
		l.n = 2
		release, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() {
			release, err := l.Acquire(ctx)
			if err == nil {
				release()
			}
			got <- err
		}()
		for l.Stats().Waiting == 0 {
			time.Sleep(time.Millisecond)
		}
		l.mu.Lock()
		cancel()
		time.Sleep(time.Millisecond) // it sees the end and waits for the lock
		due := l.times.due
		l.times.due = time.Time{} // an hour has passed
		l.advance()
		l.mu.Unlock()
		want := 2
		if err := <-got; err != nil {
			cancelled++
			want = 1
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if !l.times.due.Before(due) {
				t.Error("its place in the rate is lost")
			}
		}
		release()
		if s := l.Stats(); s.Running != 0 || s.Waiting != 0 || s.Started != int64(want) || l.alarm != nil {
			t.Errorf("%+v, alarm %v; want %d started", s, l.alarm, want)
		}
	}
	if cancelled == 0 {
		t.Error("never at one moment")
	}
}

// Who leaves takes the alarm along.
func TestNoAlarmIsLeft(t *testing.T) {
	l := newLimiter("alone", 1, PerHour(1))
	l.Pause(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) || l.alarm != nil {
		t.Errorf("%v, alarm %v", err, l.alarm)
	}
}
