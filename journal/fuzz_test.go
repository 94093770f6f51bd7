package journal_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// FuzzScan: whatever the bytes, the Scanner does not panic; what it returns are valid
// records that stand there, in order; a beginning of the bytes gives a beginning of
// the records; and a reader written by other means says the same.
func FuzzScan(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.bytes, uint16(100))
		end := s.ends[len(s.ends)-1]
		f.Add(s.bytes[:end-1], uint16(end))
		f.Add(s.bytes[:s.ends[len(s.ends)-2]+30], uint16(1))
		f.Add(append(slices.Clone(s.bytes[:end]), make([]byte, 700)...), uint16(end+600))
		f.Add(append([]byte("\xef\xbb\xbf"), s.bytes...), uint16(0))
		f.Add(bytes.ReplaceAll(s.bytes, []byte("\n"), []byte("\r\n")), uint16(9))
		f.Add([]byte(strings.Join(s.twin(), "\n")), uint16(600))
	}
	for i, c := range crashes(f) {
		if i%97 == 0 {
			f.Add(c.bytes, uint16(i))
		}
	}
	f.Add([]byte{}, uint16(0))
	f.Add([]byte("\n\n\n"), uint16(2))
	f.Add([]byte("<<<<<<< HEAD\n"), uint16(2))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		got := scan(b)
		if want := (oracle{}).read(b); !equal(got, want) {
			t.Fatalf("%v, and the second reader says: %v", got, want)
		}
		sc := journal.NewScanner(bytes.NewReader(b), int64(len(b)))
		fold := journal.NewFold()
		last := int64(0)
		for sc.Scan() {
			r := sc.Record()
			h, ok, _ := line.ParseHead(r.Text)
			if !ok || !line.Verify(r.Text, h) || h.Seq != r.Seq || !bytes.HasPrefix(b[r.Offset:], r.Text) || last > 0 && r.Seq != last+1 {
				t.Fatalf("record %d at %d is not valid: %.200q", r.Seq, r.Offset, r.Text)
			}
			last = r.Seq
			fold.Apply(r)
			r.Value()
			r.Time()
		}
		fold.Counts()
		if part := scan(b[:min(len(b), int(cut))]); len(part.lines) > len(got.lines) || !slices.Equal(part.lines, got.lines[:len(part.lines)]) {
			t.Fatalf("of %d bytes %v, of all %v", cut, part, got)
		}
	})
}
