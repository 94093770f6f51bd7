package journalfile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// TestLeftoversDoNotPileUp: invariant 12, case C-43. A process that is killed at one
// operation after the other, of creating, of a recovery that keeps torn bytes, of appending
// and of compacting, and starts again each time in the same directory, leaves at the most one
// temporary file of each kind, and an orderly start and compaction leave none.
func TestLeftoversDoNotPileUp(t *testing.T) {
	base := emptyDir(t)
	// life is one start: it creates or opens, appends and compacts.
	life := func(base *crashfs.FS) error {
		j, _, _, err := journalfile.Open(base, path, func(string) {})
		if err != nil {
			j, err = journalfile.Create(base, path, body(journal.KindRun, 1, 100), func(string) {})
		}
		for n := range 2 {
			if err == nil {
				_, err = j.Append(body(journal.KindStep, n, 300), n == 0)
			}
		}
		if err == nil {
			_, err = j.Compact(func(string) {})
		}
		if err == nil {
			err = j.Close()
		}
		return err
	}
	temps := func() []string {
		return slices.DeleteFunc(base.Files(), func(name string) bool { return name == path || strings.HasPrefix(name, path+".torn-") })
	}
	kills, most := 0, 0
	step := 1
	if scale() < 1 {
		step = 5
	}
	for at := 1; ; at += step {
		base = base.Clone() // the kernel outlives the process, and the count begins anew
		if kills%3 == 2 {   // what the last kill left of a record
			if b := base.AppendBytes(nil, path); len(b) > 0 {
				base.Put(path, append(b, `{"crc":"`...))
			}
		}
		base.StopAfter(base.Ops() + at)
		err := life(base)
		if err == nil {
			break
		}
		if !errors.Is(err, crashfs.ErrStopped) {
			t.Fatalf("killed after %d operations: %v", at, err)
		}
		kills++
		left := temps()
		most = max(most, len(left))
		if len(left) > 2 {
			t.Fatalf("invariant 12: after %d kills there are %q", kills, left)
		}
	}
	if left := temps(); len(left) > 1 || len(left) == 1 && !strings.HasSuffix(left[0], ".torn.new") {
		t.Errorf("invariant 12: after an orderly life there are %q", left)
	}
	if kills < 20 || most == 0 {
		t.Errorf("%d kills, %d temporary files at once: hardly anything was tested", kills, most)
	}
	t.Logf("%d kills, at the most %d temporary files at once", kills, most)
}
