package pawl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/shape"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Answer answers the question key of a run, from any process; the run need not be open, and the
// question not be asked yet. Key is the full key, with its scopes. Result must be what the code that
// waits can take, or its JSON as a json.RawMessage. Who says so and why are recorded with it.
// When it returns nil that is durable: who waits for it is told, or gets it on the next start.
//
// There is one answer: of two, one wins, and the other is [ErrConflict], which names who was
// first and when. The same answer by the same person again is nil.
//
// Who shows a question to a person and answers for him should use [Store.AnswerQuestion]: by then
// the run may ask something else under that key.
//
// Errors: [ErrNotFound], [ErrConflict], [ErrComplete], [ErrMismatch] (the question is known, and
// the answer does not fit it: with the JSON path), [ErrInvalid] (the ID, the key, a value that cannot
// be stored, a step that is no question), [ErrCancelled], [ErrCorrupt], [ErrNewerFormat].
func (s *Store) Answer(ctx context.Context, id, key string, result any, by, reason string) error {
	return s.answer(ctx, id, key, "", result, by, reason)
}

// AnswerQuestion is [Store.Answer] to a question as [Store.Questions] has returned it: if the run
// asks something else under that key by now, the answer is not given, and the error is
// [ErrConflict].
func (s *Store) AnswerQuestion(ctx context.Context, q runs.Question, result any, by, reason string) error {
	return s.answer(ctx, q.RunID, q.Key, q.Digest, result, by, reason)
}

func (s *Store) answer(ctx context.Context, id, key, about string, result any, by, reason string) error {
	const op = "answer"
	refuse := func(err error, hint string) error {
		return &RunError{Op: op, RunID: id, Key: key, Err: err, Hint: "nothing was recorded; " + hint}
	}
	text, err := value.EncodeRedacted(result, s.redact)
	if err != nil {
		return &RunError{Op: op, RunID: id, Key: key, Err: fmt.Errorf("%w: answer: %w", ErrInvalid, err), Hint: "nothing was recorded"}
	}
	if why := wrongName("a key", key); why != "" || key == "" {
		return refuse(fmt.Errorf("%w: %s", ErrInvalid, why), "list the questions with: pawl waiting "+quoteArg(id))
	}
	info, fold, err := s.inspect(ctx, op, id)
	if err != nil {
		return err
	}
	e := inbox.Entry{Kind: inbox.KindAnswer, UID: info.UID, Key: key, At: s.now(), By: s.text(by), Reason: s.text(reason), Value: text}
	switch fold.Status {
	case journal.Complete:
		return refuse(ErrComplete, "the run has its result")
	case journal.Cancelled:
		return cancelError(id, fold.Cancel)
	}
	if len(text) > inbox.MaxSize/2 { // a text that must be quoted may be twice as long there
		return refuse(fmt.Errorf("%w: an answer of %d bytes; the limit is %d", ErrInvalid, len(text), inbox.MaxSize/2), "answer with the path of a file")
	}
	given, err := s.answerOf(info.Path, fold, key)
	if err != nil {
		return openError(id, info.Path, err)
	}
	if given != nil {
		return conflict(op, id, key, e, *given)
	}
	switch st := fold.Steps[key]; {
	case st == nil: // it comes before the question
	case st.Status == journal.StepWaiting:
		q, err := s.recordAt(info.Path, st.Start)
		if err != nil {
			return openError(id, info.Path, err)
		}
		if e.About = q.Str("in"); about != "" && about != e.About {
			return refuse(fmt.Errorf("%w: the question has changed since it was shown", ErrConflict), "look at it again: pawl show "+quoteArg(id))
		}
		if err := shape.Check(q.Member("shape"), text); err != nil {
			return refuse(fmt.Errorf("%w: %w", ErrMismatch, err), "the question waits for: "+string(q.Member("shape")))
		}
	case st.Status == journal.StepFailed && st.Final && st.Tries == 0: // no function was called: it was asked
		return refuse(fmt.Errorf("%w: the time for an answer is over", ErrConflict), "to ask again: pawl retry "+quoteArg(id)+" "+quoteArg(key))
	default:
		return refuse(fmt.Errorf("%w: a step of that key is no question", ErrInvalid), "list the questions with: pawl waiting "+quoteArg(id))
	}
	_, err = inbox.Post(s.dir.FS, s.dir.Inbox(id), e, warner(s.log))
	if first, ok := errors.AsType[*inbox.ExistsError](err); ok && first.Err == nil {
		return conflict(op, id, key, e, first.Winner)
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) {
		return refuse(err, "what lies there can neither be taken nor overwritten; look at it, and remove it if it is nobody's")
	}
	if err != nil {
		return &RunError{Op: op, RunID: id, Key: key, Err: err, Hint: "it is not known whether the answer is recorded; give it again"}
	}
	// An owner that took somebody else's answer a moment ago has it in the journal by now.
	if info, fold, err = s.inspect(context.WithoutCancel(ctx), op, id); err == nil {
		given, err = s.answerOf(info.Path, fold, key)
	}
	switch {
	case err != nil:
		return &RunError{Op: op, RunID: id, Key: key, Err: err, Hint: "the answer is recorded; whether somebody else was first is not known, give it again"}
	case given != nil:
		return conflict(op, id, key, e, *given)
	}
	return nil
}

