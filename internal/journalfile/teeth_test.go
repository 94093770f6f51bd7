package journalfile_test

import (
	"errors"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

// TestTeeth plants bugs in what the journal asks of the file system and demands that
// the tests find each. For those in judging bytes see the teeth of package journal.
func TestTeeth(t *testing.T) {
	checks := []struct {
		name string
		run  func(wrap func(vfs.FS) vfs.FS) error
	}{
		{"TestCrashEveryOperation", func(wrap func(vfs.FS) vfs.FS) error {
			x, _, err := storyOf(wrap, 1, 25, 1)
			if len(x.failures) > 0 {
				return errors.New(x.failures[0])
			}
			return err
		}},
		{"TestFaults", func(wrap func(vfs.FS) vfs.FS) error {
			_, _, err := faults(t, wrap, errnos[:1], []int{1})
			return err
		}},
		{"TestReplaced", checkReplaced},
		{"TestCrashWhileCompacting", func(wrap func(vfs.FS) vfs.FS) error {
			_, err := crashCompaction(wrap)
			return err
		}},
	}
	for i, p := range plants {
		if raceEnabled && i%4 != 0 {
			continue
		}
		found := ""
		var err error
		for _, c := range checks {
			if err = c.run(p.wrap); err != nil {
				found = c.name
				break
			}
		}
		if found == "" {
			t.Errorf("no test finds that %s", p.name)
			continue
		}
		t.Logf("rule %s, %s: %s: %.160v", p.rule, p.name, found, err)
	}
}
