package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/pawlgo/pawl/internal/line"
)

// Tail is what stands behind the last record of a readable journal.
type Tail struct {
	// End is the offset behind the last record and its newline: where a writer
	// continues. Everything from End on is not part of the journal.
	End int64
	// Torn is the number of bytes from End on that a crash left behind.
	Torn int64
	// Reason says why those bytes count as torn, not as damage.
	Reason string
	// NoNewline says that the last record is whole but lacks its newline; End
	// is then where the newline belongs.
	NoNewline bool
}

// Scanner reads the records of a journal in order. It checks every line's
// checksum, length and number and its link to the line before.
type Scanner struct {
	src  io.ReaderAt
	size int64

	buf      []byte // window of the file
	off      int64  // file offset of buf[0]
	pos      int    // next byte to look at in buf
	rec      Record
	lastSeq  int64
	lastCRC  uint32
	lastEnd  int64  // offset behind the last record and its newline
	end      []byte // how the run's lines end, nil if they have no tag
	noLF     bool
	tail     Tail
	err      error
	finished bool
	again    int64 // where the bytes were read a second time, plus 1
}

// window is how much is read at a time; a longer line enlarges the buffer.
const window = 1 << 18

// NewScanner returns a Scanner over the first size bytes of src.
func NewScanner(src io.ReaderAt, size int64) *Scanner {
	return &Scanner{src: src, size: size}
}

// Scan reads the next record. It returns false at the end, see [Scanner.Err] and
// [Scanner.Tail].
func (s *Scanner) Scan() bool {
	if s.finished {
		return false
	}
	if !s.next() {
		s.finished = true
		s.rec = Record{}
		return false
	}
	return true
}

// Record returns the record that Scan read. Its Text is valid until the next Scan.
func (s *Scanner) Record() *Record { return &s.rec }

// Err returns why the scan ended early: an error that matches [ErrCorrupt] or
// [ErrNewerFormat], or one of reading. It is nil at a clean or torn end.
func (s *Scanner) Err() error { return s.err }

// Tail describes the end of the journal. It is meaningful after Scan returned
// false with a nil Err.
func (s *Scanner) Tail() Tail { return s.tail }

func (s *Scanner) next() bool {
	for {
		ok, bad := s.step()
		if !bad || !s.readAgain() {
			return ok
		}
	}
}

// step reads one record. Bad says that it found damage.
func (s *Scanner) step() (ok, bad bool) {
	if !s.skipEmpty() {
		if s.err != nil {
			return false, false // not empty: unreadable
		}
		s.tail = Tail{End: s.lastEnd, NoNewline: s.noLF}
		if s.lastSeq == 0 {
			s.err = s.corrupt(0, "it is empty, and a journal always begins with a record of kind run")
		}
		return false, false
	}
	at := s.off + int64(s.pos)
	if s.noLF && at == s.lastEnd {
		return false, s.judge(at, fmt.Sprintf("the newline behind record %d is missing", s.lastSeq))
	}
	h, text, why := s.readLine(at)
	if s.err != nil {
		return false, false
	}
	if why == "" {
		switch {
		case s.lastSeq == 0:
			s.lastSeq, s.lastCRC = h.Seq-1, h.Prev // the first line begins the chain
			if why = s.checkFirst(h, text, at); s.err != nil {
				return false, false
			}
			if why != "" {
				s.lastSeq = 0
			}
		case s.foreign(text):
			why = "a record of another run"
		case h.Seq != s.lastSeq+1:
			why = fmt.Sprintf("record %d stands where record %d belongs", h.Seq, s.lastSeq+1)
		case h.Prev != s.lastCRC:
			why = "the record does not continue the one before it"
		case bytes.HasPrefix(text[h.Size:], []byte(`"kind":"run"`)):
			why = "a first record in the midst of a journal: two files in one?"
		}
	}
	if why != "" {
		return false, s.judge(s.lastEnd, why)
	}
	s.rec.set(h, text, at)
	s.lastSeq, s.lastCRC = h.Seq, h.CRC
	s.pos += int(h.Len)
	s.lastEnd = at + h.Len
	// The newline belongs to the record; a record is a record without it too.
	s.noLF = true
	s.takeNewline()
	return true, false
}

func (s *Scanner) takeNewline() {
	if s.pos < len(s.buf) && s.buf[s.pos] == '\n' {
		s.pos++
		s.lastEnd++
		s.noLF = false
	}
}

// readAgain goes back to behind the last record, with nothing of what was read
// there, and reports whether it did: once for each such place. Beside a live owner
// that place may have been read while a record was being written to it, and judged
// by a later record, written meanwhile, that says that it is durable.
func (s *Scanner) readAgain() bool {
	if s.again == s.lastEnd+1 {
		return false
	}
	s.again = s.lastEnd + 1
	s.err = nil
	s.off, s.pos, s.buf = s.lastEnd, 0, s.buf[:0]
	if s.noLF && s.fill(1) {
		s.takeNewline()
	}
	return s.err == nil
}

