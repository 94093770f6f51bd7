package pawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/pawlgo/pawl/internal/dirstore"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/runs"
)

// Run is an open run: this process owns it until [Run.Close]. It is safe for
// concurrent use.
type Run struct {
	store    *Store
	id       string
	log      *journalfile.File // nil when the run is complete
	lock     vfs.Lock          // nil when the run is complete
	resume   Resume
	progress func(runs.Progress)
	progMu   sync.Mutex
	lenient  bool           // AllowUnknown
	anyInput bool           // IgnoreInput
	yield    *time.Duration // longest wait that is waited for, nil if all are
	terms    terms
	ward     *ward // nil but behind a death with several steps under way

	answers   answers        // for those who wait for them
	mailMu    sync.Mutex     // held while mail is taken
	mail      sync.WaitGroup // goroutines that take it
	deaf      func()         // ends listening for mail and waits for those
	cancelled error          // by mail that came while the run was open

	// gate lets steps record and look up while the run is open; whoever ends or
	// compacts the journal holds it alone.
	gate sync.RWMutex

	mu     sync.Mutex
	fold   *journal.Fold // what is recorded
	asked  map[string]stepState
	nested map[string][]string // keys asked in this attempt, by the key around them
	states map[string]*runState
	live   map[string]uint64 // tries under way, by the keys of their steps
	lives  uint64            // tries so far
	gone   uint64            // how often something was begun anew or renamed so far

	// order is held while a record is written that depends on which tries are under way, or
	// that decides it: an epoch.
	order    sync.Mutex
	wakeAt   time.Time                 // when the first wait is over that the run did not wait for
	carriers int                       // contexts that carry the run and have not ended
	heeding  []func()                  // end what waits for their end
	ends     []context.CancelCauseFunc // of the contexts that carry the run
	active   int                       // steps and Maps under way
	idle     *sync.Cond                // active may have become 0
	closing  bool                      // no further step may begin
	result   []byte                    // recorded result, when complete
	ended    error                     // why nothing more is recorded, nil while open
}

// stepState is how a key stands in this attempt.
type stepState uint8

const (
	stepRunning  stepState = iota + 1
	stepAnswered           // from the record
	stepDone               // its function ran
	stepFailed
)

// Resume says what the opening of a run found.
type Resume struct {
	Attempt int           // 1 on a fresh start
	Steps   int           // steps with a recorded result, which will not run again; those inside one are not counted
	Saved   time.Duration // time that those steps took when they ran
	// Units is what those steps used when they ran, by unit, as package meter records it: what
	// this start does not pay again. It is nil if nothing was metered.
	Units map[string]float64
}

// Begin opens a run for work, creating it if it is absent, and owns it until
// [Run.Close]. [Do] does this and the rest for a function; Begin is for programs
// whose work is not one function.
//
// A complete run opens too: [Run.Result] then gives its result, without owning
// anything, and every step is [ErrComplete].
//
// Errors match [ErrLocked] (another process owns it: host, process and since when
// are in the message), [ErrCorrupt] and [ErrNewerFormat] (nothing was changed),
// [ErrInputChanged], [ErrInvalid] (the ID), [ErrNotFound] (with [MustExist]).
func (s *Store) Begin(ctx context.Context, id string, opts ...RunOption) (*Run, error) {
	var c runConfig
	for _, o := range opts {
		o.applyRun(&c)
	}
	if err := s.checkOpen("open", id); err != nil {
		return nil, err
	}
	if err := runid.Check(id); err != nil {
		return nil, invalidID("open", id, err)
	}
	if ctx.Err() != nil {
		return nil, &RunError{Op: "open", RunID: id, Err: s.ended(ctx)}
	}
	var input value.Fingerprint
	if c.hasInput {
		var err error
		if input, err = s.fingerprint(c.input); err != nil {
			return nil, &RunError{Op: "open", RunID: id, Err: fmt.Errorf("%w: run input: %w", ErrInvalid, err)}
		}
	}
	if c.kind != "" && badText(c.kind) {
		return nil, &RunError{Op: "open", RunID: id, Err: fmt.Errorf("%w: the run's kind must be UTF-8 without NUL bytes, at most %d bytes long: %q", ErrInvalid, maxLabel, s.shown(c.kind))}
	}
	if name, bad := badLabel(c.labels); bad {
		return nil, &RunError{Op: "open", RunID: id, Err: fmt.Errorf("%w: a label needs a name and a value, in UTF-8 and at most %d bytes each: %q", ErrInvalid, maxLabel, s.shown(name))}
	}
	if err := c.checkTerms(s, id); err != nil {
		return nil, err
	}
	r := &Run{store: s, id: id, yield: c.yield, states: map[string]*runState{}, live: map[string]uint64{}, progress: c.progress, lenient: c.allowUnknown, anyInput: c.ignoreInput, asked: map[string]stepState{}, nested: map[string][]string{}}
	r.idle = sync.NewCond(&r.mu)
	if err := r.open(c, input); err != nil {
		if r.deaf != nil {
			r.deaf()
		}
		if r.log != nil {
			r.log.Close() //nolint:errcheck // nothing of ours was appended
		}
		if r.lock != nil {
			r.lock.Release() //nolint:errcheck // ends with the process at the latest
		}
		return nil, err
	}
	r.letRunInputPass(input)
	return r, nil
}

