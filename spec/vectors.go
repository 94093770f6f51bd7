// Package spec holds the test vectors of pawl's journal format, for everybody who
// writes a reader or a writer of it in Go:
//
//	for _, v := range spec.Vectors() {
//		t.Run(v.Name, func(t *testing.T) {
//			got := read(v.Journal)
//			if got.Verdict != v.Expect { … }
//		})
//	}
//
// The format is described by journal-v1.md beside this file. For other languages
// the vectors are files, see vectors/README.md.
package spec

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

//go:embed vectors/*.vec
var files embed.FS

// Verdict is what a reader must make of a journal as a whole.
type Verdict string

// Verdicts.
const (
	Clean   Verdict = "clean"   // records, and perhaps fill behind them
	Torn    Verdict = "torn"    // records, and behind them what an interrupted write left
	Damaged Verdict = "damaged" // nothing of it may be changed
	Newer   Verdict = "newer"   // of a newer format: nothing of it may be read or changed
)

// Vector is a journal and what a reader must find in it. What a vector does not
// state is -1, empty or nil.
type Vector struct {
	Name    string // of the file, without ".vec"
	Comment string // the one behaviour that it is about
	Section string // of journal-v1.md that demands it
	Journal []byte // the file to read

	Expect    Verdict
	Records   int64 // records before the end, or before the damage
	End       int64 // clean and torn: where the journal ends and a writer continues
	Torn      int64 // torn: bytes from End to the end of the file
	NoNewline bool  // clean and torn: the last record lacks its newline, which belongs at End
	Offset    int64 // damaged: where the bytes begin that cannot be trusted
	Seq       int64 // damaged: of the record that belongs there

	Status   string            // in_progress, waiting, failed, cancelled or complete
	Attempts int64             // number of the newest attempt, 0 before the first
	Steps    map[string]string // key to running, waiting, done or failed
	Result   Text
	State    Text // the run's own

	States      map[string]Text     // newest state by the key of its scope, the run's own left out
	Notes       map[string]string   // exact text of the newest note, by key
	Maps        map[string][]string // key of each Map to those of its items, sorted
	Once        []string            // keys of the steps whose newest start says once, sorted
	Idempotency map[string]string   // idempotency keys of steps, not of all
	Labels      map[string]string

	Final     []string                      // keys of the steps that failed for good, sorted
	Troubles  map[string]Trouble            // by the keys of the steps that have some
	Used      map[string]float64            // by unit, in all
	UsedBy    map[string]map[string]float64 // by key and unit
	UsedSince map[string]map[string]float64 // of that the part behind the step's newest start, without zeros
	Deadline  string                        // of the newest attempt, or Nothing
	Within    int64                         // microseconds, 0 if the attempt does not say
	Budget    map[string]float64            // by unit, empty if there is none
	Wake      string                        // until when the run waits, or Nothing
	Cancel    map[string]string             // by, reason and mail of the cancellation in force; empty if there is none
	Death     Death
}

// Nothing stands for a time that there is not.
const Nothing = "absent"

// Trouble is what a vector says of a step whose tries, sleeps or deaths are counted.
// What does not apply is zero.
type Trouble struct {
	Fails  int64  `json:"fails"`
	Since  string `json:"since"`
	Next   string `json:"next"`
	Until  string `json:"until"`
	Wait   int64  `json:"wait"` // microseconds
	Poison bool   `json:"poison"`
	Deaths int64  `json:"deaths"`
	Others int64  `json:"others"` // of the newest death
}

// Death says whether the last process died (Exact) or not (Absent), and if it did,
// which steps were under way.
type Death struct {
	Presence Presence
	Steps    []string // sorted
}

// Presence is what a vector knows of a JSON text.
type Presence uint8

// Presences.
const (
	Unstated Presence = iota // the vector does not say
	Absent                   // there is none
	Exact                    // it is Text.Text, byte for byte
	Summed                   // its CRC-32C is Text.Sum: long, or not fit for a line
	Refused                  // the records are fine, and yet it must not be handed on
)

// Text is what a vector says of the result or of the state.
type Text struct {
	Presence Presence
	Text     string
	Sum      uint32
}

// Check compares what a reader found with t: the exact text, nil for none, or that
// it refused to hand one on. The error says what is wrong.
func (t Text) Check(got []byte, refused bool) error {
	switch {
	case t.Presence == Unstated:
		return nil
	case refused != (t.Presence == Refused):
		return fmt.Errorf("refused %t, want %t", refused, !refused)
	case refused:
		return nil
	case (got == nil) != (t.Presence == Absent):
		return fmt.Errorf("absent %t, want %t", got == nil, got != nil)
	case t.Presence == Exact && string(got) != t.Text:
		return fmt.Errorf("text %q, want %q", got, t.Text)
	case t.Presence == Summed && Checksum(got) != t.Sum:
		return fmt.Errorf("%d bytes with checksum %08x, want %08x", len(got), Checksum(got), t.Sum)
	}
	return nil
}

