package journalfile

import (
	"fmt"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// inference finds out from the records of a damaged journal what must be among those that
// are missing: a record that put others out of sight (a clear, an epoch), or the start of a
// step whose end is there. Without it a repaired journal would bring back what its program
// had given up, or return a result for another input than its own.
type inference struct {
	fold    *journal.Fold      // of the records so far, and of those that are written anew
	missing int64              // number of the newest record that is missing
	lost    int64              // how many are missing so far
	before  map[int64][][]byte // bodies to write before records, by their numbers
	said    []string
}

func newInference() *inference {
	return &inference{fold: journal.NewFold(), before: map[int64][][]byte{}}
}

// gap notes that so many records up to a number are missing.
func (n *inference) gap(upTo, count int64) {
	n.missing = upTo
	n.lost += count
}

// record looks at the next whole record. One that is dropped says as much about what is
// missing as one that is kept.
func (n *inference) record(r *journal.Record, dropped bool) {
	if n.missing > 0 && works(r.Kind) {
		n.infer(r)
	}
	if n.missing > 0 && r.Kind == journal.KindAttempt && n.fold.Status == journal.Cancelled {
		body := line.NewBody(journal.KindReopen, "", vfs.Now()).Str("by", "").Str("reason", "repair: an attempt began").Bytes()
		n.insert(r, body, "a record that took the cancellation back")
		n.fold.Status = journal.InProgress
	}
	if !dropped {
		n.fold.Apply(r)
	}
}

func (n *inference) infer(r *journal.Record) {
	if n.fold.Status == journal.Complete && n.missing > n.fold.Result.Seq {
		// Nothing but a clear lets work go on behind a result.
		n.insert(r, line.NewBody(journal.KindClear, "", vfs.Now()).Bytes(), "a record that cleared the run")
		n.fold = cleared(n.fold)
	}
	ends := r.Kind == journal.KindStep || r.Kind == journal.KindFail
	if ends && n.begun(r) || r.Kind == journal.KindAnswer && n.asks(r.Key) {
		return // it began before records went missing, and ends now
	}
	at := r.Key
	if r.Kind == journal.KindEpoch {
		at = r.Key[:max(0, strings.LastIndexByte(r.Key, '/'))] // it begins its own key anew itself
	}
	if key := n.outermostDone(at); key != "" {
		// Only in a new epoch something happens at a step that has a result, or inside it.
		epoch := n.fold.NextEpoch(key) + n.lost
		why := fmt.Sprintf("a record that began %q anew", key)
		n.insert(r, line.NewBody(journal.KindEpoch, key, vfs.Now()).Int("n", epoch).Str("reason", "repair: "+why+" is missing").Bytes(), why)
		n.fold.BeginEpoch(key, epoch, r.Seq)
	}
	if r.Kind == journal.KindAnswer {
		n.answered(r)
	}
	if r.Kind == journal.KindStep && !n.begun(r) {
		// Its input stood there. A digest that no input has makes a program that gives
		// one ask, instead of taking the result for that of any input.
		n.insert(r, line.NewBody(journal.KindStart, r.Key, vfs.Now()).Int("try", r.Int("try")).Str("in", unknownInput).Bytes(), fmt.Sprintf("the start of step %q, with its input,", r.Key))
	}
}

// asks reports whether a question that is there waits.
func (n *inference) asks(key string) bool {
	s := n.fold.Steps[key]
	return s != nil && s.Status == journal.StepWaiting
}

// answered writes anew the question of an answer that is left alone: with a digest that no
// question has, so that the answer is not taken for one to whatever is asked now.
func (n *inference) answered(r *journal.Record) {
	if n.asks(r.Key) {
		return
	}
	body := line.NewBody(journal.KindAwait, r.Key, vfs.Now()).Str("in", unknownInput).CleanValue([]byte("null")).Bytes()
	n.insert(r, body, fmt.Sprintf("the question %q", r.Key))
}

// unknownInput is the digest of an input that is not known any more.
var unknownInput = strings.Repeat("f", 32)

// insert writes a record before r.
func (n *inference) insert(r *journal.Record, body []byte, what string) {
	n.before[r.Seq] = append(n.before[r.Seq], body)
	n.said = append(n.said, fmt.Sprintf("%s is missing before record %d", what, r.Seq))
}

// begun reports whether the try that a record ends was begun by one that is there. What
// somebody said to be its result may be said anew.
func (n *inference) begun(r *journal.Record) bool {
	s := n.fold.Steps[r.Key]
	return s != nil && s.Tries == r.Int("try") &&
		(s.Status == journal.StepRunning || s.Status == journal.StepDone && r.Kind == journal.KindStep && r.Member("by") != nil)
}

// outermostDone returns the outermost of key and the keys around it that has a result
// from before the newest missing record, "" if none has.
func (n *inference) outermostDone(key string) string {
	for end := 1; end <= len(key); end++ {
		if end < len(key) && key[end] != '/' {
			continue
		}
		s := n.fold.Steps[key[:end]]
		if s != nil && s.Status == journal.StepDone && s.Seq < n.missing {
			return key[:end]
		}
	}
	return ""
}

// works reports whether records of a kind come from work on a run that is not complete.
func works(kind string) bool {
	switch kind {
	case journal.KindStart, journal.KindStep, journal.KindFail, journal.KindMap, journal.KindEpoch,
		journal.KindAlias, journal.KindNote, journal.KindState, journal.KindComplete, journal.KindAwait, journal.KindAnswer:
		return true
	}
	return false
}

// cleared returns what is left of a fold behind a clear.
func cleared(f *journal.Fold) *journal.Fold {
	next := journal.NewFold()
	next.Header, next.LastSeq, next.Attempts, next.Attempt = f.Header, f.LastSeq, f.Attempts, f.Attempt
	return next
}
