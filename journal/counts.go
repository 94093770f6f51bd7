package journal

import (
	"strings"
	"time"
)

// Counts is how many steps stand how.
type Counts struct {
	Done, Failed, Running, Waiting int
	Sleeping                       int // of those running: sleeps, which nobody is in doubt about
	Final                          int // of those failed: for good
	// Outer counts the finished steps that are not inside another finished one,
	// and Took sums the time that these took: what a start does not do again.
	Outer int
	Took  time.Duration
	Used  map[string]float64 // and what these used when they ran, by unit; nil if nothing
}

// Counts counts the steps. Nested steps are steps too.
func (f *Fold) Counts() Counts {
	var c Counts
	for key, s := range f.Steps {
		switch s.Status {
		case StepDone:
			c.Done++
			if !f.insideDone(key) {
				c.Outer++
				c.Took += s.Took
			}
		case StepFailed:
			c.Failed++
			if s.Final {
				c.Final++
			}
		case StepRunning:
			c.Running++
			if f.sleeps(key) {
				c.Sleeping++
			}
		case StepWaiting:
			c.Waiting++
		}
	}
	c.Used = f.usedByDone()
	return c
}

func (f *Fold) insideDone(key string) bool {
	for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
		if s := f.Steps[key[:i]]; s != nil && s.Status == StepDone {
			return true
		}
	}
	return false
}

// ItemCounts is how many items of a Map stand how.
type ItemCounts struct{ Done, Failed, Running int }

// Items counts the items of every Map, by its key: those that had a result when the
// Map was begun last, and those that ended since. Items that an earlier attempt had
// and the last one has not are not counted.
func (f *Fold) Items() map[string]ItemCounts {
	counts := make(map[string]ItemCounts, len(f.Maps))
	for key, m := range f.Maps {
		counts[key] = ItemCounts{Done: int(m.done)}
	}
	for key, s := range f.Steps {
		m := f.Maps[s.Map]
		if m == nil || s.Seq < m.seq {
			continue
		}
		c := counts[s.Map]
		switch s.Status {
		case StepDone:
			c.Done++
		case StepFailed:
			if t := f.Trouble[key]; t == nil || t.Next.IsZero() { // else it only waits
				c.Failed++
			}
		case StepRunning:
			c.Running++
		}
		counts[s.Map] = c
	}
	return counts
}
