package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

const (
	dir  = "/runs"
	path = dir + "/r.jsonl"
)

// model is what the test knows of a journal: what was asked of it and what it
// promised.
type model struct {
	wrap   func(vfs.FS) vfs.FS // a planted bug, or nil
	first  int                 // seq of the first record, 0 for 1
	bodies [][]byte            // by record: the newest body handed over for it
	lines  [][]byte            // the line of each record that was written
	alive  int                 // records that survive the death of the process
	acked  int                 // records that survive a power cut
	lying  bool                // the page cache may show what the device does not have
	aside  aside               // what the recovery that ended last kept
	buf    []byte
	before []byte // a buffer for the journal before it was opened
}

// aside is a file with torn bytes.
type aside struct {
	name string
	text string
}

// lost reports whether a file system does not have it.
func (a aside) lost(base *crashfs.FS) bool {
	return a.name != "" && string(base.AppendBytes(nil, a.name)) != a.text
}

// body makes the body of record n with a payload of about size bytes.
func body(kind string, n, size int) []byte {
	at := time.Date(2026, 12, 1, 0, 0, 0, n*1000, time.UTC)
	b := line.NewBody(kind, fmt.Sprintf("step/%d", n), at)
	if kind == journal.KindRun {
		b = line.NewBody(kind, "", at).Int("format", 1).Str("id", "r").Str("uid", strings.Repeat("ab", 16)).Int("inc", 1)
	}
	payload := make([]byte, 0, size+16)
	for x := uint64(n) + 1; len(payload) < size; {
		x = x*6364136223846793005 + 1442695040888963407
		payload = fmt.Appendf(payload, `{"%x":[%d]},`, x>>40, x>>33)
	}
	return b.CleanValue(append(append([]byte{'['}, payload...), '0', ']')).Bytes()
}

func (m *model) fs(base *crashfs.FS) vfs.FS {
	if m.wrap == nil {
		return base
	}
	return m.wrap(base)
}

// errRefused says that a journal was refused as damaged.
var errRefused = errors.New("refused")

// open recovers the journal and compares it with the model: at least floor records
// and nothing that was not asked for. It returns how many there are. A journal
// that is not there has none.
func (m *model) open(base *crashfs.FS, floor int) (*journalfile.File, int, error) {
	before := base.AppendBytes(m.before[:0], path)
	if m.lying {
		before = onDevice(base)
	}
	m.before = nil // hooks call open too
	defer func() { m.before = before }()
	j, fold, rec, err := journalfile.Open(m.fs(base), path, func(string) {})
	switch {
	case errors.Is(err, os.ErrNotExist):
		if floor > 0 {
			return nil, 0, fmt.Errorf("invariant 1: the journal with %d acknowledged records is not there", floor)
		}
		return nil, 0, nil
	case errors.Is(err, journal.ErrCorrupt):
		return nil, 0, fmt.Errorf("%w: %w", errRefused, err)
	case err != nil:
		return nil, 0, err
	}
	n, err := m.compare(base, floor)
	if err == nil && int(fold.LastSeq) != n+max(m.first-1, 0) {
		err = fmt.Errorf("invariant 2: the fold ends at %d and the file holds %d records", fold.LastSeq, n)
	}
	if err == nil {
		err = m.keptAside(base, before, rec)
	}
	m.aside = aside{}
	if err != nil {
		return nil, n, err
	}
	if rec.Torn > 0 {
		m.aside = aside{rec.Aside, string(base.AppendBytes(nil, rec.Aside))}
	}
	return j, n, nil
}

// onDevice returns the journal as a reader sees it who believes only the device.
func onDevice(base *crashfs.FS) []byte {
	base = base.Clone()
	f, err := base.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	f.Sync()       //nolint:errcheck // no fault is set on a clone
	f.DropCache(0) //nolint:errcheck // as above
	return base.AppendBytes(nil, path)
}

// keptAside checks that the bytes that recovery cut off are kept, and reported; fill is
// neither.
func (m *model) keptAside(base *crashfs.FS, before []byte, rec journalfile.Recovery) error {
	m.buf = base.AppendBytes(m.buf[:0], path)
	cut := trimTail(before[min(len(before), len(m.buf)):])
	if rec.Torn == 0 {
		if len(cut) > 0 {
			return fmt.Errorf("invariant 10: %d bytes were cut off, and not reported", len(cut))
		}
		return nil
	}
	cut = trimTail(before[rec.Offset:])
	if rec.Offset+rec.Torn != int64(len(before)) || rec.Reason == "" {
		return fmt.Errorf("invariant 10: cut at %d of %d bytes and reported %+v", rec.Offset, len(before), rec)
	}
	m.buf = base.AppendBytes(m.buf[:0], rec.Aside)
	if !bytes.Equal(m.buf, cut) {
		return fmt.Errorf("invariant 10: %d bytes were cut off and %q holds %d others", len(cut), rec.Aside, len(m.buf))
	}
	return nil
}