// conflict says that somebody was first, unless he said the same.
func conflict(op, id, key string, e, first inbox.Entry) error {
	if first.By == e.By && bytes.Equal(first.Value, e.Value) {
		return nil
	}
	who := first.By
	if who == "" {
		who = "somebody"
	}
	why := ""
	if first.Reason != "" {
		why = ", since: " + first.Reason
	}
	return &RunError{
		Op: op, RunID: id, Key: key, Err: fmt.Errorf("%w: it was answered by %s at %s%s", ErrConflict, who, first.At.UTC().Format(time.RFC3339), why),
		Hint: "that answer counts, yours was not recorded",
	}
}

// answerOf returns the recorded answer to a question, nil if there is none.
func (s *Store) answerOf(path string, fold *journal.Fold, key string) (*inbox.Entry, error) {
	st := fold.Steps[key]
	if st == nil || st.Status != journal.StepDone {
		return nil, nil
	}
	rec, err := s.recordAt(path, journal.Span{Seq: st.Seq, Offset: st.Offset, Len: st.Len})
	if err != nil {
		return nil, err
	}
	if rec.Kind != journal.KindAnswer {
		return nil, nil
	}
	text, _ := rec.Value()
	return &inbox.Entry{By: rec.Str("by"), Reason: rec.Str("reason"), At: rec.Time(), Mail: rec.Str("mail"), Value: text}, nil
}

func (s *Store) recordAt(path string, span journal.Span) (*journal.Record, error) {
	f, err := vfs.OpenRegular(s.dir.FS, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rec, err := journal.RecordAt(f, span)
	if err != nil {
		return nil, journal.WithPath(err, path)
	}
	return rec, nil
}

// Questions describes the questions of a run that wait for an answer, the oldest first; those
// with an answer that the run has not taken yet have it in Answered. It takes no lock and changes
// nothing.
func (s *Store) Questions(ctx context.Context, id string) ([]runs.Question, error) {
	const op = "list the questions of"
	for try := 1; ; try++ {
		// Before the journal: an answer that is taken meanwhile must be seen in one of the two.
		mail, mailErr := inbox.ReadAll(s.dir.FS, s.dir.Inbox(id))
		info, fold, err := s.inspect(ctx, op, id)
		if err != nil {
			return nil, err
		}
		questions, err := s.questions(info, fold, mail)
		if err == nil && mailErr != nil { // the questions can be shown all the same
			s.log.Warn("an inbox cannot be read", "run", id, "err", mailErr)
		}
		if err == nil {
			return questions, nil
		}
		if try == 3 { // else a compaction may have replaced the file meanwhile
			return nil, openError(id, info.Path, err)
		}
	}
}

func (s *Store) questions(info runs.Info, fold *journal.Fold, mail []inbox.Entry) ([]runs.Question, error) {
	keys := fold.Questions()
	if len(keys) == 0 {
		return nil, nil
	}
	pending := map[string]*inbox.Entry{}
	for i := range mail {
		if mail[i].Kind == inbox.KindAnswer && mail[i].UID == info.UID {
			pending[mail[i].Key] = &mail[i]
		}
	}
	var questions []runs.Question
	for _, key := range keys {
		rec, err := s.recordAt(info.Path, fold.Steps[key].Start)
		if err != nil {
			return nil, err
		}
		text, _ := rec.Value()
		q := runs.Question{RunID: info.ID, Key: key, Asked: rec.Time(), Question: bytes.Clone(text), Shape: bytes.Clone(rec.Member("shape")), Digest: rec.Str("in"), Seq: rec.Seq}
		if t := fold.Trouble[key]; t != nil {
			q.Until = t.Until
		}
		if e := pending[key]; e != nil {
			q.Answered = decision(e.By, e.Reason, e.At)
		}
		questions = append(questions, q)
	}
	sortQuestions(questions)
	return questions, nil
}

// answers tells those who wait in this process that a question was answered.
type answers struct {
	mu   sync.Mutex
	next chan struct{}
}

// listen returns a channel that is closed at the next answer.
func (a *answers) listen() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next == nil {
		a.next = make(chan struct{})
	}
	return a.next
}

