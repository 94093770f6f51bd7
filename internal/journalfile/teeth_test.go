package journalfile_test

import (
	"errors"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

// TestTeeth plants bugs in what the journal asks of the file system and demands that
// for each the test that is to find it does. For bugs in judging bytes see the teeth
// of package journal.
func TestTeeth(t *testing.T) {
	tests := map[string]func(wrap func(vfs.FS) vfs.FS) error{
		crash: func(wrap func(vfs.FS) vfs.FS) error {
			x, _, err := plotOf(1, 22, 1).tell(wrap)
			if len(x.failures) > 0 {
				return errors.New(x.failures[0])
			}
			return err
		},
		faulty: func(wrap func(vfs.FS) vfs.FS) error {
			_, _, err := faults(t, wrap, errnos[:1], []int{1})
			return err
		},
		replaced: checkReplaced,
		folios:   checkLargeFolio,
		compacting: func(wrap func(vfs.FS) vfs.FS) error {
			_, err := crashCompaction(wrap)
			return err
		},
	}
	for i, p := range plants {
		if scale() < 1 && i%2 != 0 {
			continue
		}
		if err := tests[p.by](p.wrap); err == nil {
			t.Errorf("%s does not find that %s", p.by, p.name)
		} else {
			t.Logf("rule %s, %s: %s: %.160v", p.rule, p.name, p.by, err)
		}
	}
}
