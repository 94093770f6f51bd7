// Package runid turns run IDs into file names and back.
//
// A run ID is any non-empty UTF-8 text without NUL, up to [MaxLen] bytes. Its
// file name holds only a-z, 0-9, '-', '_', '.', '^', '%' and '~', so that two IDs
// never share a file on any file system: not on one that ignores case, not on one
// that normalises Unicode, not on Windows with its reserved names.
//
//   - A-Z becomes '^' and the small letter.
//   - Every other byte outside a-z, 0-9, '-', '_' and '.' becomes %xx; so do a
//     first or last '.', and the first letter of a name that Windows reserves.
//   - A name longer than [maxName] bytes is cut to a prefix and "~" and 128 bits of the
//     ID's SHA-256. The full ID stands in the journal's first line, which is
//     compared on opening.
package runid

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLen is the longest run ID in bytes.
const MaxLen = 512

// maxName leaves room for the suffixes of files that belong to a run within the
// 255 bytes that file systems allow.
const maxName = 180

// Check says why id cannot be a run ID, or nil.
func Check(id string) error {
	switch {
	case id == "":
		return errors.New("a run ID must not be empty")
	case len(id) > MaxLen:
		return fmt.Errorf("a run ID of %d bytes; the limit is %d", len(id), MaxLen)
	case !utf8.ValidString(id):
		return errors.New("a run ID must be valid UTF-8")
	case strings.IndexByte(id, 0) >= 0:
		return errors.New("a run ID must not contain a NUL byte")
	}
	return nil
}

// FileName returns the name for a valid run ID, without a suffix.
func FileName(id string) string {
	var b strings.Builder
	reserved := isReserved(id)
	for i := range len(id) {
		c := id[i]
		switch {
		case i == 0 && reserved:
			fmt.Fprintf(&b, "%%%02x", c)
		case c >= 'A' && c <= 'Z':
			b.WriteByte('^')
			b.WriteByte(c + 'a' - 'A')
		case c == '.' && (i == 0 || i == len(id)-1):
			b.WriteString("%2e")
		case isPlain(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	tail := "~" + hex.EncodeToString(sum[:16])
	head := name[:maxName-len(tail)]
	// Never cut an escape in two: the prefix is for people to read.
	if i := strings.LastIndexAny(head, "%^"); i >= 0 && i > len(head)-3 {
		head = head[:i]
	}
	return head + tail
}

// FromFileName returns the ID of a name that [FileName] made. Whole is false if
// the name holds only a prefix and a hash; ok is false if FileName never returns
// such a name.
func FromFileName(name string) (id string, whole, ok bool) {
	if strings.IndexByte(name, '~') >= 0 {
		return "", false, true
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '^' && i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z':
			i++
			b.WriteByte(name[i] - 'a' + 'A')
		case c == '%' && i+2 < len(name):
			raw, err := hex.DecodeString(name[i+1 : i+3])
			if err != nil {
				return "", false, false
			}
			b.Write(raw)
			i += 2
		case isPlain(c):
			b.WriteByte(c)
		default:
			return "", false, false
		}
	}
	id = b.String()
	if Check(id) != nil || FileName(id) != name {
		return "", false, false
	}
	return id, true, true
}

func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// isReserved reports whether Windows takes a file of this name, with whatever
// extension, for a device.
func isReserved(id string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(id), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if rest, ok := strings.CutPrefix(stem, "com"); ok {
		return isDeviceDigit(rest)
	}
	if rest, ok := strings.CutPrefix(stem, "lpt"); ok {
		return isDeviceDigit(rest)
	}
	return false
}

func isDeviceDigit(s string) bool {
	return len(s) == 1 && s[0] >= '0' && s[0] <= '9' || s == "\u00b9" || s == "\u00b2" || s == "\u00b3"
}