// skipEmpty moves over empty lines and reports whether bytes remain.
func (s *Scanner) skipEmpty() bool {
	for {
		s.pos += newlines(s.buf[s.pos:])
		if s.pos < len(s.buf) {
			return true
		}
		if s.off+int64(s.pos) >= s.size || !s.fill(1) {
			return false
		}
	}
}

// newlines returns how many newlines b begins with. There may be a megabyte of them.
func newlines(b []byte) int {
	const eight = 0x0a0a0a0a0a0a0a0a
	n := 0
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:]) == eight {
		n += 8
	}
	for n < len(b) && b[n] == '\n' {
		n++
	}
	return n
}

// fill makes at least n bytes available at pos, as far as the file has them.
func (s *Scanner) fill(n int) bool {
	if len(s.buf)-s.pos >= n {
		return true
	}
	rest := copy(s.buf, s.buf[s.pos:])
	s.off += int64(s.pos)
	s.pos = 0
	want := max(n, int(min(window, s.size-s.off)))
	if cap(s.buf) < want+1 {
		grown := make([]byte, rest, want+1)
		copy(grown, s.buf[:rest])
		s.buf = grown
	}
	left := s.size - s.off - int64(rest)
	take := min(int64(cap(s.buf)-rest), left)
	s.buf = s.buf[:rest+int(take)]
	got, err := s.src.ReadAt(s.buf[rest:], s.off+int64(rest))
	s.buf = s.buf[:rest+got]
	if got < int(take) {
		if err != nil && err != io.EOF {
			s.err = err
			return false
		}
		s.size = s.off + int64(len(s.buf)) // cut while we read
	}
	return len(s.buf) >= n
}

// readLine returns the line at the current position, or why it is not one.
func (s *Scanner) readLine(at int64) (line.Head, []byte, string) {
	s.fill(line.MaxHead)
	if s.err != nil {
		return line.Head{}, nil, ""
	}
	h, ok, more := line.ParseHead(s.buf[s.pos:])
	switch {
	case more:
		return h, nil, "the file ends inside a record"
	case !ok:
		return h, nil, s.describe()
	case h.Len > s.size-at:
		return h, nil, "the file ends inside a record"
	}
	s.fill(int(h.Len) + 1)
	if s.err != nil {
		return h, nil, ""
	}
	if int64(len(s.buf)-s.pos) < h.Len {
		return h, nil, "the file ends inside a record"
	}
	text := s.buf[s.pos : s.pos+int(h.Len)]
	if !line.Verify(text, h) {
		return h, nil, "the checksum does not match"
	}
	return h, text, ""
}

// describe names the usual causes of bytes that are no record.
func (s *Scanner) describe() string {
	b := s.buf[s.pos:]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return "a UTF-8 byte order mark: changed by an editor?"
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "UTF-16 text: changed by an editor?"
	case bytes.HasPrefix(b, []byte("<<<<<<<")), bytes.HasPrefix(b, []byte("=======")), bytes.HasPrefix(b, []byte(">>>>>>>")):
		return "merge-conflict markers"
	case b[0] == 0:
		n := int64(0)
		for n < int64(len(b)) && b[n] == 0 {
			n++
		}
		return fmt.Sprintf("%d or more NUL bytes, as a power cut leaves them", n)
	default:
		return "not a record"
	}
}

// checkFirst looks at the first line: a journal begins with a run record of a
// format known here.
func (s *Scanner) checkFirst(h line.Head, text []byte, at int64) string {
	r := parseRecord(h, text, at)
	format, inc := positive(r.Member("format")), positive(r.Member("inc"))
	switch {
	case r.Kind != KindRun || format == 0:
		return "the first record is not of kind run"
	case format > Format:
		s.err = &NewerFormatError{Format: format}
		return ""
	case inc == 0:
		return "the first record does not say which incarnation of the journal this is"
	case line.Tag(text) != nil && !strings.HasPrefix(r.Str("uid"), string(line.Tag(text))):
		return "the first record is marked as one of another run"
	case inc == 1 && (h.Seq != 1 || h.Prev != 0):
		return "a journal that was never compacted begins with record 1"
	}
	if tag := line.Tag(text); tag != nil {
		s.end, _ = line.Ends(string(tag))
	}
	return ""
}

// positive returns the integer that raw JSON is, written as those of a head are: of at
// most 15 digits. It is 0 for everything else.
func positive(raw []byte) (n int64) {
	if len(raw) > 15 || len(raw) > 0 && raw[0] == '0' {
		return 0
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// foreign reports whether a valid line is one of another run.
func (s *Scanner) foreign(text []byte) bool {
	return s.end != nil && !bytes.HasSuffix(text, s.end)
}

func (s *Scanner) corrupt(off int64, reason string) error {
	return &CorruptError{Offset: off, Seq: s.lastSeq + 1, Reason: reason}
}
