package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"time"

	"github.com/pawlgo/pawl/journal"
)

// stepView is a step as it is shown.
type stepView struct {
	Key         string          `json:"key"`
	Status      string          `json:"status"`
	Map         *string         `json:"map"`          // of which it is an item
	AtMostOnce  bool            `json:"at_most_once"` // in doubt, it does not run again by itself
	Tries       int64           `json:"tries"`
	TookSeconds float64         `json:"took_seconds"`
	StartedAt   jsonTime        `json:"started_at"` // of the last try; of a question when it was asked
	EndedAt     jsonTime        `json:"ended_at"`
	Seq         int64           `json:"seq"` // newest record
	Bytes       int64           `json:"bytes"`
	Error       *string         `json:"error"`
	Final       bool            `json:"final"`    // failed for good: not tried again before pawl retry
	Poison      bool            `json:"poison"`   // for good since its processes died
	Fails       int64           `json:"fails"`    // tries of the present series that failed
	NextAt      jsonTime        `json:"next_at"`  // when the next try of the series is due
	UntilAt     jsonTime        `json:"until_at"` // when it ends, of a sleep that has begun; by when a question must have its answer
	Deaths      int64           `json:"deaths"`   // in a row at which it was under way alone
	Spent       amounts         `json:"spent"`    // over all its tries, without the steps inside it
	Note        json.RawMessage `json:"note"`     // the newest, null if none or larger than 4 KiB

	took  time.Duration
	first int64
}

// maxNote bounds the notes that are shown with a step, in bytes.
const maxNote = 4 << 10

// readSteps reads the steps of a journal in one pass, without results. On damage
// it returns those before it, with the error.
func readSteps(ctx context.Context, path string, owned bool) ([]stepView, *journal.Fold, error) {
	type times struct {
		start, end time.Time
		err        string
	}
	// By what the fold makes of a step, which goes along when a step is renamed.
	at := map[*journal.Step]times{}
	fold := journal.NewFold()
	f, err := journal.Open(path)
	if err != nil {
		return nil, fold, err
	}
	defer f.Close()
	_, err = journal.EachFile(f, func(r *journal.Record) error {
		fold.Apply(r)
		switch r.Kind {
		case journal.KindStart, journal.KindAwait:
			at[fold.Steps[r.Key]] = times{start: r.Time()}
		case journal.KindStep, journal.KindFail, journal.KindAnswer:
			t := at[fold.Steps[r.Key]]
			t.end, t.err = r.Time(), r.Str("error")
			at[fold.Steps[r.Key]] = t
		}
		return ctx.Err()
	})
	views := make([]stepView, 0, len(fold.Steps))
	for key, s := range fold.Steps {
		v := stepView{
			Key: key, Status: s.Status.String(), Map: text(s.Map), AtMostOnce: s.Once, Tries: s.Tries, Seq: s.Seq, Bytes: s.Len,
			took: s.Took, TookSeconds: seconds(s.Took), first: s.First, Note: raw(readNote(f, fold.Notes[key])),
		}
		t := at[s]
		v.StartedAt, v.EndedAt, v.Error = jsonTime(t.start), jsonTime(t.end), text(t.err)
		if s.Status == journal.StepRunning {
			v.took, v.TookSeconds = 0, 0 // of the try before
			if !owned {
				v.Status = "in_doubt"
			}
		}
		v.troubles(fold, s)
		views = append(views, v)
	}
	slices.SortFunc(views, func(x, y stepView) int { return cmp.Compare(x.first, y.first) })
	return views, fold, err
}

// troubles sets what is known of a step beyond its last record.
func (v *stepView) troubles(fold *journal.Fold, s *journal.Step) {
	v.Final = s.Final && s.Status == journal.StepFailed
	if t := fold.Trouble[v.Key]; t != nil {
		v.Poison, v.Fails, v.NextAt, v.UntilAt, v.Deaths = t.Poison, t.Fails, jsonTime(t.Next), jsonTime(t.Until), t.Deaths
	}
	if sleeps(fold, v.Key) {
		v.Status = statusSleeping // nothing of it is in doubt
	}
	for _, used := range fold.Used(v.Key) {
		if v.Spent == nil {
			v.Spent = amounts{}
		}
		v.Spent[used.Unit] = min(used.All, math.MaxFloat64)
	}
}

// sleeps reports whether a step is a sleep that has begun and has no end.
func sleeps(fold *journal.Fold, key string) bool {
	s, t := fold.Steps[key], fold.Trouble[key]
	return s != nil && t != nil && s.Status == journal.StepRunning && !t.Until.IsZero()
}

// next is what becomes of a step that failed, or when it ends if it sleeps or asks: a word and a
// time, "-" for nothing to say.
func (v *stepView) next(show func(time.Time) string) string {
	switch {
	case v.Poison:
		return "poison"
	case v.Final:
		return "final"
	case v.Status == statusSleeping, v.Status == statusWaiting && !time.Time(v.UntilAt).IsZero():
		return "until " + show(time.Time(v.UntilAt))
	case !time.Time(v.NextAt).IsZero():
		return "retry " + show(time.Time(v.NextAt))
	}
	return "-"
}

// readNote returns the text of a note in one line, nil if there is none or it is large. What
// is wrong with one shows elsewhere.
func readNote(f *os.File, span journal.Span) []byte {
	if span.Len == 0 || span.Len > 8*maxNote {
		return nil
	}
	rec, err := journal.RecordAt(f, span)
	if err != nil {
		return nil
	}
	text, ok := rec.Value()
	if !ok || len(text) > maxNote {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil
	}
	return b.Bytes()
}

// note is what is shown of a step's note, "-" if there is none.
func (v *stepView) note() string {
	if string(v.Note) == "null" {
		return "-"
	}
	return inline(string(v.Note))
}