// Checksum returns the CRC-32C of b, see section 1 of journal-v1.md.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Vectors returns all vectors, sorted by name. The caller owns them. It panics if a
// vector cannot be read, which this package's tests exclude.
func Vectors() []Vector {
	entries, err := files.ReadDir("vectors")
	if err != nil {
		panic(err)
	}
	list := make([]Vector, 0, len(entries))
	for _, e := range entries {
		data, err := files.ReadFile("vectors/" + e.Name())
		if err != nil {
			panic(err)
		}
		v, err := Parse(strings.TrimSuffix(e.Name(), ".vec"), data)
		if err != nil {
			panic(err)
		}
		list = append(list, v)
	}
	// Not the order of the files, for "a.vec" stands behind "a-b.vec".
	slices.SortFunc(list, func(a, b Vector) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Parse reads the text of one .vec file. Header lines with unknown names are
// ignored. Errors name the vector and the header line.
func Parse(name string, data []byte) (Vector, error) {
	v := Vector{Name: name, Records: -1, End: -1, Torn: -1, Offset: -1, Seq: -1, Attempts: -1, Within: -1}
	header, journal, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok {
		return v, fmt.Errorf("vector %s: no empty line behind the header", name)
	}
	v.Journal = journal
	seen := map[string]bool{}
	for line := range strings.SplitSeq(string(header), "\n") {
		field, value, ok := strings.Cut(line, ": ")
		if !ok || seen[field] {
			return v, fmt.Errorf("vector %s: header line %q", name, line)
		}
		seen[field] = true
		if err := v.set(field, value); err != nil {
			return v, fmt.Errorf("vector %s: header line %q: %w", name, line, err)
		}
	}
	return v, nil
}

func (v *Vector) set(field, value string) (err error) {
	integer := func(dst *int64) {
		*dst, err = strconv.ParseInt(value, 10, 64)
	}
	switch field {
	case "comment":
		v.Comment = value
	case "section":
		v.Section = value
	case "expect":
		v.Expect = Verdict(value)
	case "records":
		integer(&v.Records)
	case "end":
		integer(&v.End)
	case "torn":
		integer(&v.Torn)
	case "no_newline":
		v.NoNewline, err = strconv.ParseBool(value)
	case "offset":
		integer(&v.Offset)
	case "seq":
		integer(&v.Seq)
	case "status":
		v.Status = value
	case "attempts":
		integer(&v.Attempts)
	case "steps":
		err = json.Unmarshal([]byte(value), &v.Steps)
	case "result":
		v.Result = parseText(value)
	case "state":
		v.State = parseText(value)
	case "states":
		var texts map[string]string
		err = json.Unmarshal([]byte(value), &texts)
		v.States = map[string]Text{}
		for key, text := range texts {
			v.States[key] = parseText(text)
		}
	case "notes":
		err = json.Unmarshal([]byte(value), &v.Notes)
	case "maps":
		err = json.Unmarshal([]byte(value), &v.Maps)
	case "once":
		err = json.Unmarshal([]byte(value), &v.Once)
	case "idempotency":
		err = json.Unmarshal([]byte(value), &v.Idempotency)
	case "labels":
		err = json.Unmarshal([]byte(value), &v.Labels)
	case "final":
		err = json.Unmarshal([]byte(value), &v.Final)
	case "troubles":
		err = json.Unmarshal([]byte(value), &v.Troubles)
	case "used":
		err = json.Unmarshal([]byte(value), &v.Used)
	case "used_by":
		err = json.Unmarshal([]byte(value), &v.UsedBy)
	case "used_since":
		err = json.Unmarshal([]byte(value), &v.UsedSince)
	case "deadline":
		v.Deadline = value
	case "within":
		integer(&v.Within)
	case "budget":
		err = json.Unmarshal([]byte(value), &v.Budget)
	case "wake":
		v.Wake = value
	case "cancel":
		err = json.Unmarshal([]byte(value), &v.Cancel)
	case "died":
		if v.Death.Presence = Absent; value != Nothing {
			v.Death.Presence = Exact
			err = json.Unmarshal([]byte(value), &v.Death.Steps)
		}
	case "result_sum":
		v.Result, err = parseSum(value)
	case "state_sum":
		v.State, err = parseSum(value)
	}
	return err
}

func parseText(value string) Text {
	switch value {
	case "absent":
		return Text{Presence: Absent}
	case "refused":
		return Text{Presence: Refused}
	}
	return Text{Presence: Exact, Text: value}
}

func parseSum(value string) (Text, error) {
	sum, err := strconv.ParseUint(value, 16, 32)
	return Text{Presence: Summed, Sum: uint32(sum)}, err
}