// compare reads the file byte by byte, without the code under test.
func (m *model) compare(base *crashfs.FS, floor int) (int, error) {
	m.buf = trimFill(base.AppendBytes(m.buf[:0], path))
	n := 0
	for text := range bytes.SplitSeq(m.buf, []byte("\n")) {
		if len(text) == 0 {
			continue
		}
		if n < len(m.lines) {
			if !bytes.Equal(text, m.lines[n]) {
				return n, fmt.Errorf("invariant 1: record %d is not byte-equal: %.80q", n+1, text)
			}
		} else if err := m.isInFlight(text, n+1); err != nil {
			return n, err
		}
		n++
	}
	if n < floor {
		return n, fmt.Errorf("invariant 1: %d records, and %d were acknowledged", n, floor)
	}
	return n, nil
}

// trimFill returns b without the newlines at its end.
func trimFill(b []byte) []byte {
	for len(b) >= 64 && string(b[len(b)-64:]) == fill64 {
		b = b[:len(b)-64]
	}
	return bytes.TrimRight(b, "\n")
}

// trimTail returns b without the newlines and NUL bytes at its end.
func trimTail(b []byte) []byte {
	for len(b) >= 64 && (string(b[len(b)-64:]) == fill64 || string(b[len(b)-64:]) == nul64) {
		b = b[:len(b)-64]
	}
	return bytes.TrimRight(b, "\x00\n")
}

var (
	fill64 = strings.Repeat("\n", 64)
	nul64  = strings.Repeat("\x00", 64)
)

// isInFlight checks a record whose Append has not returned.
func (m *model) isInFlight(text []byte, nth int) error {
	if nth > len(m.bodies) {
		return fmt.Errorf("invariant 3: record %d, which nobody wrote: %.80q", nth, text)
	}
	seq := nth + max(m.first-1, 0)
	h, ok, _ := line.ParseHead(text)
	if !ok || int(h.Seq) != seq || !line.Verify(text, h) {
		return fmt.Errorf("invariant 3: record %d is not valid: %.80q", seq, text)
	}
	want := bytes.TrimSuffix(m.bodies[nth-1], []byte("}"))
	if !bytes.HasPrefix(text[h.Size:], want) || len(text)-h.Size > len(want)+len(`,"pad":""}`) {
		return fmt.Errorf("invariant 3: record %d is not what was asked for: %.80q", seq, text)
	}
	return nil
}

// append hands a record over and notes what was promised.
func (m *model) append(base *crashfs.FS, j *journalfile.File, b []byte, durable bool) error {
	m.bodies = append(m.bodies[:m.alive], b)
	span, err := j.Append(b, durable)
	if err != nil {
		return err
	}
	m.buf = base.AppendBytes(m.buf[:0], path)
	m.lines = append(m.lines[:m.alive], bytes.Clone(m.buf[span.Offset:span.Offset+span.Len]))
	m.alive++
	if durable {
		m.acked = m.alive
	}
	return nil
}

// create makes the journal with its first record.
func (m *model) create(base *crashfs.FS, b []byte) (*journalfile.File, error) {
	m.bodies = append(m.bodies[:0], b)
	j, err := journalfile.Create(m.fs(base), path, b, func(string) {})
	if err != nil {
		return nil, err
	}
	m.buf = base.AppendBytes(m.buf[:0], path)
	m.lines = append(m.lines[:0], bytes.Clone(bytes.TrimRight(m.buf, "\n")))
	m.alive, m.acked = 1, 1
	return j, nil
}

// forget makes the model that of a journal with n records, all of them durable.
// A record that was in flight and came back is a record like any other.
func (m *model) settle(base *crashfs.FS, n int) {
	m.buf = base.AppendBytes(m.buf[:0], path)
	m.lines = m.lines[:0]
	for text := range bytes.SplitSeq(m.buf, []byte("\n")) {
		if len(text) > 0 && len(m.lines) < n {
			m.lines = append(m.lines, bytes.Clone(text))
		}
	}
	m.bodies = m.bodies[:n]
	m.alive, m.acked = n, n
}
