// Package inbox is mail for runs: what somebody says to a run who does not own it, such as
// "stop" or an answer. The directory <name>.inbox beside a run's journal <name>.jsonl holds it,
// one file for each entry, until the run's owner has written it into the journal. See
// spec/inbox-v1.md.
//
// Anybody may post, nobody waits for anybody, and the owner alone removes. Of two entries about
// the same thing one wins and the other one's sender learns who did: see [Post].
//
// A [Bell] tells the owners in this process that there is mail.
package inbox

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/runid"
	"github.com/pawlgo/pawl/internal/value"
)

// Ext ends the name of a run's inbox.
const Ext = ".inbox"

// Format is the newest format of entries that this package knows and the one it writes.
const Format = 1

// MaxSize is how long an entry may be, in bytes. Mail is what people and small programs say;
// and its reader, who did not ask for it, has it in memory.
const MaxSize = 64 << 20

// Kinds of entries.
const (
	KindCancel = "cancel" // the run is to stop and not to go on
	KindAnswer = "answer" // Value answers what Key asks
)

// Entry is one piece of mail.
type Entry struct {
	Kind   string    // small letters and _
	UID    string    // of the run, from its journal's first record: one made anew is another
	Key    string    // what it is about within the run, "" for all of it
	Mail   string    // names it among all mail: the journal shows by that what was taken; drawn by Post if empty
	At     time.Time // by the sender's clock, to the microsecond
	By     string    // who says it
	Reason string
	About  string // digest of the question that an answer was given to, "" if its sender did not see one
	Value  []byte // exact JSON text, nil if there is none
}

// Name returns the name of the entry's file: entries with the same one are about the same
// thing. It holds the beginning of the run's UID, so that mail for a run that is gone never
// stands in the way of mail for a new one of the same name.
func (e *Entry) Name() string {
	name := e.Kind + "-" + tag(e.UID)
	if e.Key != "" {
		name += "-" + runid.FileName(e.Key)
	}
	return name + entryExt
}

const entryExt = ".json"

// tagDigits is how many characters of a UID names hold.
const tagDigits = 8

// tag is how names say which run they are for.
func tag(uid string) string {
	if len(uid) >= tagDigits && isHex(uid[:tagDigits]) {
		return uid[:tagDigits]
	}
	return fmt.Sprintf("%08x", line.Checksum([]byte(uid))) // somebody else's way to draw UIDs
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// maxKind is how long the name of a kind may be.
const maxKind = 32

// check says why an entry cannot be posted. The error matches fs.ErrInvalid.
func (e *Entry) check() error {
	var why string
	switch {
	case !isKind(e.Kind):
		why = fmt.Sprintf("%q names no kind of mail", e.Kind)
	case e.UID == "" || !utf8.ValidString(e.UID):
		why = "mail needs the UID of its run"
	case !utf8.ValidString(e.Key):
		why = "the key is not valid UTF-8"
	case e.Kind == KindAnswer && e.Key == "":
		why = "an answer needs the key of what it answers"
	case len(e.Value) > MaxSize:
		why = fmt.Sprintf("a value of %d bytes; the limit of mail is %d", len(e.Value), MaxSize)
	case e.At.IsZero() || e.At.UTC().Year() < 1 || e.At.UTC().Year() > 9999:
		why = "mail needs the time when it was sent, in the years 1 to 9999"
	}
	if why != "" {
		return fmt.Errorf("inbox: %s: %w", why, fs.ErrInvalid)
	}
	if e.Value != nil {
		if err := value.Valid(e.Value); err != nil {
			return fmt.Errorf("inbox: the value: %w: %w", err, fs.ErrInvalid)
		}
	}
	return nil
}

func isKind(s string) bool {
	return s != "" && len(s) <= maxKind && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// draw returns random digits.
func draw() string {
	var b [8]byte
	rand.Read(b[:]) //nolint:errcheck // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// ErrInDoubt says that an entry is in its inbox, where the owner may take it at any moment, and
// may be gone after a power cut. Posting it again settles that.
var ErrInDoubt = errors.New("it is not known whether the mail is durable")

// ExistsError says that there was mail about the same thing. It matches fs.ErrExist.
type ExistsError struct {
	Path   string
	Winner Entry // who was first
	Err    error // why Winner is empty, nil if it is not; [ErrInDoubt] if it may be gone after a power cut
}

func (e *ExistsError) Error() string {
	s := e.Path + ": there is mail about that"
	if e.Winner.Kind != "" {
		s = fmt.Sprintf("%s of %s", s, e.Winner.At.Format(time.RFC3339))
		if e.Winner.By != "" {
			s = fmt.Sprintf("%s by %q", s, e.Winner.By)
		}
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns fs.ErrExist and Err.
func (e *ExistsError) Unwrap() []error {
	if e.Err == nil {
		return []error{fs.ErrExist}
	}
	return []error{fs.ErrExist, e.Err}
}

func parent(dir string) string { return filepath.Dir(dir) }
