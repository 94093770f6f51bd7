package journal

import (
	"encoding/hex"
	"strconv"
	"time"
)

// Status is the state of a run.
type Status string

// Statuses that a journal can show.
const (
	InProgress Status = "in_progress" // has work left; Do goes on with it
	Complete   Status = "complete"    // has its result
	Failed     Status = "failed"      // its last attempt ended with an error; Do tries again
	Waiting    Status = "waiting"     // its last attempt ended since it has to wait, see WakeAt
	Cancelled  Status = "cancelled"   // somebody cancelled it; Do refuses it until it is reopened
)

// StepStatus says how a step stands.
type StepStatus uint8

// Step statuses.
const (
	StepRunning StepStatus = iota // started, no end recorded: under way, or in doubt after a death
	StepDone                      // has a result
	StepFailed                    // its last try ended with an error
	StepWaiting                   // asks something and has no answer yet
)

// String returns "running", "done", "failed" or "waiting".
func (s StepStatus) String() string {
	return [...]string{"running", "done", "failed", "waiting"}[s]
}

// Step is what the journal says of one step. Payloads stay in the file, at
// Offset.
type Step struct {
	Status StepStatus
	Final  bool          // failed for good: returned as it is, not tried again
	Once   bool          // not to be run again by itself once it began
	Map    string        // key of the Map it is an item of, or empty
	Tries  int64         // tries started, over all attempts
	First  int64         // seq of its first record in this epoch
	Seq    int64         // seq of its last record
	Offset int64         // of that record's line
	Len    int64         // of that record's line, without the newline
	Took   time.Duration // of the try that ended
	At     int64         // when it ended by the writer's clock, in microseconds since 1970
	Input  [16]byte      // digest of the input, zero if none
	Start  Span          // last start record, which has the input
}

// InputDiffers reports whether the step was recorded with an input, and another one
// than that of this digest.
func (s *Step) InputDiffers(digest string) bool {
	return s.Input != [16]byte{} && hex.EncodeToString(s.Input[:]) != digest
}

// SetInput sets the digest of the step's input, from its text; "" is none.
func (s *Step) SetInput(digest string) {
	s.Input = [16]byte{}
	if len(digest) == 2*len(s.Input) {
		hex.Decode(s.Input[:], []byte(digest)) //nolint:errcheck // a wrong digest just differs
	}
}

// MapInfo is what the journal says of one Map.
type MapInfo struct {
	Key   string
	Total int64 // items in the newest attempt that reached it
	First int64 // seq of its first record
	seq   int64 // of its newest record
	done  int64 // items that had a result when that was written
}

// Span names a record's line in the file. Len is 0 if there is none.
type Span struct{ Seq, Offset, Len int64 }

// Fold is the meaning of a journal's records: apply them in order with
// [Fold.Apply]. It is not safe for concurrent use.
type Fold struct {
	Header   Header
	LastSeq  int64
	Records  int64 // records applied; after a compaction fewer than LastSeq
	Status   Status
	Attempts int64
	Attempt  Attempt // the newest one
	Steps    map[string]*Step
	Maps     map[string]*MapInfo
	Result   Span                // record with the result
	Error    string              // why the last attempt failed, "" if it did not
	Saved    map[string]*Saved   // newest state, by the key of its scope: "" is the run's own
	Notes    map[string]Span     // newest note, by the key of its step
	Trouble  map[string]*Trouble // of steps that failed, wait or were under way at a death
	Spent    map[string]float64  // what was metered since the last clear, by unit
	Budget   map[string]float64  // limits of that, as the newest attempt has them
	Deadline time.Time           // by which the run must be complete, zero if there is none
	Within   time.Duration       // from its first start to that
	WakeAt   time.Time           // of a waiting run: when it can go on, zero if that is not known
	Cancel   Decision            // of a cancelled run: who cancelled it, when and why
	Mail     string              // that the newest cancellation came by, see spec/inbox-v1.md
	States   int64               // states recorded
	Unknown  int64               // records of a kind not known here
	Repairs  int64               // times that the file was repaired
	Gone     int64               // records that repairs say are missing, at most

	slab       []Step
	kids       map[string][]string // keys and scopes directly inside another
	errs       map[string]string   // of failed steps, bounded
	epochs     map[string]epoch    // newest epoch, by key
	idem       map[string]string   // idempotency keys of steps that moved to another key
	pins       map[string][]int64  // records that these keys come from
	aliases    []int64             // and the epochs that they count from
	used       map[string][]Amount // what steps used, by their keys
	ignored    map[string]string   // digests of inputs that were let pass, by the keys of their steps
	attemptSeq int64               // newest attempt
	endSeq     int64               // newest end of an attempt, or completion
	cancelSeq  int64               // the cancellation in force
	reopened   [2]int64            // a cancellation and what took it back, since the newest attempt: the end before them counts no more
	resumeSeq  int64               // newest retry that made a waiting run go on, until an attempt comes
	clearSeq   int64               // newest clear
	lastAt     []byte
}

