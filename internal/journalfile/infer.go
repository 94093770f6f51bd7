package journalfile

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// inference finds out from the records of a damaged journal that one which put others out
// of sight is among those that are missing: a clear or an epoch. Without it a repaired
// journal would bring back what its program had given up.
type inference struct {
	fold    *journal.Fold    // of the records so far
	missing int64            // number of the newest record that is missing
	before  map[int64][]byte // bodies to write before records, by their numbers
	said    []string
}

func newInference() *inference {
	return &inference{fold: journal.NewFold(), before: map[int64][]byte{}}
}

// gap notes that records up to a number are missing.
func (n *inference) gap(upTo int64) { n.missing = upTo }

// record looks at the next record that is kept.
func (n *inference) record(r *journal.Record) {
	switch {
	case n.fold.Status == journal.Complete && n.missing > n.fold.Result.Seq && works(r.Kind):
		// Nothing but a clear lets work go on behind a result.
		n.insert(r, journal.KindClear, "", fmt.Sprintf("a record that cleared the run is missing before record %d", r.Seq))
	case r.Kind == journal.KindStart:
		// Only in a new epoch a step begins that has a result.
		if key := n.outermostDone(r.Key); key != "" {
			n.insert(r, journal.KindEpoch, key, fmt.Sprintf("a record that began %q anew is missing before record %d", key, r.Seq))
		}
	}
	n.fold.Apply(r)
}

// insert writes a record of a kind before r.
func (n *inference) insert(r *journal.Record, kind, key, why string) {
	b := line.NewBody(kind, key, vfs.Now())
	if kind == journal.KindEpoch {
		b.Int("n", n.fold.Epoch(key)+1)
		b.Str("reason", "repair: "+why)
		n.fold.BeginEpoch(key, n.fold.Epoch(key)+1, r.Seq)
	} else {
		n.fold = cleared(n.fold)
	}
	n.before[r.Seq] = b.Bytes()
	n.said = append(n.said, why)
}

// outermostDone returns the outermost of key and the keys around it that has a result
// from before the newest missing record, "" if none has.
func (n *inference) outermostDone(key string) string {
	for end := 0; end <= len(key); end++ {
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
		journal.KindAlias, journal.KindNote, journal.KindState, journal.KindComplete:
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
