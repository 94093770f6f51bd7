package inbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/value"
	"github.com/pawlgo/pawl/journal"
)

// An entry begins like a line of a journal, with a checksum of all that follows. It has no
// place in an order and so no len, prev, seq and dur: whoever finds its bytes in a journal does
// not take them for a record.
const (
	crcDigits = 8
	crcEnd    = `",`
	covered   = len(line.Prefix) + crcDigits + len(crcEnd) // where the bytes begin that the checksum covers
	formatAt  = `"format":`
)

// encode returns the text of an entry's file.
func (e *Entry) encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	body := line.NewBody(e.Kind, e.Key, e.At).Str("uid", e.UID).Str("mail", e.Mail)
	if e.By != "" {
		body.Str("by", e.By)
	}
	if e.Reason != "" {
		body.Str("reason", e.Reason)
	}
	if e.About != "" {
		body.Str("about", e.About)
	}
	if e.Value != nil {
		body.Value(e.Value)
	}
	rest := append([]byte(formatAt+strconv.Itoa(Format)+","), body.Bytes()...)
	text := fmt.Appendf(nil, `%s%08x%s%s`+"\n", line.Prefix, line.Checksum(rest), crcEnd, rest)
	if len(text) > MaxSize {
		return nil, fmt.Errorf("inbox: mail of %d bytes; the limit is %d: %w", len(text), MaxSize, fs.ErrInvalid)
	}
	return text, nil
}

// decode reads the text of the file at path. Its name is checked by the caller.
func decode(path string, text []byte) (Entry, error) {
	corrupt := func(reason string) (Entry, error) {
		return Entry{}, &journal.CorruptError{Path: path, Reason: reason}
	}
	text, ended := bytes.CutSuffix(text, []byte("\n"))
	rest, begun := bytes.CutPrefix(text, []byte(line.Prefix))
	switch {
	case !ended || !begun || len(text) <= covered || bytes.IndexByte(text, '\n') >= 0:
		return corrupt(fmt.Sprintf("%d bytes that are not one line of mail", len(text)))
	case fmt.Sprintf("%08x%s", line.Checksum(text[covered:]), crcEnd) != string(rest[:crcDigits+len(crcEnd)]):
		return corrupt("the checksum is wrong")
	}
	// Before anything that a newer format may change.
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(text[covered:], []byte(formatAt)), []byte(","))
	format, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || format < 1 {
		return corrupt("no format behind the checksum")
	}
	if format > Format {
		return Entry{}, fmt.Errorf("%s: mail of format %d, this program knows up to %d: %w", path, format, Format, journal.ErrNewerFormat)
	}
	// A checksum is no signature: what goes into a journal from here must not damage it.
	if !jsontext.Value(text).IsValid() || !line.Clean(text) {
		return corrupt("not strict JSON without white space")
	}
	e, why := members(text)
	if why != "" {
		return corrupt(why)
	}
	return e, nil
}

// members reads the members of an entry, or says what is wrong with them.
func members(text []byte) (e Entry, why string) {
	str := func(dst *string, name string, raw []byte) {
		s, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			why = name + " is not a string"
		}
		*dst = string(s)
	}
	values := 0
	line.Members(text, covered, func(name, raw []byte) bool {
		switch string(name) {
		case "kind":
			str(&e.Kind, "kind", raw)
		case "key":
			str(&e.Key, "key", raw)
		case "uid":
			str(&e.UID, "uid", raw)
		case "mail":
			str(&e.Mail, "mail", raw)
		case "by":
			str(&e.By, "by", raw)
		case "reason":
			str(&e.Reason, "reason", raw)
		case "about":
			str(&e.About, "about", raw)
		case "at":
			var s string
			str(&s, "at", raw)
			at, err := time.Parse(time.RFC3339, s)
			if err != nil && why == "" {
				why = "at is not a time"
			}
			e.At = at.UTC()
		case "value":
			e.Value = bytes.Clone(raw)
			values++
		case "vs":
			var s string
			str(&s, "vs", raw)
			e.Value = []byte(s)
			values++
		}
		return true
	})
	switch {
	case why != "":
	case !isKind(e.Kind) || e.UID == "" || e.Mail == "" || e.At.IsZero():
		why = "kind, uid, mail or at is missing"
	case values > 1:
		why = "both value and vs"
	case values == 1 && value.Valid(e.Value) != nil:
		why = "the value is not strict JSON"
	}
	return e, why
}