func (r *Run) open(c runConfig, input value.Fingerprint) error {
	d := r.store.dir
	path := d.Journal(r.id)
	if c.mustExist {
		if _, err := d.FS.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return &RunError{Op: "open", RunID: r.id, Path: path, Err: ErrNotFound, Hint: "nothing was created; check the ID"}
		}
	}
	if done, err := r.acquire(path, input); done || err != nil {
		return err
	}
	check := func(h journal.Header) error { return r.checkHeader(path, h, input) }
	log, fold, rec, err := journalfile.OpenChecked(d.FS, path, check, warner(r.store.log))
	if errors.Is(err, fs.ErrNotExist) {
		if c.mustExist {
			return &RunError{Op: "open", RunID: r.id, Path: path, Err: ErrNotFound, Hint: "nothing was created; check the ID"}
		}
		return r.create(path, c, input)
	}
	if err != nil {
		return r.openError(path, err)
	}
	r.log, r.fold = log, fold
	if rec.Torn > 0 {
		r.store.log.Warn("an interrupted write was cut off", "run", r.id, "bytes", rec.Torn, "offset", rec.Offset, "kept", rec.Aside, "reason", rec.Reason)
	}
	if fold.Status == journal.Complete {
		return r.finishedAlready()
	}
	r.listen()
	if err := r.refuseCancelled(); err != nil {
		return err
	}
	r.setTerms(c)
	if err := r.countDeath(); err != nil {
		return err
	}
	return r.attempt(fold.Attempts + 1)
}

// acquire takes the run's lock. If that cannot be had and the run is complete, it
// returns done: a result needs no owner.
func (r *Run) acquire(path string, input value.Fingerprint) (done bool, err error) {
	if err := r.store.dir.CheckRuns(); err != nil {
		return false, r.openError("", err)
	}
	if r.lock, err = r.store.dir.Acquire(r.id); err == nil {
		return false, nil
	}
	if done, peekErr := r.peek(path, input); done || peekErr != nil && !errors.Is(peekErr, fs.ErrNotExist) {
		return done, peekErr
	}
	if locked, ok := lockedError("open", r.id, "", err); ok {
		return false, locked
	}
	return false, &RunError{Op: "lock", RunID: r.id, Err: err, Hint: "nothing was started"}
}

// peek reads a run that we do not own and takes its result if it is complete.
func (r *Run) peek(path string, input value.Fingerprint) (bool, error) {
	// All from one descriptor: a compaction may replace the file meanwhile.
	f, err := vfs.OpenRegular(r.store.dir.FS, path)
	if err != nil {
		return false, r.openError(path, err)
	}
	defer f.Close()
	fold, _, err := journal.ReadFile(f)
	if err != nil {
		return false, r.openError(path, err)
	}
	if fold.Status != journal.Complete {
		return false, nil
	}
	if err := syncReader(f); err != nil { // what we hand out must be durable
		return false, r.openError(path, err)
	}
	rec, err := journal.RecordAt(f, fold.Result)
	if err != nil {
		return false, r.openError(path, err)
	}
	if err := r.checkHeader(path, fold.Header, input); err != nil {
		return false, err
	}
	r.fold = fold
	r.complete(rec)
	return true, nil
}

