package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pawlgo/pawl/internal/value"
)

// signature knows the looks of files that are not JSON at all. A file of nothing
// or of NUL bytes is what a power cut leaves of a file that was not synced before
// its rename, which programs other than pawl do.
func signature(b []byte) *Error {
	const restore = "restore it from a copy"
	utf16 := func(name string) *Error {
		return &Error{Reason: "encoded in " + name + ", a checkpoint is UTF-8", Hint: "save it as UTF-8 without a byte order mark"}
	}
	switch {
	case len(b) == 0:
		return &Error{Reason: "the file is empty, a power-loss signature", Hint: restore}
	case len(bytes.TrimLeft(b, "\x00")) == 0:
		return &Error{Reason: fmt.Sprintf("the file is %d NUL bytes, a power-loss signature", len(b)), Hint: restore}
	case len(bytes.TrimLeft(b, " \t\r\n")) == 0:
		return &Error{Reason: "the file is nothing but white space", Hint: restore}
	case bytes.HasPrefix(b, []byte("\xff\xfe")) || len(b) > 1 && b[0] == '{' && b[1] == 0:
		return utf16("UTF-16 (little endian)")
	case bytes.HasPrefix(b, []byte("\xfe\xff")) || b[0] == 0 && len(b) > 1 && b[1] == '{':
		return utf16("UTF-16 (big endian)")
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return marked(b)
	}
	return nil
}

// marked looks behind a byte order mark, to say whether taking it away is enough.
func marked(b []byte) *Error {
	const bom = "starts with a UTF-8 byte order mark, so an editor changed it"
	const strip = "save it as UTF-8 without a byte order mark"
	if bytes.HasPrefix(b[3:], b[:3]) {
		return &Error{Reason: bom + ", again and again", Hint: strip}
	}
	if _, err := Decode(b[3:]); err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return &Error{Reason: bom, Hint: strip}
		}
		hint := strip
		if e.Hint != "" {
			hint += ", and " + e.Hint
		}
		return &Error{Newer: e.Newer, Format: e.Format, Path: e.Path, Offset: e.Offset, Reason: bom + "; behind it: " + e.Reason, Hint: hint}
	}
	return &Error{Reason: bom + "; behind it the record is good", Hint: strip}
}

// syntaxError says what the JSON package's error means in a checkpoint.
func syntaxError(b []byte, err error) *Error {
	if line, off := mergeMarker(b); line > 0 {
		return &Error{Offset: off, Reason: fmt.Sprintf("merge-conflict markers at line %d", line), Hint: "take one side whole, from before the merge"}
	}
	v := value.Explain(b, err)
	e := &Error{Path: v.Path, Offset: max(v.Offset, 0), Reason: v.Reason}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		e.Offset = int64(len(b))
		e.Reason = fmt.Sprintf("cut off after %d bytes", len(b))
	case e.Offset < int64(len(b)) && b[e.Offset] == 0:
		nuls := b[e.Offset:]
		n := len(nuls) - len(bytes.TrimLeft(nuls, "\x00"))
		e.Reason = fmt.Sprintf("%d NUL bytes, a power-loss signature", n)
	}
	return e
}

// trailing describes what stands behind a whole record.
func trailing(b []byte, at int) *Error {
	rest := b[at:]
	e := &Error{Offset: int64(at), Reason: fmt.Sprintf("%d bytes more behind the record, as a shorter write over a longer file leaves them", len(rest))}
	if len(bytes.TrimLeft(rest, "\x00")) == 0 {
		e.Reason = fmt.Sprintf("%d NUL bytes behind the record, a power-loss signature", len(rest))
	}
	if line, off := mergeMarker(b); line > 0 {
		e.Offset, e.Reason = off, fmt.Sprintf("merge-conflict markers at line %d", line)
	}
	return e
}

// mergeMarker finds the first line that begins like a conflict of git's; line is
// 0 if there is none.
func mergeMarker(b []byte) (line int, off int64) {
	for i := 0; i < len(b); {
		line++
		end := bytes.IndexByte(b[i:], '\n')
		if bytes.HasPrefix(b[i:], []byte("<<<<<<< ")) || bytes.HasPrefix(b[i:], []byte(">>>>>>> ")) {
			return line, int64(i)
		}
		if end < 0 {
			break
		}
		i += end + 1
	}
	return 0, 0
}