func (a *answers) tell() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next != nil {
		close(a.next)
		a.next = nil
	}
}

// takeAnswer takes an answer into the journal, if its question was asked. What is no answer to
// it is refused, which is recorded too, so that somebody can give another one.
func (r *Run) takeAnswer(e *inbox.Entry) error {
	asked, q, err := r.questionAt(e.Key)
	switch {
	case err != nil:
		return err
	case !asked:
		return nil // it is early
	case q == nil:
		return r.store.taken(r.id, e) // it is late: its sender was told, or it is in the journal
	}
	why := refusal(q, e)
	kind := journal.KindAnswer
	if why != "" {
		kind = journal.KindRefuse
		r.store.log.Warn("an answer was refused", "run", r.id, "step", e.Key, "by", e.By, "why", why)
	}
	b := answerBody(kind, q, e)
	if why != "" {
		b.Str("error", bounded(why))
	}
	still := func() error {
		if st := r.fold.Steps[e.Key]; st == nil || st.Status != journal.StepWaiting || st.InputDiffers(q.Str("in")) {
			return errMoved
		}
		return nil
	}
	err = r.record(b.Value(e.Value).Bytes(), true, still, func(f *journal.Fold, span journal.Span) {
		if kind == journal.KindAnswer {
			f.Answer(e.Key, span, e.At.UnixMicro())
		}
	})
	switch {
	case errors.Is(err, errMoved), errors.Is(err, ErrComplete), errors.Is(err, ErrClosed):
		return nil // the next look sees what has become of it
	case err != nil:
		return r.writeError("answer", e.Key, err)
	}
	r.answers.tell()
	return r.store.taken(r.id, e)
}

// refusal says why what somebody answered is no answer to a question, "" if it is one.
func refusal(q *journal.Record, e *inbox.Entry) string {
	if e.About != "" && e.About != q.Str("in") {
		return "the question has changed since"
	}
	if err := shape.Check(q.Member("shape"), e.Value); err != nil {
		return err.Error()
	}
	return ""
}

// answerBody begins the record of an answer, or of its refusal.
func answerBody(kind string, q *journal.Record, e *inbox.Entry) *line.Body {
	return line.NewBody(kind, e.Key, e.At).Str("by", e.By).Str("reason", e.Reason).Str("mail", e.Mail).Str("about", q.Str("in"))
}

// errMoved says that a question is not what it was when its answer was checked.
var errMoved = errors.New("the question has changed")

// questionAt returns the record of an open question; nil if it is not open, and false if there
// is none.
func (r *Run) questionAt(key string) (asked bool, rec *journal.Record, err error) {
	// A compaction moves records: look up and read in one.
	r.gate.RLock()
	defer r.gate.RUnlock()
	r.mu.Lock()
	st := r.fold.Steps[key]
	open := st != nil && st.Status == journal.StepWaiting
	var span journal.Span
	if open {
		span = st.Start
	}
	r.mu.Unlock()
	if !open {
		return st != nil, nil, nil
	}
	if rec, err = r.log.Record(span); err != nil {
		return true, nil, r.readError(key, err)
	}
	return true, rec, nil
}

func sortQuestions(questions []runs.Question) {
	slices.SortFunc(questions, func(a, b runs.Question) int { return cmp.Compare(a.Seq, b.Seq) })
}
