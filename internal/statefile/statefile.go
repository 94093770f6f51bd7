// Package statefile is the format of a Level 1 checkpoint: one JSON object on one
// line, readable and writable by the Python original with nothing but its json
// module.
//
//	{"state":…,"status":"in_progress","saved_at":1764586171.5,"pawl":1,"schema":2,"generation":7,"checksum":"crc32c:…","seal":"crc32c:…"}
//	{"state":null,"status":"complete","result":…,"completed_at":1764586171.5,"pawl":1,…}
//
// The members up to saved_at and completed_at are the original's. Then come:
// pawl, the format's version; schema, the version of the state's shape, if the
// program numbers it; generation, which grows by one with each save; exact, see
// below; checksum, the CRC-32C of the bytes of the state or result as they stand
// in the file; and last seal, the CRC-32C of everything in front of it. Members
// that this version does not know stand in front of pawl and are kept.
//
// Everything is ASCII, so a reader finds the same text in every locale. Raw JSON
// that is not compact ASCII already is written twice: as a value for everybody,
// and as a string in exact, which gives back its very bytes.
//
// A file without checksum and seal is the original's, or was edited by somebody
// who took them out to say that the edit is meant. One of them alone is damage.
// Every format to come keeps the seal, so a newer file can be told from a
// damaged one.
package statefile

import (
	"hash/crc32"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is the newest format that this package reads and the one it writes.
const Format = 1

// NoSchema is the schema of a file that does not number its state's shape.
const NoSchema = -1

// Record is the content of a file.
type Record struct {
	Complete   bool      // there is a result instead of a state
	Value      []byte    // JSON text of the state or the result
	At         time.Time // when it was saved or completed; orders nothing
	Schema     int       // version of the state's shape, or NoSchema
	Generation int64     // number of saves, 0 if the file does not count them
	Extra      []Member  // members that this version does not know, in order

	// Exact says that Value must come back byte for byte. Decode sets it if the
	// file holds the exact bytes apart.
	Exact bool
	// Sealed says that the file had checksums, and they were right.
	Sealed bool
	// Touched says that the file ends in white space that pawl does not write:
	// somebody saved it again without changing anything that counts.
	Touched bool
}

// Member is a member of the file's object, as raw JSON.
type Member struct{ Name, Value []byte }

const (
	inProgress = "in_progress"
	complete   = "complete"
	sumPrefix  = "crc32c:"
	sealOpen   = `,"seal":"` + sumPrefix
	sealClose  = `"}`
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C (Castagnoli) of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Encode returns the file's bytes. Value and Extra must be valid JSON.
func (r *Record) Encode() []byte {
	b := make([]byte, 0, len(r.Value)+len(r.Value)/8+256)
	var start, end int
	if r.Complete {
		b = append(b, `{"state":null,"status":"`+complete+`","result":`...)
	} else {
		b = append(b, `{"state":`...)
	}
	start = len(b)
	b = appendASCII(b, r.Value)
	end = len(b)
	if r.Complete {
		b = append(b, `,"completed_at":`...)
	} else {
		b = append(b, `,"status":"`+inProgress+`","saved_at":`...)
	}
	b = appendTime(b, r.At)
	for _, m := range r.Extra {
		b = append(b, ',')
		b = appendASCII(b, m.Name)
		b = append(b, ':')
		b = appendASCII(b, m.Value)
	}
	b = append(b, `,"pawl":`...)
	b = strconv.AppendInt(b, Format, 10)
	if r.Schema != NoSchema {
		b = append(b, `,"schema":`...)
		b = strconv.AppendInt(b, int64(r.Schema), 10)
	}
	b = append(b, `,"generation":`...)
	b = strconv.AppendInt(b, r.Generation, 10)
	if r.Exact && string(b[start:end]) != string(r.Value) {
		b = append(b, `,"exact":`...)
		b = appendExact(b, r.Value)
	}
	b = append(b, `,"checksum":"`+sumPrefix...)
	b = appendHex(b, Checksum(b[start:end]))
	b = append(b, '"')
	seal := Checksum(b)
	b = append(b, sealOpen...)
	b = appendHex(b, seal)
	return append(b, sealClose+"\n"...)
}

// appendTime writes seconds as Python's time.time() counts them, to the
// microsecond.
func appendTime(b []byte, t time.Time) []byte {
	us := t.UnixMicro()
	b = strconv.AppendInt(b, us/1e6, 10)
	b = append(b, '.')
	frac := strconv.Itoa(int(us%1e6) + 1e6) // a 1 in front of six digits
	return append(b, frac[1:]...)
}

func appendHex(b []byte, sum uint32) []byte {
	const hex = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hex[sum>>shift&15])
	}
	return b
}

// appendExact writes valid JSON text as a JSON string.
func appendExact(b, text []byte) []byte {
	q, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic("statefile: the value is not valid JSON: " + err.Error()) // callers check
	}
	return appendASCII(b, q)
}