// NewFold returns an empty Fold.
func NewFold() *Fold {
	f := &Fold{Status: InProgress}
	f.empty()
	return f
}

// empty forgets all steps and states.
func (f *Fold) empty() {
	f.Steps, f.Maps = map[string]*Step{}, map[string]*MapInfo{}
	f.Saved, f.Notes = map[string]*Saved{}, map[string]Span{}
	f.kids, f.errs, f.epochs, f.slab = map[string][]string{}, map[string]string{}, map[string]epoch{}, nil
	f.idem, f.pins, f.aliases = map[string]string{}, map[string][]int64{}, nil
	f.ignored = map[string]string{}
	f.Trouble, f.Spent, f.used = map[string]*Trouble{}, map[string]float64{}, map[string][]Amount{}
}

// Apply adds the next record.
func (f *Fold) Apply(r *Record) {
	f.LastSeq = r.Seq
	f.Records++
	f.lastAt = append(f.lastAt[:0], r.Member("at")...)
	span := Span{r.Seq, r.Offset, int64(len(r.Text))}
	switch r.Kind {
	case KindRun:
		f.header(r)
	case KindAttempt:
		if f.Status != Complete && f.Status != Cancelled { // these stay
			f.Status, f.Error, f.WakeAt, f.reopened = InProgress, "", time.Time{}, [2]int64{}
			f.resumeSeq = 0
		}
		f.terms(r)
		f.Attempt = Attempt{N: r.Int("n"), Host: r.Str("host"), PID: r.Int("pid"), At: r.Time()}
		f.Attempts = f.Attempt.N
		f.attemptSeq = r.Seq
	case KindStart, KindStep, KindFail:
		f.step(r)
	case KindMap:
		f.BeginMap(r.Key, r.Int("total"), r.Int("done"), r.Seq)
	case KindEpoch:
		if r.Bool("alone") {
			f.BeginAlone(r.Key, r.Int("n"), r.Seq)
		} else {
			f.BeginEpoch(r.Key, r.Int("n"), r.Seq)
		}
	case KindIgnored:
		f.Ignore(r.Key, r.Str("in"))
	case KindAlias:
		f.Alias(r.Key, r.Str("from"), r.Seq)
	case KindNote:
		f.Note(r.Key, span)
	case KindState:
		f.States++
		f.Save(r.Key, span, r.Member("patch"))
	case KindAwait:
		f.Ask(r.Key, span, r.Str("in"), Trouble{Until: timeOf(r.Member("until"))})
	case KindAnswer:
		f.Answer(r.Key, span, microseconds(r.Member("at")))
	case KindRetry:
		f.Reopen(r.Key, r.Seq)
	case KindCrash:
		f.Crash(r.Key, r.Int("n"), r.Int("others"), r.Seq)
	case KindMeter:
		f.Use(r.Key, r.Str("unit"), number(r.Member("amount")))
	case KindClear:
		f.Status, f.Error, f.Result, f.endSeq = InProgress, "", Span{}, 0
		f.cancelSeq, f.clearSeq, f.Cancel, f.WakeAt, f.reopened, f.resumeSeq = 0, r.Seq, Decision{}, time.Time{}, [2]int64{}, 0
		f.empty()
	case KindComplete:
		f.Status, f.Result, f.Error, f.endSeq = Complete, span, "", r.Seq
		f.cancelSeq, f.Cancel, f.WakeAt = 0, Decision{}, time.Time{}
	case KindFailed:
		switch f.Status {
		case Complete:
		case Cancelled:
			f.endSeq = r.Seq
		default:
			f.Status, f.Error, f.endSeq, f.WakeAt = Failed, r.Str("error"), r.Seq, time.Time{}
		}
	case KindWaiting:
		switch f.Status {
		case InProgress:
			f.Status, f.endSeq, f.WakeAt = Waiting, r.Seq, timeOf(r.Member("until"))
		case Cancelled:
			f.endSeq = r.Seq
		}
	case KindInterrupted:
		if f.Status == InProgress || f.Status == Cancelled { // changes nothing of a run that failed
			f.endSeq = r.Seq
		}
	case KindCancelled:
		f.CancelRun(r.Str("by"), r.Str("reason"), r.Str("mail"), r.Time(), r.Seq)
	case KindReopen:
		if f.Status == Cancelled {
			f.reopened = [2]int64{f.cancelSeq, r.Seq}
			f.Status, f.Error, f.cancelSeq, f.Cancel = InProgress, "", 0, Decision{}
		}
	case KindRepair:
		f.Repairs++
		if from := r.Int("missing_from"); from > 0 {
			f.Gone += max(0, r.Int("missing_to")-from+1)
		}
	case KindExport: // says nothing of the run
	default:
		f.Unknown++
	}
}

