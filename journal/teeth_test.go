package journal_test

import "testing"

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
		{"TestDamage/bit", func(r reader) error { return checkDamage("bit", all, r) }},
	}
	for i, bug := range oracleBugs {
		if raceEnabled && i%5 != 2 {
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