// checkHeader refuses the journal of another run, and another input, before anything
// in it is touched.
func (r *Run) checkHeader(path string, h journal.Header, input value.Fingerprint) error {
	switch {
	case h.RunID != r.id:
		return r.openError(path, fmt.Errorf("%w: the file holds run %q", ErrCorrupt, h.RunID))
	case h.Store != r.store.dir.UID:
		return &RunError{Op: "open", RunID: r.id, Path: path, Err: fmt.Errorf("%w: the run belongs to another store (%s, this is %s)", ErrConflict, h.Store, r.store.dir.UID), Hint: "nothing was changed; a run comes into a store with pawl import, not by copying its file"}
	case input.Digest != "" && h.InputDigest != "" && input.Digest != h.InputDigest && !r.anyInput:
		return &RunError{Op: "open", RunID: r.id, Err: inputChanged(h.Input, h.Outline, input), Hint: "nothing ran; the run is as it was. Start it with the input it was created with, or use another run ID"}
	}
	return nil
}

// finishedAlready reads the result of a complete run and lets go of it.
func (r *Run) finishedAlready() error {
	rec, err := r.log.Record(r.fold.Result)
	if err != nil {
		return r.openError(r.log.Path(), err)
	}
	err = errors.Join(r.log.Close(), r.lock.Release())
	r.log, r.lock = nil, nil
	if err != nil {
		return &RunError{Op: "open", RunID: r.id, Err: err}
	}
	r.complete(rec)
	return nil
}

func (r *Run) complete(rec *journal.Record) {
	text, ok := rec.Value()
	if !ok {
		text = []byte("null")
	}
	r.result = append([]byte(nil), text...)
	r.ended = ErrComplete
	r.countResume(r.fold.Attempts)
}

func (r *Run) create(path string, c runConfig, input value.Fingerprint) error {
	uid := dirstore.NewUID()
	b := line.NewBody(journal.KindRun, "", r.store.now()).Int("format", journal.Format).
		Str("id", r.id).Str("uid", uid).Int("inc", 1).Str("store", r.store.dir.UID)
	if c.kind != "" {
		b.Str("run_kind", r.hide(c.kind))
	}
	if labels := r.labels(c.labels); labels != nil {
		b.Raw("labels", labels)
	}
	if input.Digest != "" {
		withInput(b, &input)
	}
	if !r.lock.Intact() {
		// Who locked a new file of that name finds a journal locked too, but not one that is not
		// there yet.
		return &RunError{Op: "create", RunID: r.id, Path: path, Err: fmt.Errorf("%w: somebody removed the lock file", ErrLeaseLost), Hint: "nothing was written; another process may own the run now, open it again"}
	}
	log, err := journalfile.Create(r.store.dir.FS, path, b.Bytes(), warner(r.store.log))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, journalfile.ErrReplaced) {
		return writeError("create", r.id, "", path, err)
	}
	if err != nil {
		return &RunError{Op: "create", RunID: r.id, Path: path, Err: err, Hint: "nothing was started"}
	}
	r.log = log
	r.fold = journal.NewFold()
	r.fold.Header.RunID, r.fold.Header.UID = r.id, uid
	r.setTerms(c)
	r.listen()
	if err := r.refuseCancelled(); err != nil {
		return err
	}
	return r.attempt(1)
}

func (r *Run) attempt(n int64) error {
	o := r.lock.Owner()
	b := line.NewBody(journal.KindAttempt, "", r.store.now()).Int("n", n).Str("host", o.Host).Int("pid", int64(o.PID))
	r.terms.write(b)
	if _, err := r.log.Append(b.Bytes(), false); err != nil {
		return r.writeError("open", "", err)
	}
	r.countResume(n)
	if err := r.tooLate(); err != nil {
		r.Fail(err) //nolint:errcheck // the next start says the same
		return err
	}
	return nil
}

func (r *Run) countResume(attempt int64) {
	c := r.fold.Counts()
	r.resume = Resume{Attempt: int(attempt), Steps: c.Outer, Saved: c.Took, Units: c.Used}
}

// ID returns the run's ID.
func (r *Run) ID() string { return r.id }

// Resumed says what opening the run found.
func (r *Run) Resumed() Resume { return r.resume }

// Resumed says what opening the run in ctx found. Without a run it is zero.
func Resumed(ctx context.Context) Resume {
	s, err := scopeOf(ctx)
	if err != nil {
		return Resume{}
	}
	return s.run.resume
}
