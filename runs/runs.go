// Package runs holds what can be said of runs without loading their payloads: the
// types that the methods of *pawl.Store for looking at runs return.
package runs

import (
	"time"

	"github.com/pawlgo/pawl/journal"
)

// Status is the state of a run.
type Status = journal.Status

// Statuses of a run.
const (
	InProgress = journal.InProgress // has work left: going on now, or interrupted
	Complete   = journal.Complete   // has its result
	Failed     = journal.Failed     // its last attempt ended with an error; the next start tries again
	Waiting    = journal.Waiting    // its last attempt ended since it has to wait, see WakeAt
	Cancelled  = journal.Cancelled  // somebody cancelled it: it goes on only when it is reopened
)

// Owner is the process that has a run open.
type Owner struct {
	Host  string
	PID   int
	Since time.Time
}

// Parent says which record of which run a fork comes from.
type Parent struct {
	ID, UID string
	Seq     int64
}

// Progress says how far a Map is.
type Progress struct {
	RunID   string
	Key     string // full key of the Map
	Done    int    // items with a result, recorded ones included
	Skipped int    // of these, items that were recorded before this start
	Failed  int    // items that failed in this attempt
	Total   int
}

// Info is what can be said of a run without loading payloads.
type Info struct {
	ID       string
	UID      string
	Kind     string            // as given with RunKind
	Labels   map[string]string // as given with Label
	Parent   *Parent           // of a fork, nil if it is none
	Status   Status
	Owner    *Owner // nil if no process has it open now
	Attempts int
	Done     int                // steps with a result
	Failed   int                // steps whose last try failed
	Waiting  int                // questions that wait for an answer
	Sleeping int                // of those running: sleeps
	Final    int                // of those failed: for good, until they are retried
	Running  int                // steps started and not ended: under way, or in doubt if there is no owner
	Took     time.Duration      // time that the finished steps took, nested ones within the outer one
	Maps     []Progress         // each Map's progress, in the order of their start
	Created  time.Time          // by the clock of the machine that created it
	Updated  time.Time          // of the newest record
	Error    string             // why the last attempt failed
	Spent    map[string]float64 // what was metered over all starts, by unit; nil if nothing
	Kept     map[string]float64 // of that, what the finished steps used: a start does not pay it again
	Budget   map[string]float64 // what the newest start may use of that in all, by unit; nil if all
	Deadline time.Time          // by which the run must be complete, zero if there is none
	WakeAt   time.Time          // of a waiting run: when it can go on, zero if that is not known
	Cancel   *Decision          // of a cancelled run: who, when and why
	Input    []byte             // canonical JSON of the run's input, nil if absent or large
	Records  int64              // records in the journal, or saves of a JSON file
	Size     int64              // bytes that they take
	Torn     int64              // bytes behind the last record: being written now, or left by a crash
	Path     string             // journal file
	Warnings []string
	// Err says why the run cannot be read: then only ID (if it could be told), Path
	// and Size are set. It matches pawl.ErrCorrupt or pawl.ErrNewerFormat, or comes
	// from the operating system.
	Err error
}

// Decision is what somebody said about a run.
type Decision struct {
	By, Reason string
	At         time.Time
}

// Question is something that a run asks.
type Question struct {
	RunID    string
	Key      string // full key
	Asked    time.Time
	Until    time.Time // when the time for an answer is over, zero if never
	Question []byte    // JSON of what is asked
	Shape    []byte    // what an answer must look like, as a Schema Object of OpenAPI 3.0.3
	Answered *Decision // who has answered it, if the run has not taken that yet
	Digest   string    // of the question, which tells it from another one under the key
	Seq      int64     // its record
}

// Try is what the journal says of one call of a step's function.
type Try struct {
	N     int       // its number, over all attempts
	Began time.Time // zero if that record is gone
	Ended time.Time // zero if there is no recorded end: it is under way, or a death or an interruption cut it short
	Took  time.Duration
	Done  bool      // it ended with the result
	Error string    // it failed, and why
	Final bool      // the step failed for good by it
	Next  time.Time // when the next try is due, zero if none is
}

// Step is what can be said of a step without loading its result.
type Step struct {
	Key        string
	Status     string // "done", "failed", "running" or, of a question, "waiting"
	Item       bool   // an item of a Map
	AtMostOnce bool   // never run again by itself once it began: in doubt until resolved
	Tries      int    // over all attempts
	Took       time.Duration
	Ended      time.Time          // zero while running
	Seq        int64              // its newest record
	Size       int64              // bytes of that record
	Error      string             // why its last try failed, its beginning
	Final      bool               // it failed for good: its function is not called again until it is retried
	Poison     bool               // for good since its processes died
	Fails      int                // tries of the present series that failed, 0 if there is none
	Next       time.Time          // when the next try of the series is due, zero if none is
	Until      time.Time          // when it ends, of a sleep that has begun
	Deaths     int                // in a row at which it was under way alone
	Spent      map[string]float64 // what it used over all its tries, without the steps inside it, by unit
	Note       []byte             // JSON of its newest note, nil if none or larger than 4 KiB
}

// Event is one record of a run's history.
type Event struct {
	Seq  int64
	Kind string // see package journal
	Key  string
	At   time.Time
	JSON []byte // the whole record
}
