package journal

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/line"
)

// Status is the state of a run.
type Status string

// Statuses that a journal can show.
const (
	InProgress Status = "in_progress" // has work left; Do goes on with it
	Complete   Status = "complete"    // has its result
	Failed     Status = "failed"      // its last attempt ended with an error; Do tries again
)

// Header is the first record of a journal.
type Header struct {
	RunID       string
	UID         string // random, 128 bits in hexadecimal
	Incarnation int64  // raised by compaction
	Store       string // UID of the store, "" for a journal opened by path
	RunKind     string // what kind of work, "" if the program gave none
	Created     time.Time
	InputDigest string // digest of the run's input, "" if none was given
	Input       []byte // canonical JSON of the input, nil if none or too large
	Outline     []byte // of an input too large for that: digests of its members, or its length
	Labels      map[string]string
	Parent      Parent // of a fork, zero if the run is none
}

// Parent says which record of which run a fork comes from.
type Parent struct {
	RunID, UID string
	Seq        int64
}

// Attempt is one process's opening of a run.
type Attempt struct {
	N    int64
	Host string
	PID  int64
	At   time.Time
}

// StepStatus says how a step stands.
type StepStatus uint8

// Step statuses.
const (
	StepRunning StepStatus = iota // started, no end recorded: under way, or in doubt after a death
	StepDone                      // has a result
	StepFailed                    // its last try ended with an error
)

// String returns "running", "done" or "failed".
func (s StepStatus) String() string {
	return [...]string{"running", "done", "failed"}[s]
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
	Result   Span              // record with the result
	Error    string            // why the last attempt failed, "" if it did not
	Saved    map[string]*Saved // newest state, by the key of its scope: "" is the run's own
	Notes    map[string]Span   // newest note, by the key of its step
	States   int64             // states recorded
	Unknown  int64             // records of a kind not known here
	Repairs  int64             // times that the file was repaired
	Gone     int64             // records that repairs say are missing, at most

	slab       []Step
	kids       map[string][]string // keys and scopes directly inside another
	errs       map[string]string   // of failed steps, bounded
	epochs     map[string]epoch    // newest epoch, by key
	idem       map[string]string   // idempotency keys of steps that moved to another key
	pins       map[string][]int64  // records that these keys come from
	aliases    []int64             // and the epochs that they count from
	attemptSeq int64               // newest attempt
	endSeq     int64               // newest end of an attempt, or completion
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
		if f.Status != Complete { // a result stays one, but for a clear
			f.Status, f.Error = InProgress, ""
		}
		f.Attempt = Attempt{N: r.Int("n"), Host: r.Str("host"), PID: r.Int("pid"), At: r.Time()}
		f.Attempts = f.Attempt.N
		f.attemptSeq = r.Seq
	case KindStart, KindStep, KindFail:
		f.step(r)
	case KindMap:
		f.BeginMap(r.Key, r.Int("total"), r.Int("done"), r.Seq)
	case KindEpoch:
		f.BeginEpoch(r.Key, r.Int("n"), r.Seq)
	case KindAlias:
		f.Alias(r.Key, r.Str("from"), r.Seq)
	case KindNote:
		f.Note(r.Key, span)
	case KindState:
		f.States++
		f.Save(r.Key, span, r.Member("patch"))
	case KindClear:
		f.Status, f.Error, f.Result, f.endSeq = InProgress, "", Span{}, 0
		f.empty()
	case KindComplete:
		f.Status, f.Result, f.Error, f.endSeq = Complete, span, "", r.Seq
	case KindFailed:
		if f.Status != Complete {
			f.Status, f.Error, f.endSeq = Failed, r.Str("error"), r.Seq
		}
	case KindInterrupted:
		if f.Status == InProgress { // changes nothing of a run that failed
			f.endSeq = r.Seq
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

func (f *Fold) header(r *Record) {
	f.Header = Header{
		RunID: r.Str("id"), UID: r.Str("uid"), Incarnation: r.Int("inc"), Store: r.Str("store"),
		RunKind: r.Str("run_kind"), Created: r.Time(), InputDigest: r.Str("in"),
	}
	if in := r.Member("input"); in != nil {
		f.Header.Input = append([]byte(nil), in...)
	}
	if out := r.Member("outline"); out != nil {
		f.Header.Outline = append([]byte(nil), out...)
	}
	line.Members(r.Member("parent"), 1, func(name, v []byte) bool {
		switch string(name) {
		case "id":
			f.Header.Parent.RunID = unquote(v)
		case "uid":
			f.Header.Parent.UID = unquote(v)
		case "seq":
			f.Header.Parent.Seq = atoi(v)
		}
		return true
	})
	line.Members(r.Member("labels"), 1, func(name, v []byte) bool {
		if f.Header.Labels == nil {
			f.Header.Labels = map[string]string{}
		}
		f.Header.Labels[unquote([]byte(`"`+string(name)+`"`))] = unquote(v)
		return true
	})
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
	case KindStep:
		s.Status = StepDone
		delete(f.errs, r.Key)
	case KindFail:
		if s.Status == StepDone {
			return
		}
		s.Status, s.Final = StepFailed, false
	}
	s.Seq, s.Offset, s.Len = span.Seq, span.Offset, span.Len
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
		case "value", "vs":
			return false
		}
		return true
	})
}

// Counts is how many steps stand how.
type Counts struct {
	Done, Failed, Running int
	// Outer counts the finished steps that are not inside another finished one,
	// and Took sums the time that these took: what a start does not do again.
	Outer int
	Took  time.Duration
}

// Counts counts the steps. Nested steps are steps too.
func (f *Fold) Counts() Counts {
	var c Counts
	for key, s := range f.Steps {
		switch s.Status {
		case StepDone:
			c.Done++
			if !f.insideDone(key) {
				c.Outer++
				c.Took += s.Took
			}
		case StepFailed:
			c.Failed++
		case StepRunning:
			c.Running++
		}
	}
	return c
}

func (f *Fold) insideDone(key string) bool {
	for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
		if s := f.Steps[key[:i]]; s != nil && s.Status == StepDone {
			return true
		}
	}
	return false
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

// ItemCounts is how many items of a Map stand how.
type ItemCounts struct{ Done, Failed, Running int }

// Items counts the items of every Map, by its key: those that had a result when the
// Map was begun last, and those that ended since. Items that an earlier attempt had
// and the last one has not are not counted.
func (f *Fold) Items() map[string]ItemCounts {
	counts := make(map[string]ItemCounts, len(f.Maps))
	for key, m := range f.Maps {
		counts[key] = ItemCounts{Done: int(m.done)}
	}
	for _, s := range f.Steps {
		m := f.Maps[s.Map]
		if m == nil || s.Seq < m.seq {
			continue
		}
		c := counts[s.Map]
		switch s.Status {
		case StepDone:
			c.Done++
		case StepFailed:
			c.Failed++
		case StepRunning:
			c.Running++
		}
		counts[s.Map] = c
	}
	return counts
}

func atoi(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
