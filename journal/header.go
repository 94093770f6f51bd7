package journal

import (
	"time"

	"github.com/pawlgo/pawl/internal/line"
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
