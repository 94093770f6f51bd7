package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl/internal/value"
)

// Error says why a file was refused.
type Error struct {
	Newer  bool   // written by a newer version, as opposed to damaged
	Format int64  // of a newer file
	Path   string // JSON path, empty if the file as a whole is meant
	Offset int64  // of the first byte that is not understood, 0 if unknown
	Reason string // one clause, no contents of the state
	Hint   string // what to do about it, empty if there is nothing special
}

// Error returns `$.path: reason`.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// AcceptEdit is what to do with a file that was changed on purpose.
const AcceptEdit = `if the change is meant, remove the members "checksum" and "seal" from the file`

// Decode reads a file's bytes. The record shares memory with them. The error is
// an *Error.
func Decode(b []byte) (*Record, error) {
	if e := signature(b); e != nil {
		return nil, e
	}
	f, e := split(b)
	if e != nil {
		return nil, e
	}
	r, e := f.record()
	if e != nil {
		return nil, e
	}
	return r, nil
}

// field is a member of the object: where its raw value stands, and where the
// member before it ends.
type field struct {
	raw                []byte
	before, start, end int
}

// file is the object's members by name.
type file struct {
	text  []byte
	known map[string]field
	extra []Member
	end   int // behind the closing brace
}

var names = []string{
	"state", "status", "saved_at", "result", "completed_at",
	"pawl", "schema", "generation", "exact", "checksum", "seal",
}

// split checks the syntax of the whole file and finds its members.
func split(b []byte) (*file, *Error) {
	f := &file{text: b, known: make(map[string]field, len(names))}
	// Of a bytes.Buffer the decoder reads the bytes where they are.
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	switch tok, err := dec.ReadToken(); {
	case err != nil:
		return nil, syntaxError(b, err)
	case tok.Kind() != '{':
		return nil, &Error{Reason: "not a checkpoint: the file does not hold a JSON object"}
	}
	for {
		before := int(dec.InputOffset())
		if kind := dec.PeekKind(); kind == '}' {
			break
		}
		name, err := dec.ReadValue()
		if err != nil {
			return nil, syntaxError(b, err)
		}
		rawName := bytes.Clone(name)
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, syntaxError(b, err)
		}
		end := int(dec.InputOffset())
		at := field{raw: b[end-len(raw) : end], before: before, start: end - len(raw), end: end}
		if err := value.CheckDepth(at.raw); err != nil {
			return nil, tooDeep(dec.StackPointer(), at, err)
		}
		if !f.add(rawName, at) {
			f.extra = append(f.extra, Member{Name: rawName, Value: at.raw})
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntaxError(b, err)
	}
	f.end = int(dec.InputOffset())
	if rest := bytes.TrimLeft(b[f.end:], " \t\r\n"); len(rest) > 0 {
		return nil, trailing(b, len(b)-len(rest))
	}
	return f, nil
}

func tooDeep(p jsontext.Pointer, at field, err error) *Error {
	e := &Error{Path: value.Path(p), Offset: int64(at.start), Reason: err.Error()}
	if v, ok := errors.AsType[*value.Error](err); ok {
		e.Path += v.Path[1:]
		e.Offset += v.Offset
		e.Reason = v.Reason
	}
	return e
}

func (f *file) add(quoted []byte, at field) bool {
	name, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return false
	}
	for _, n := range names {
		if string(name) == n {
			f.known[n] = at
			return true
		}
	}
	return false
}

// record gives the members their meaning. Damage is looked for before newness:
// one flipped bit must not turn a file into one from the future.
func (f *file) record() (*Record, *Error) {
	r := &Record{Schema: NoSchema, Extra: f.extra}
	if e := f.checkSeal(r); e != nil {
		return nil, e
	}
	format, _, e := f.integer("pawl", 1)
	if e != nil {
		return nil, e
	}
	if format > Format {
		return nil, &Error{Newer: true, Format: format, Reason: fmt.Sprintf("checkpoint format %d, this program reads up to %d", format, Format)}
	}
	member, at, e := f.status(r)
	if e != nil {
		return nil, e
	}
	v, ok := f.known[member]
	if !ok {
		return nil, &Error{Reason: fmt.Sprintf("not a whole checkpoint: there is no member %q", member)}
	}
	if e := f.checkSum(r, member, v); e != nil {
		return nil, e
	}
	schema, ok, e := f.integer("schema", 0)
	if e != nil {
		return nil, e
	}
	if ok {
		r.Schema = int(schema)
	}
	if r.Generation, _, e = f.integer("generation", 1); e != nil {
		return nil, e
	}
	r.At = seconds(f.known[at].raw)
	r.Value = v.raw
	return r, f.exact(r)
}

