package journal

import (
	"fmt"
	"io"
	"strconv"

	"github.com/pawlgo/pawl/internal/line"
)

// Compact calls emit with the bodies of the records that a compacted journal begins
// with, the first one's being its header: everything that a reader needs to arrive
// at the same meaning, and no more. Src is the journal that f was folded from, size
// bytes long, clean.
//
// Kept are, in their order: the newest attempt; of each step that is not history its
// newest start and its newest end, and its newest note; of each Map its newest record;
// the newest state of each scope, whole, if the run is not complete; the newest epoch of
// each key, and the newest that concerned what is inside too; all aliases since the last clear, and of a step that moved what its
// idempotency key comes from; the newest crash and the newest retry that still count of each step, and
// all that was metered since the last clear; the last end of an attempt, and the
// cancellation in force; the notes of repairs; and every record of an unknown kind. A kept record says in "was" which number it had.
func (f *Fold) Compact(src io.ReaderAt, size int64, emit func(body []byte) error) error {
	keep := f.keep()
	states := f.newestStates()
	sc := NewScanner(src, size)
	var body []byte
	for sc.Scan() {
		r := sc.Record()
		switch {
		case r.Kind == KindRun:
			body = append(body[:0], r.NextIncarnation()...)
		case states[r.Seq] != nil:
			text, schema, err := states[r.Seq].Read(func(s Span) (*Record, error) { return RecordAt(src, s) })
			if err != nil {
				return err
			}
			b := line.NewBody(KindState, r.Key, r.Time()).Int("was", r.Was()).Str("sum", fmt.Sprintf("%08x", line.Checksum(text)))
			if schema >= 0 {
				b.Int("schema", int64(schema))
			}
			body = append(body[:0], b.Value(text).Bytes()...)
		case keep[r.Seq] || !known(r.Kind) || r.Kind == KindMeter && r.Seq > f.clearSeq:
			body = append(body[:0], r.Moved()...)
		default:
			continue
		}
		if err := emit(body); err != nil {
			return err
		}
	}
	return sc.Err()
}

// keep returns the numbers of the records of known kinds that still mean something.
func (f *Fold) keep() map[int64]bool {
	keep := map[int64]bool{f.attemptSeq: true, f.endSeq: true, f.cancelSeq: true, f.reopened[0]: true, f.reopened[1]: true, f.resumeSeq: true}
	for _, t := range f.Trouble {
		keep[t.seq], keep[t.retry] = true, true
	}
	for _, e := range f.epochs {
		keep[e.seq], keep[e.wholeSeq] = true, true
	}
	for _, s := range f.Steps {
		keep[s.Start.Seq] = true
		keep[s.Seq] = true
	}
	for _, m := range f.Maps {
		keep[m.seq] = true
	}
	for _, n := range f.Notes {
		keep[n.Seq] = true
	}
	for _, seq := range f.aliases {
		keep[seq] = true
	}
	for _, pins := range f.pins {
		for _, seq := range pins {
			keep[seq] = true
		}
	}
	return keep
}

// newestStates returns the states by the number of their newest record; none of a
// complete run, which nobody asks for them.
func (f *Fold) newestStates() map[int64]*Saved {
	states := map[int64]*Saved{}
	if f.Status == Complete {
		return states
	}
	for _, s := range f.Saved {
		states[s.Newest().Seq] = s
	}
	return states
}

// Was returns the number that the record had when it was written first.
func (r *Record) Was() int64 {
	if n := r.Int("was"); n > 0 {
		return n
	}
	return r.Seq
}

// Moved returns the body of a record for another place in a rewritten journal: it
// says in "was" which number it had first.
func (r *Record) Moved() []byte { return r.override("was", r.Was()) }

// NextIncarnation returns the body of a first record for the file that replaces this
// one.
func (r *Record) NextIncarnation() []byte { return r.override("inc", r.Int("inc")+1) }

func (r *Record) override(name string, n int64) []byte {
	return line.Override(nil, r.Text, r.rest, name, strconv.AppendInt(nil, n, 10))
}

func known(kind string) bool {
	switch kind {
	case KindRun, KindAttempt, KindStart, KindStep, KindFail, KindMap, KindEpoch, KindAlias, KindNote, KindState, KindClear, KindComplete, KindFailed, KindInterrupted, KindExport,
		KindWaiting, KindCancelled, KindReopen, KindRetry, KindCrash, KindAwait, KindAnswer, KindRefuse, KindMeter, KindIgnored:
		return true
	}
	return false
}
