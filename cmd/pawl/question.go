package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// questionView is an open question as it is shown.
type questionView struct {
	Run      *string         `json:"run"`
	Key      string          `json:"key"`
	AskedAt  jsonTime        `json:"asked_at"`
	UntilAt  jsonTime        `json:"until_at"` // by when it must be answered, null if there is no such time
	Question json.RawMessage `json:"question"`
	Shape    json.RawMessage `json:"shape"`    // what an answer must look like: a Schema Object of OpenAPI 3.0.3
	Takes    string          `json:"takes"`    // the same in words
	YesNo    bool            `json:"yes_no"`   // pawl approve and pawl reject can answer it
	Answered *decisionJSON   `json:"answered"` // who has answered it, if the run has not taken that yet
	Refused  *refusalJSON    `json:"refused"`  // the newest answer that was none
	Seq      int64           `json:"seq"`

	shape shape
	arg   string // what names its run in a command to type next
}

// refusalJSON is an answer that the run did not take.
type refusalJSON struct {
	decisionJSON
	Error string `json:"error"`
}

// answerView is a question that has its answer.
type answerView struct {
	Key    string          `json:"key"`
	By     *string         `json:"by"` // null if nobody gave it in time, and it is the default
	Reason *string         `json:"reason"`
	At     jsonTime        `json:"at"`
	Answer json.RawMessage `json:"answer"`
	Seq    int64           `json:"seq"`
}

// asked is what a run has asked, in the order of its records.
type asked struct {
	open     []questionView
	answered []answerView
	shapes   map[string]shape // of all its questions, also of those whose time is over
}

// one returns the open question of a key, nil if there is none.
func (q *asked) one(key string) *questionView {
	for i := range q.open {
		if q.open[i].Key == key {
			return &q.open[i]
		}
	}
	return nil
}

// keys returns the keys of the open questions.
func (q *asked) keys() (keys []string) {
	for _, o := range q.open {
		keys = append(keys, o.Key)
	}
	return keys
}

// unanswered counts the open questions that nobody has answered.
func (q *asked) unanswered() (n int) {
	for _, o := range q.open {
		if o.Answered == nil {
			n++
		}
	}
	return n
}

// questions returns what a run has asked. On damage it returns what stands before it, with the
// error. S is its store, nil if it is in none: then nobody can have answered.
func (t *target) questions(ctx context.Context, s *pawl.Store) (asked, error) {
	if isCheckpoint(t.info) || !hasJournal(t.info.Err) {
		return asked{}, nil
	}
	q, err := readAsked(ctx, t.info.Path)
	for i := range q.open {
		q.open[i].Run, q.open[i].arg = text(t.info.ID), t.arg
	}
	if s == nil || err != nil || len(q.open) == 0 {
		return q, err
	}
	waiting, _ := s.Questions(ctx, t.info.ID) //nolint:errcheck // an inbox that cannot be read is a warning of the run
	for _, w := range waiting {
		if o := q.one(w.Key); o != nil && o.Seq == w.Seq {
			o.Answered = decisionOf(w.Answered)
		}
	}
	return q, nil
}

// readAsked reads the questions of a journal in one pass.
func readAsked(ctx context.Context, path string) (q asked, err error) {
	f, err := journal.Open(path)
	if err != nil {
		return q, err
	}
	defer f.Close()
	fold := journal.NewFold()
	// By what the fold makes of a step, which goes along when a step is renamed.
	answers, refused := map[*journal.Step]journal.Span{}, map[*journal.Step]*refusalJSON{}
	_, err = journal.EachFile(f, func(r *journal.Record) error {
		fold.Apply(r)
		s := fold.Steps[r.Key]
		switch {
		case s == nil:
		case r.Kind == journal.KindAnswer && s.Seq == r.Seq:
			answers[s] = journal.Span{Seq: s.Seq, Offset: s.Offset, Len: s.Len}
		case r.Kind == journal.KindAwait:
			delete(refused, s)
		case r.Kind == journal.KindRefuse:
			refused[s] = &refusalJSON{decisionJSON{text(r.Str("by")), text(r.Str("reason")), jsonTime(r.Time())}, r.Str("error")}
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() != nil {
		return q, ctx.Err()
	}
	q.shapes = map[string]shape{}
	for key, s := range fold.Steps {
		span, answered := answers[s]
		answered = answered && s.Status == journal.StepDone && span.Seq == s.Seq
		open := s.Status == journal.StepWaiting
		if !answered && !open && !(s.Status == journal.StepFailed && s.Final) {
			continue
		}
		rec := recordIn(f, s.Start)
		if rec == nil || rec.Kind != journal.KindAwait {
			rec = nil // an answer whose question is gone; or no question
		} else {
			q.shapes[key] = readShape(rec.Member("shape"))
		}
		switch {
		case open && rec != nil:
			v := viewQuestion(key, rec, q.shapes[key])
			if t := fold.Trouble[key]; t != nil {
				v.UntilAt = jsonTime(t.Until)
			}
			v.Refused = refused[s]
			q.open = append(q.open, v)
		case answered:
			if rec := recordIn(f, span); rec != nil {
				q.answered = append(q.answered, viewAnswer(key, rec))
			}
		}
	}
	slices.SortFunc(q.open, func(x, y questionView) int { return cmp.Compare(x.Seq, y.Seq) })
	slices.SortFunc(q.answered, func(x, y answerView) int { return cmp.Compare(x.Seq, y.Seq) })
	return q, err
}

// recordIn returns a record that was read before, nil if it is not there any more: what is
// wrong shows elsewhere.
func recordIn(f *os.File, span journal.Span) *journal.Record {
	if span.Len == 0 {
		return nil
	}
	rec, err := journal.RecordAt(f, span)
	if err != nil {
		return nil
	}
	return rec
}

func viewQuestion(key string, r *journal.Record, s shape) questionView {
	text, _ := r.Value()
	return questionView{
		Key: key, AskedAt: jsonTime(r.Time()), Question: raw(text), Shape: raw(r.Member("shape")),
		Takes: s.String(), YesNo: s.yesNo(), Seq: r.Seq, shape: s,
	}
}

func viewAnswer(key string, r *journal.Record) answerView {
	value, _ := r.Value()
	return answerView{Key: key, By: text(r.Str("by")), Reason: text(r.Str("reason")), At: jsonTime(r.Time()), Answer: raw(value), Seq: r.Seq}
}

// decision is the same for those who write lines.
func (d *decisionJSON) decision() *runs.Decision {
	return &runs.Decision{By: orEmpty(d.By), Reason: orEmpty(d.Reason), At: time.Time(d.At)}
}
