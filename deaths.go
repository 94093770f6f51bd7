package pawl

import (
	"fmt"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// countDeath records, if the last process died, which of the steps whose processes are counted
// were under way then. One that was under way alone counts its deaths in a row; of several nobody
// can tell which one it was, so that none of them is counted up, but they are suspects. It is
// called before the attempt is recorded.
func (r *Run) countDeath() error {
	for _, b := range r.fold.Blamed() {
		if r.fold.Counted(b.Key) {
			continue
		}
		n := r.fold.Trouble[b.Key].Deaths
		if b.Others == 0 {
			n++
		}
		body := line.NewBody(journal.KindCrash, b.Key, r.store.now()).Int("n", n).Int("others", b.Others)
		// Not flushed: where it matters, the start record behind it is.
		span, err := r.log.Append(body.Bytes(), false)
		if err != nil {
			return r.writeError("open", b.Key, err)
		}
		r.fold.Crash(b.Key, n, b.Others, span.Seq)
	}
	r.ward = newWard(r.fold.Suspects())
	return nil
}

// willBePoison reports whether a step was under way at too many deaths. The caller holds mu.
func (r *Run) willBePoison(key string, maxCrashes int) bool {
	t := r.fold.Trouble[key]
	return t != nil && maxCrashes > 0 && t.Deaths >= int64(maxCrashes)
}

// poison ends a step that was under way at too many deaths.
func (r *Run) poison(key string, tries, deaths int64) error {
	died := fmt.Sprintf("%d processes in a row died", deaths)
	if deaths == 1 {
		died = "a process died"
	}
	why := fmt.Errorf("%w: %s while this step was under way; when the cause is mended: pawl retry %s %s", ErrPoison, died, quoteArg(r.id), quoteArg(key))
	if err := r.recordFailure(key, tried{n: tries}, 0, why, ending{final: true, poison: true}); err != nil {
		return r.writeError("record", key, err)
	}
	return &StepError{RunID: r.id, Key: key, Tries: int(tries), Message: r.errorText(why), Err: ErrPoison, Final: true}
}
