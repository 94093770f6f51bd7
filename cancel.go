package pawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// Cancel stops a run, from any process: who works on it is told, and nobody goes on with it
// until [Store.Reopen]. When it returns nil that is durable.
//
// The owner's context, the one that fn has from [Do], ends with [ErrCancelled] as its cause: on
// Linux within a few milliseconds, elsewhere after a tenth of a second. No further step begins; one that
// ends all the same is recorded, and Do returns an error that matches [ErrCancelled]. So does
// every later start. A run that somebody has cancelled already stays as he did it, and Cancel
// returns nil.
//
// Errors: [ErrNotFound], [ErrComplete] (nothing is left to cancel), [ErrInvalid] (the ID),
// [ErrCorrupt], [ErrNewerFormat], and those of the file system.
func (s *Store) Cancel(ctx context.Context, id, by, reason string) error {
	const op = "cancel"
	info, fold, err := s.inspect(ctx, op, id)
	if err != nil {
		return err
	}
	switch fold.Status {
	case journal.Complete:
		return &RunError{Op: op, RunID: id, Err: ErrComplete, Hint: "nothing was changed, the run has its result"}
	case journal.Cancelled:
		return nil
	}
	e := inbox.Entry{Kind: inbox.KindCancel, UID: info.UID, At: s.now(), By: s.text(by), Reason: s.text(reason)}
	_, err = inbox.Post(s.dir.FS, s.dir.Inbox(id), e, warner(s.log))
	var first *inbox.ExistsError
	if errors.As(err, &first) && first.Err == nil {
		return nil
	}
	if err != nil {
		return &RunError{Op: op, RunID: id, Err: err, Hint: "it is not known whether the run is cancelled; cancel it again"}
	}
	return nil
}

// Reopen takes a cancellation back: the next start goes on with the run. Who says so and why
// stand in its history. When it returns nil that is durable.
//
// Errors: [ErrNotFound], [ErrLocked] (its owner has not stopped yet), [ErrComplete], [ErrInvalid]
// (the run is not cancelled), [ErrCorrupt], [ErrNewerFormat].
func (s *Store) Reopen(ctx context.Context, id, by, reason string) error {
	const op = "reopen"
	log, fold, release, err := s.openUnowned(ctx, op, id)
	if err != nil {
		return err
	}
	refuse := func(err error, hint string) error {
		return &RunError{Op: op, RunID: id, Err: err, Hint: "nothing was written; " + hint}
	}
	path := s.dir.Journal(id)
	mail, err := s.cancellation(id, fold)
	switch {
	case err != nil:
		err = refuse(err, "look into "+s.dir.Inbox(id))
	case fold.Status == journal.Complete:
		err = refuse(ErrComplete, "the run has its result")
	case fold.Status != journal.Cancelled && mail == nil:
		err = refuse(fmt.Errorf("%w: the run is not cancelled", ErrInvalid), "a run that failed is tried again by its next start, a step that failed finally after: pawl retry "+quoteArg(id))
	default:
		if fold.Status != journal.Cancelled {
			_, err = log.Append(cancelled(mail).Bytes(), false) // it stays in the history
		}
		if err == nil {
			b := line.NewBody(journal.KindReopen, "", s.now())
			s.signed(b, by, reason)
			_, err = log.Append(b.Bytes(), true)
		}
		if err != nil {
			err = writeError(op, id, "", path, err)
		}
		if err == nil && mail != nil {
			err = s.taken(id, mail)
		}
	}
	if releaseErr := release(); err == nil {
		err = releaseErr
	}
	return err
}

// text returns what a person says as it may be written.
func (s *Store) text(t string) string { return bounded((&Run{store: s}).hide(t)) }

// cancellation returns the cancellation that lies in a run's inbox, nil if there is none. Its
// owner may have taken it and not got to removing it: then the fold knows its Mail.
func (s *Store) cancellation(id string, fold *journal.Fold) (*inbox.Entry, error) {
	mail, err := inbox.Read(s.dir.FS, s.dir.Inbox(id), fold.Header.UID)
	for i := range mail {
		if mail[i].Kind == inbox.KindCancel {
			return &mail[i], nil
		}
	}
	return nil, err
}

