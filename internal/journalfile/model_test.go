package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
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
	wrap   func(vfs.FS) vfs.FS            // a planted bug, or nil
	fault  func(crashfs.Op) crashfs.Fault // what fails on every file system, or nil
	first  int                            // seq of the first record, 0 for 1
	bodies [][]byte                       // by record: the newest body handed over for it
	lines  [][]byte                       // the line of each record that was written
	alive  int                            // records that survive the death of the process
	acked  int                            // records that survive a power cut
	lying  bool                           // the page cache may show what the device does not have
	aside  aside                          // what the recovery that ended last kept
	other  *model                         // the journal that may be there instead: a compaction is under way
	buf    []byte
}

// after returns what is known of a journal once it was recovered with n records: what
// was acknowledged before still is.
func (m *model) after(n int) *model {
	return &model{
		wrap: m.wrap, fault: m.fault, first: m.first, other: m.other, alive: n, acked: m.acked,
		bodies: slices.Clone(m.bodies[:min(n, len(m.bodies))]), lines: slices.Clone(m.lines[:min(n, len(m.lines))]),
	}
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

// body makes the body of record n with a payload of about size bytes: for one record in
// three many small values, else a long string, which is read faster.
func body(kind string, n, size int) []byte {
	at := time.Date(2026, 12, 1, 0, 0, 0, n*1000, time.UTC)
	b := line.NewBody(kind, fmt.Sprintf("step/%d", n), at)
	if kind == journal.KindRun {
		b = line.NewBody(kind, "", at).Int("format", 1).Str("id", "r").Str("uid", strings.Repeat("ab", 16)).Int("inc", 1)
	}
	open, element, end := `"`, "%x%x", `"`
	if n%3 == 0 {
		open, element, end = "[", `{"%x":[%d]},`, "0]"
	}
	payload := append(make([]byte, 0, size+40), open...)
	for x := uint64(n) + 1; len(payload) < size; {
		x = x*6364136223846793005 + 1442695040888963407
		payload = fmt.Appendf(payload, element, x>>40, x>>33)
	}
	return b.CleanValue(append(payload, end...)).Bytes()
}

func (m *model) fs(base *crashfs.FS) vfs.FS {
	if m.fault != nil {
		base.Fault = m.fault
	}
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
	before := base.Content(path)
	if m.lying {
		before = onDevice(base)
	}
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
func onDevice(base *crashfs.FS) crashfs.Content {
	base = base.Clone()
	f, err := base.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return crashfs.Content{}
	}
	f.Sync()       //nolint:errcheck // no fault is set on a clone
	f.DropCache(0) //nolint:errcheck // as above
	return base.Content(path)
}

// keptAside checks that the bytes that recovery cut off are kept, and reported; fill is
// neither.
func (m *model) keptAside(base *crashfs.FS, before crashfs.Content, rec journalfile.Recovery) error {
	written := before.TrimFill(true)
	if rec.Torn == 0 {
		if cut := written - base.Content(path).Size(); cut > 0 {
			return fmt.Errorf("invariant 10: %d bytes were cut off, and not reported", cut)
		}
		return nil
	}
	if rec.Offset+rec.Torn != before.Size() || rec.Reason == "" {
		return fmt.Errorf("invariant 10: cut at %d of %d bytes and reported %+v", rec.Offset, before.Size(), rec)
	}
	cut := before.AppendRange(nil, rec.Offset, written)
	m.buf = base.AppendBytes(m.buf[:0], rec.Aside)
	if !bytes.Equal(m.buf, cut) {
		return fmt.Errorf("invariant 10: %d bytes were cut off and %q holds %d others", len(cut), rec.Aside, len(m.buf))
	}
	return nil
}

// read returns the journal without the newlines at its end.
func (m *model) read(base *crashfs.FS) []byte {
	c := base.Content(path)
	m.buf = c.AppendRange(m.buf[:0], 0, c.TrimFill(false))
	return m.buf
}

// compare reads the file byte by byte, without the code under test.
func (m *model) compare(base *crashfs.FS, floor int) (int, error) {
	n := 0
	for text := range bytes.SplitSeq(m.read(base), []byte("\n")) {
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
	rest, begins := bytes.CutPrefix(text[h.Size:], want)
	rest = bytes.TrimPrefix(rest, []byte(`,"pad":""`))
	if tag := line.Tag(text); tag != nil {
		rest = bytes.TrimPrefix(rest, []byte(`,"run":"`+string(tag)+`"`))
	}
	if !begins || string(rest) != "}" {
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
	text := base.Content(path).AppendRange(nil, span.Offset, span.Offset+span.Len)
	m.lines = append(m.lines[:m.alive], text)
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
	m.lines = append(m.lines[:0], bytes.Clone(m.read(base)))
	m.alive, m.acked = 1, 1
	return j, nil
}

// settle makes the model that of a journal with n records, all of them durable.
// A record that was in flight and came back is a record like any other.
func (m *model) settle(base *crashfs.FS, n int) {
	old := m.lines
	m.lines = m.lines[:0]
	for text := range bytes.SplitSeq(m.read(base), []byte("\n")) {
		if k := len(m.lines); len(text) > 0 && k < n {
			if k >= len(old) || !bytes.Equal(text, old[k]) {
				old = nil // from here on they are others
				text = bytes.Clone(text)
			} else {
				text = old[k]
			}
			m.lines = append(m.lines, text)
		}
	}
	m.bodies = m.bodies[:n]
	m.alive, m.acked = n, n
}