// status says which member holds the value and which the time.
func (f *file) status(r *Record) (value, at string, e *Error) {
	s, ok := f.known["status"]
	if !ok {
		return "", "", &Error{Reason: `not a checkpoint: there is no member "status"`}
	}
	switch string(s.raw) {
	case `"` + complete + `"`:
		r.Complete = true
		return "result", "completed_at", nil
	case `"` + inProgress + `"`:
		if res, ok := f.known["result"]; ok {
			return "", "", &Error{Path: "$.result", Offset: int64(res.start), Reason: "there is a result although the status says that the work is in progress"}
		}
		return "state", "saved_at", nil
	}
	return "", "", &Error{Path: "$.status", Offset: int64(s.start), Reason: `neither "in_progress" nor "complete"`}
}

// checkSeal compares the whole file with its seal.
func (f *file) checkSeal(r *Record) *Error {
	seal, sealed := f.known["seal"]
	_, summed := f.known["checksum"]
	switch {
	case !sealed && !summed:
		return nil
	case !sealed && f.known["pawl"].raw != nil && string(f.known["pawl"].raw) != strconv.Itoa(Format):
		return nil // left to the check of the format
	case !sealed:
		return &Error{Reason: `there is a "checksum" and no "seal": damaged, or edited in part`, Hint: AcceptEdit}
	}
	end := f.text[seal.before:f.end]
	want := appendHex([]byte(sealOpen), Checksum(f.text[:seal.before]))
	want = append(want, sealClose...)
	if !bytes.Equal(end, want) {
		return f.unsealed()
	}
	r.Sealed = true
	r.Touched = len(f.text) > f.end && string(f.text[f.end:]) != "\n"
	return nil
}

// unsealed says as much as can be known about a file whose seal is wrong.
func (f *file) unsealed() *Error {
	e := &Error{Reason: "valid JSON, but the checksum differs: damaged, or edited by hand", Hint: AcceptEdit}
	for _, name := range [...]string{"result", "state"} {
		v, ok := f.known[name]
		if !ok || string(v.raw) == "null" {
			continue
		}
		e.Path, e.Offset = "$."+name, int64(v.start)
		if sumOf(v.raw) == string(f.known["checksum"].raw) {
			e.Path, e.Offset = "", 0
			e.Reason = "valid JSON, but the checksum differs: something around the " + name + " was damaged or edited by hand"
		}
		break
	}
	return e
}

// checkSum compares the value with its own checksum. It finds what the seal
// cannot: a file put together by somebody who made the seal anew.
func (f *file) checkSum(r *Record, member string, v field) *Error {
	if r.Sealed && string(f.known["checksum"].raw) != sumOf(v.raw) {
		return &Error{Path: "$." + member, Offset: int64(v.start), Reason: `valid JSON and a good "seal", but the "checksum" differs or is not there`, Hint: AcceptEdit}
	}
	return nil
}

// exact takes the value's very bytes from their own member, if there is one.
func (f *file) exact(r *Record) *Error {
	x, ok := f.known["exact"]
	if !ok {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, x.raw)
	if err != nil || value.Valid(text) != nil || !bytes.Equal(appendASCII(nil, text), r.Value) {
		return &Error{Path: "$.exact", Offset: int64(x.start), Reason: "not another spelling of the value", Hint: `remove the member "exact" to go on with the value`}
	}
	r.Value, r.Exact = text, true
	return nil
}

// seconds reads a time as Python's time.time() counts it, the zero time if it is
// something else: nothing depends on it.
func seconds(raw []byte) time.Time {
	s, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.Abs(s) > 1e12 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(s * 1e6))).UTC()
}

func sumOf(raw []byte) string {
	return string(append(appendHex([]byte(`"`+sumPrefix), Checksum(raw)), '"'))
}

// integer reads a member that counts something from least on; 0 if absent.
func (f *file) integer(name string, least int64) (n int64, ok bool, e *Error) {
	m, ok := f.known[name]
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(string(m.raw), 10, 64)
	if err != nil || n < least || n > 1<<53 {
		return 0, false, &Error{Path: "$." + name, Offset: int64(m.start), Reason: fmt.Sprintf("not a whole number of at least %d", least)}
	}
	return n, true, nil
}