// taken removes mail that is in the journal.
func (s *Store) taken(id string, mail *inbox.Entry) error {
	if err := inbox.Remove(s.dir.FS, s.dir.Inbox(id), *mail, warner(s.log)); err != nil {
		return &RunError{Op: "empty the inbox of", RunID: id, Path: s.dir.Inbox(id), Err: err, Hint: "everything is recorded; what is left there is passed over"}
	}
	return nil
}

// cancelled is the record of a cancellation.
func cancelled(mail *inbox.Entry) *line.Body {
	b := line.NewBody(journal.KindCancelled, "", mail.At)
	return b.Str("by", mail.By).Str("reason", mail.Reason).Str("mail", mail.Mail)
}

// cancelError says who cancelled a run, when and why.
func cancelError(id string, d journal.Decision) error {
	text := "at " + d.At.UTC().Format(time.RFC3339)
	if d.By != "" {
		text = "by " + d.By + " " + text
	}
	if d.Reason != "" {
		text += ", since: " + d.Reason
	}
	return &RunError{Op: "start", RunID: id, Err: fmt.Errorf("%w %s", ErrCancelled, text), Hint: "what is done stays recorded; to go on: pawl reopen " + quoteArg(id)}
}

// refuseCancelled takes a cancellation that came while nobody owned the run, and returns an
// error if the run is cancelled.
func (r *Run) refuseCancelled() error {
	if err := r.takeMail(); err != nil {
		return err
	}
	if r.fold.Status == journal.Cancelled {
		return cancelError(r.id, r.fold.Cancel)
	}
	return nil
}

// listen begins to wait for mail.
func (r *Run) listen() {
	stop := r.store.bell.Listen(r.store.dir.Inbox(r.id), func() {
		r.mail.Go(func() {
			if err := r.takeMail(); err != nil {
				r.store.log.Warn("mail could not be taken", "run", r.id, "err", err)
			}
		})
	})
	r.deaf = func() {
		stop()
		r.mail.Wait()
	}
}

// takeMail takes what is in the inbox into the journal.
func (r *Run) takeMail() error {
	r.mailMu.Lock()
	defer r.mailMu.Unlock()
	r.mu.Lock()
	uid := r.fold.Header.UID
	r.mu.Unlock()
	mail, err := inbox.Read(r.store.dir.FS, r.store.dir.Inbox(r.id), uid)
	if err != nil {
		err = &RunError{Op: "read the inbox of", RunID: r.id, Err: err, Hint: "that file was left as it is; look at it, remove it if it is nobody's word, and start again"}
	}
	for i := range mail {
		switch e := &mail[i]; e.Kind {
		case inbox.KindCancel:
			err = errors.Join(r.takeCancel(e), err)
		case inbox.KindAnswer:
			err = errors.Join(r.takeAnswer(e), err)
		}
	}
	return err
}

// takeCancel takes a cancellation into the journal.
func (r *Run) takeCancel(e *inbox.Entry) error {
	r.mu.Lock()
	known := r.fold.Mail == e.Mail
	if !known {
		r.cancelled = cancelError(r.id, journal.Decision{By: e.By, Reason: e.Reason, At: e.At})
	}
	why := r.cancelled
	r.mu.Unlock()
	if known {
		return r.store.taken(r.id, e)
	}
	r.endContexts(why) // first: whoever works should stop, a flush takes its time
	none := func() error { return nil }
	err := r.record(cancelled(e).Bytes(), true, none, func(f *journal.Fold, span journal.Span) {
		f.CancelRun(e.By, e.Reason, e.Mail, e.At, span.Seq)
	})
	if errors.Is(err, ErrComplete) || errors.Is(err, ErrClosed) {
		return nil // too late; the next owner reads it
	}
	if err != nil {
		return r.writeError("cancel", "", err)
	}
	return r.store.taken(r.id, e)
}

// stoppedBy returns the error of a run that was cancelled while it was open, nil if it was not.
func (r *Run) stoppedBy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancelled
}