// BeginMap adds the record of a Map that begins.
func (f *Fold) BeginMap(key string, total, done, seq int64) {
	m := f.Maps[key]
	if m == nil {
		m = &MapInfo{Key: key, First: seq}
		f.Maps[key] = m
		f.link(key)
	}
	m.Total, m.done, m.seq = total, done, seq
}

// LastAt returns when the newest record was written, by its writer's clock.
func (f *Fold) LastAt() time.Time {
	t, err := time.Parse(time.RFC3339Nano, unquote(f.lastAt))
	if err != nil {
		return time.Time{}
	}
	return t
}

func (f *Fold) step(r *Record) {
	s := f.Step(r.Key, r.Seq)
	span := Span{r.Seq, r.Offset, int64(len(r.Text))}
	switch r.Kind {
	case KindStart:
		if s.Status == StepDone {
			return // a result stays one, but for a new epoch
		}
		s.Status, s.Final, s.Once, s.Start, s.Input, s.Map = StepRunning, false, false, span, [16]byte{}, ""
		f.Begin(r.Key)
	case KindStep:
		s.Status = StepDone
		delete(f.errs, r.Key)
		delete(f.Trouble, r.Key)
	case KindFail:
		if s.Status == StepDone {
			return
		}
		s.Status, s.Final = StepFailed, false
	}
	s.Seq, s.Offset, s.Len = span.Seq, span.Offset, span.Len
	var t Trouble
	r.members(func(name, v []byte) bool {
		switch string(name) {
		case "at":
			s.At = microseconds(v)
		case "try":
			s.Tries = atoi(v)
		case "us":
			s.Took = time.Duration(atoi(v)) * time.Microsecond
		case "in":
			s.SetInput(unquote(v))
		case "map":
			s.Map = f.mapName(v)
		case "final":
			s.Final = string(v) == "true"
		case "once":
			s.Once = string(v) == "true"
		case "error":
			f.errs[r.Key] = bounded(unquote(v))
		case "fails":
			t.Fails = atoi(v)
		case "since":
			t.Since = timeOf(v)
		case "next":
			t.Next = timeOf(v)
		case "until":
			t.Until = timeOf(v)
		case "wait":
			t.Wait = time.Duration(atoi(v)) * time.Microsecond
		case "max_crashes":
			t.Limit = atoi(v)
		case "poison":
			t.Poison = string(v) == "true"
		case "value", "vs":
			return false
		}
		return true
	})
	if r.Kind != KindStep {
		f.SetTrouble(r.Key, r.Kind == KindFail && !t.Poison, t)
	}
}

// mapName returns the name of a Map without an allocation for each of its items.
func (f *Fold) mapName(raw []byte) string {
	if len(raw) > 2 {
		if m := f.Maps[string(raw[1:len(raw)-1])]; m != nil {
			return m.Key
		}
	}
	return unquote(raw)
}

func atoi(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
