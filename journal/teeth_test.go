package journal_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// TestReaderTeeth plants bugs in a reader and demands that the tests find each.
func TestReaderTeeth(t *testing.T) {
	all, left := samples(t), crashes(t)
	checks := []struct {
		name string
		run  func(reader) error
	}{
		{"TestCrashImages", func(r reader) error { return checkCrashes(left, r) }},
		{"TestLastNewline", func(r reader) error { return checkLastNewline(all, r) }},
		{"TestDamage/line", func(r reader) error { return checkDamage("line", all, r) }},
		{"TestDamage/foreign_line", func(r reader) error { return checkDamage("foreign line", all, r) }},
		{"TestDamage/sector", func(r reader) error { return checkDamage("sector", all, r) }},
		{"TestDamage/cut", func(r reader) error { return checkDamage("cut", all, r) }},
		{"TestOneByteOfFill", func(r reader) error { return checkOneByte(t, r) }},
		{"TestDamage/bit", func(r reader) error { return checkDamage("bit", all, r) }},
	}
	for i, bug := range oracleBugs {
		if raceEnabled && i%5 != 0 {
			continue
		}
		found := ""
		var err error
		for _, c := range checks {
			if err = c.run((oracle{bug}).read); err != nil {
				found = c.name
				break
			}
		}
		if found == "" {
			t.Errorf("no test finds a reader that %s", bug)
			continue
		}
		t.Logf("%-20s finds a reader that %s: %.140v", found, bug, err)
	}
}

// TestPadTeeth: rules 9 and 14, a writer that lets a newline stand at the start of a sector makes
// records of which a changed bit looks like a missing sector. The real writer's
// sample of that case is in TestDamage.
func TestPadTeeth(t *testing.T) {
	s := aligned(t, true)
	h, _, _ := line.ParseHead([]byte(s.lines[1]))
	body := line.NewBody(journal.KindStep, "b", time.Time{}).Bytes()
	probe := sampleLine(h.CRC, 3, 2, body)
	free := 512 - (s.ends[1]+len(probe)-1)%512
	body = line.NewBody(journal.KindStep, "b", time.Time{}).Str("x", string(bytes.Repeat([]byte("x"), free-len(`,"x":""`)))).Bytes()
	text := append(s.bytes[:s.ends[1]:s.ends[1]], sampleLine(h.CRC, 3, 2, body)...)
	s.bytes = append(text, bytes.Repeat([]byte("\n"), 1024-len(text)%512)...)
	s.lines[2], s.ends[2] = string(text[s.ends[1]:len(text)-1]), len(text)
	if (len(text)-1)%512 != 0 {
		t.Fatalf("the newline is at %d: not the case to be tested", len(text)-1)
	}
	var n tally
	for i := s.ends[1]; i < s.ends[2]-1; i++ {
		for bit := range 8 {
			b := bytes.Clone(s.bytes)
			b[i] ^= 1 << bit
			if err := n.judge(scan, s, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n.Torn == 0 {
		t.Errorf("%v: padding is not needed", n)
	}
	t.Logf("without padding, changed bits in the last record: %v", n)
}
