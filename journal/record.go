package journal

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl/internal/line"
)

// Format is the newest journal format that this package reads and the one that
// pawl writes.
const Format = 1

// Kinds of records. A reader keeps and shows a kind that it does not know.
const (
	KindRun         = "run"         // first line: identity, kind of work, input
	KindAttempt     = "attempt"     // a process opened the run for work
	KindStart       = "start"       // a step's function is about to be called
	KindStep        = "step"        // a step ended with a value
	KindFail        = "fail"        // a step ended with an error
	KindMap         = "map"         // a Map began, with its number of items
	KindEpoch       = "epoch"       // older records under a key are not returned any more
	KindIgnored     = "ignored"     // an input that differs was let pass
	KindAlias       = "alias"       // what is recorded under one key goes on under another
	KindNote        = "note"        // what a step noted for its next try
	KindState       = "state"       // a state, whole or as a patch of the one before
	KindClear       = "clear"       // everything before is history: the work starts over
	KindComplete    = "complete"    // the run is complete, with its result
	KindFailed      = "failed"      // an attempt ended with an error
	KindInterrupted = "interrupted" // an attempt ended without a verdict, or was asked to
	KindWaiting     = "waiting"     // an attempt ended since the run waits
	KindCancelled   = "cancelled"   // somebody cancelled the run
	KindReopen      = "reopen"      // and somebody took that back
	KindRetry       = "retry"       // a step that failed may be tried anew
	KindCrash       = "crash"       // a process died while a step was under way
	KindAwait       = "await"       // the run asks somebody something
	KindAnswer      = "answer"      // and got an answer
	KindRefuse      = "refuse"      // what somebody answered was no answer to that
	KindMeter       = "meter"       // what a step used of something: money, tokens
	KindRepair      = "repair"      // the file was repaired; what was lost is named
	KindExport      = "export"      // ends an export, see [Export]: how much stands before it
)

// Record is one record of a journal. Text is valid until the next call of
// [Scanner.Scan]; [Record.Clone] keeps it.
type Record struct {
	Seq    int64  // number of the record, the only order there is
	Dur    int64  // highest seq known durable when this record was written
	Kind   string // one of the Kind constants, or unknown
	Key    string // full key of the step, or empty
	Offset int64  // of the line in the file
	Text   []byte // the line without its newline

	crc  uint32
	prev uint32
	rest int // where the members behind the head begin
}

// Clone returns a copy that stays valid.
func (r *Record) Clone() *Record {
	c := *r
	c.Text = append([]byte(nil), r.Text...)
	return &c
}

// Member returns the raw JSON of a member by name, nil if there is none.
func (r *Record) Member(name string) []byte { return line.Member(r.Text, r.rest, name) }

// Str returns a string member, "" if there is none.
func (r *Record) Str(name string) string { return unquote(r.Member(name)) }

// Int returns an integer member, 0 if there is none.
func (r *Record) Int(name string) int64 {
	n, err := strconv.ParseInt(string(r.Member(name)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bool reports whether a member is true.
func (r *Record) Bool(name string) bool { return string(r.Member(name)) == "true" }

// members walks the members behind the head in order.
func (r *Record) members(yield func(name, value []byte) bool) {
	line.Members(r.Text, r.rest, yield)
}

// CRC returns the record's checksum, which the next record names as its prev.
func (r *Record) CRC() uint32 { return r.crc }

// Prev returns the checksum of the record before, as this record names it.
func (r *Record) Prev() uint32 { return r.prev }

// Time returns when the record was written by the writer's clock, which orders
// nothing.
func (r *Record) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.Str("at"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// Value returns the exact JSON text of the record's value, and false if it has
// none.
func (r *Record) Value() ([]byte, bool) {
	var text []byte
	found := false
	line.Members(r.Text, r.rest, func(name, v []byte) bool {
		switch string(name) {
		case "value":
			text, found = v, true
		case "vs":
			text, found = []byte(unquote(v)), true
		}
		return !found
	})
	return text, found
}

// parseRecord makes a record of a verified line.
func parseRecord(h line.Head, text []byte, off int64) Record {
	var r Record
	r.set(h, text, off)
	return r
}

// set makes r the record of a verified line. Kind and key stand first behind the head if
// present; that of the record before is often the same key.
func (r *Record) set(h line.Head, text []byte, off int64) {
	r.Seq, r.Dur, r.Offset, r.Text = h.Seq, h.Dur, off, text
	r.crc, r.prev, r.rest = h.CRC, h.Prev, h.Size
	if kind, key, ok := line.KindAndKey(text[h.Size:]); ok {
		r.Kind = intern(kind)
		if len(key) != len(r.Key)+2 || string(key[1:len(key)-1]) != r.Key {
			r.Key = unquote(key)
		}
		return
	}
	r.Kind, r.Key = "", ""
	line.Members(text, h.Size, func(name, v []byte) bool {
		switch string(name) {
		case "kind":
			r.Kind = intern(v)
			return true
		case "key":
			r.Key = unquote(v)
		}
		return false
	})
}

// intern saves an allocation a record for the kinds known here.
func intern(quoted []byte) string {
	switch string(quoted) {
	case `"` + KindStep + `"`:
		return KindStep
	case `"` + KindStart + `"`:
		return KindStart
	case `"` + KindFail + `"`:
		return KindFail
	case `"` + KindState + `"`:
		return KindState
	}
	return unquote(quoted)
}

func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' {
			s, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return ""
			}
			return string(s)
		}
	}
	return string(inner)
}
