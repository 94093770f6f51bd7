package pawl

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Retry lets steps that have failed be tried anew, as if they never had: the next start
// calls their functions, also of steps that failed finally or are poison, begins a new series
// of tries and waits for none. Steps inside that failed finally are meant too; with an empty key it
// is for all steps that failed finally. It returns their keys. Who says so and why stand in the history. When it returns nil that is
// durable.
//
// Errors: [ErrNotFound] (no such run or step), [ErrInvalid] (the step has not failed, or none
// has finally), [ErrConflict] (the step has a result), [ErrInDoubt] (nobody knows whether it
// failed, see [Store.ResolveRerun]), [ErrLocked], [ErrComplete], [ErrCorrupt], [ErrNewerFormat].
func (s *Store) Retry(ctx context.Context, id, key, by, reason string) ([]string, error) {
	const op = "retry"
	log, fold, release, err := s.openUnowned(ctx, op, id)
	if err != nil {
		return nil, err
	}
	keys, err := retryable(id, key, fold)
	for i, k := range keys {
		b := line.NewBody(journal.KindRetry, k, s.now())
		s.signed(b, by, reason)
		if _, err = log.Append(b.Bytes(), i == len(keys)-1); err != nil {
			err = writeError(op, id, k, log.Path(), err)
			break
		}
	}
	if releaseErr := release(); err == nil {
		err = releaseErr
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// retryable returns the keys of the steps that a retry is for.
func retryable(id, key string, fold *journal.Fold) ([]string, error) {
	refuse := func(err error, hint string) ([]string, error) {
		return nil, &RunError{Op: "retry", RunID: id, Key: key, Err: err, Hint: "nothing was written; " + hint}
	}
	if fold.Status == journal.Complete {
		return refuse(ErrComplete, "the run has its result")
	}
	if key == "" {
		var keys []string
		for k, st := range fold.Steps {
			if st.Status == journal.StepFailed && st.Final {
				keys = append(keys, k)
			}
		}
		if len(keys) == 0 {
			return refuse(fmt.Errorf("%w: no step has failed finally", ErrInvalid), "the next start tries what has failed")
		}
		slices.Sort(keys)
		return keys, nil
	}
	switch st := fold.Steps[key]; {
	case st == nil:
		return refuse(fmt.Errorf("%w: no such step", ErrNotFound), "list them with: pawl steps "+quoteArg(id))
	case st.Status == journal.StepDone:
		return refuse(fmt.Errorf("%w: the step has a result", ErrConflict), "look at it with: pawl steps "+quoteArg(id))
	case st.Status == journal.StepRunning && st.Once:
		return refuse(fmt.Errorf("%w: the step has no recorded end", ErrInDoubt), "find out whether it happened, then: pawl resolve")
	case st.Status == journal.StepWaiting:
		return refuse(fmt.Errorf("%w: it is a question that waits for an answer", ErrInvalid), "answer it with: pawl answer "+quoteArg(id)+" "+quoteArg(key)+" JSON")
	case st.Status == journal.StepRunning && fold.Trouble[key] != nil && fold.Trouble[key].Deaths > 0: // it would be poison
	case st.Status == journal.StepRunning:
		return refuse(fmt.Errorf("%w: the step has not failed, it has no recorded end", ErrInvalid), "the next start tries it again")
	}
	// Its error may be that of a step inside, which would only be returned again.
	keys := []string{key}
	for inner := range fold.Inside(key) {
		if st := fold.Steps[inner]; st != nil && st.Status == journal.StepFailed && st.Final {
			keys = append(keys, inner)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// Tries returns what the journal says of the tries of a step, in their order: those before a
// compaction, or before the step was begun anew, are gone. It takes no lock and changes nothing.
// Errors are those of [Store.Steps], and [ErrNotFound] for a step that is not there.
func (s *Store) Tries(ctx context.Context, id, key string) ([]runs.Try, error) {
	var tries []runs.Try
	at := func(n int64) *runs.Try {
		if i := len(tries) - 1; i >= 0 && tries[i].N == int(n) && tries[i].Ended.IsZero() {
			return &tries[i]
		}
		tries = append(tries, runs.Try{N: int(n)})
		return &tries[len(tries)-1]
	}
	info, fold, err := s.inspect(ctx, "list the tries of", id)
	if err != nil {
		return nil, err
	}
	st := fold.Steps[key]
	if st == nil {
		return nil, &RunError{Op: "list the tries of", RunID: id, Key: key, Err: fmt.Errorf("%w: no such step", ErrNotFound), Hint: "list them with: pawl steps " + quoteArg(id)}
	}
	err = s.each(info.Path, func(r *journal.Record) error {
		if err := s.ctxErr(ctx); err != nil {
			return err
		}
		if r.Key != key || r.Seq < st.First {
			return nil
		}
		switch r.Kind {
		case journal.KindStart:
			at(r.Int("try")).Began = r.Time()
		case journal.KindStep, journal.KindFail:
			t := at(r.Int("try"))
			t.Ended, t.Took, t.Error = r.Time(), microseconds(r.Int("us")), r.Str("error")
			t.Final, t.Next = string(r.Member("final")) == "true", parsedTime(r.Str("next"))
			t.Done = r.Kind == journal.KindStep
		}
		return nil
	})
	if err != nil {
		return nil, &RunError{Op: "list the tries of", RunID: id, Key: key, Err: err}
	}
	return tries, nil
}
