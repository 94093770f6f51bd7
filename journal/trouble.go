package journal

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/pawlgo/pawl/internal/line"
)

// Trouble is what is known of a step beyond its last record: the series of tries that it
// is in, what it waits for, and the deaths that it was under way at. Few steps have any.
type Trouble struct {
	Fails  int64         // tries of the present series that failed, 0 if there is none
	Since  time.Time     // when that series began
	Next   time.Time     // when the next try is due, zero if none is
	Wait   time.Duration // from the last failure to that, or of a sleep from its beginning to Until
	Until  time.Time     // when the sleep that this step is ends, zero if it is none
	Limit  int64         // deaths in a row that make it poison, 0 if they are not counted
	Deaths int64         // in a row at which the step was under way alone
	Others int64         // steps that were under way with it at the last death
	Poison bool          // failed for good since it was under way at too many deaths

	seq, retry int64 // of the newest crash, and of the newest retry
}

// Decision is what somebody said about a run: who, when and why.
type Decision struct {
	By, Reason string
	At         time.Time
}

// SetTrouble keeps what the newest start or failure of a step says of its troubles. Deaths
// are not forgotten by beginning again, but by ending: then they were not in a row.
func (f *Fold) SetTrouble(key string, ended bool, t Trouble) {
	old := f.Trouble[key]
	if old != nil && !ended && old.Deaths+old.Others > 0 {
		t.Deaths, t.Others, t.seq = old.Deaths, old.Others, old.seq
	}
	switch {
	case t.seq == 0 && t == (Trouble{}):
		delete(f.Trouble, key)
	case old != nil:
		*old = t
	default:
		f.Trouble[key] = &t
	}
}

// Crash adds the record of a death: the step was under way, with so many others.
func (f *Fold) Crash(key string, n, others, seq int64) {
	t := f.Trouble[key]
	if t == nil {
		t = &Trouble{}
		f.Trouble[key] = t
		if f.Steps[key] == nil {
			f.link(key)
		}
	}
	t.Deaths, t.Others, t.seq = n, others, seq
}

// Reopen lets a step that failed, or that processes have died in, be tried anew, as if it
// never had. A run that waits can go on for that, whatever becomes of the step: what a
// compaction keeps of the step need not show any more that the record concerned it.
func (f *Fold) Reopen(key string, seq int64) {
	if f.Status == Waiting {
		f.Status, f.WakeAt, f.resumeSeq = InProgress, time.Time{}, seq
	}
	s := f.Steps[key]
	if s == nil || s.Status != StepFailed && s.Status != StepRunning || s.Status == StepRunning && f.sleeps(key) {
		return
	}
	s.Final = false
	f.Trouble[key] = &Trouble{retry: seq}
}

// sleeps reports whether a step that is under way is a sleep.
func (f *Fold) sleeps(key string) bool {
	t := f.Trouble[key]
	return t != nil && !t.Until.IsZero()
}

// CancelRun adds the record of a cancellation.
func (f *Fold) CancelRun(by, reason, mail string, at time.Time, seq int64) {
	f.Mail = mail
	if f.Status != Complete {
		f.Status, f.Error, f.cancelSeq, f.WakeAt = Cancelled, "", seq, time.Time{}
		f.Cancel = Decision{By: by, Reason: reason, At: at}
	}
}

// terms takes the limits that an attempt works under.
func (f *Fold) terms(r *Record) {
	f.Deadline, f.Budget = timeOf(r.Member("deadline")), nil
	f.Within = time.Duration(r.Int("within")) * time.Microsecond
	line.Members(r.Member("budget"), 1, func(name, v []byte) bool {
		if f.Budget == nil {
			f.Budget = map[string]float64{}
		}
		f.Budget[unquote([]byte(`"`+string(name)+`"`))] = number(v)
		return true
	})
}

// timeOf reads a time, zero if there is none.
func timeOf(quoted []byte) time.Time {
	if us := microseconds(quoted); us != 0 {
		return time.UnixMicro(us).UTC()
	}
	return time.Time{}
}

// number reads a JSON number, 0 if it is none, at most the largest finite one.
func number(raw []byte) float64 {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return min(n, math.MaxFloat64)
}
