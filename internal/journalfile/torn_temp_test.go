package journalfile_test

import (
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
)

// TestHalfKeptAside: invariant 12, found by [TestCrashMillions1]. A recovery is cut short
// while it writes the torn bytes aside, the next one behind the rename, and of its
// changes of names only the rename reaches the disk: the half of the first is still
// there. The third recovery removes it.
func TestHalfKeptAside(t *testing.T) {
	whole, half := three(t)
	base, _, _, rec, err := openBytes(half)
	if err != nil || rec.Aside == "" {
		t.Fatalf("%+v, %v", rec, err)
	}
	base.SyncDir("/") //nolint:errcheck // it is there
	base.Put(path, half)
	base.Put(path+".torn.new", half[len(whole):len(whole)+70])
	if _, _, _, err := journalfile.Open(base, path, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for img := range base.Images(crashfs.Limits{}) {
		if names := img.Files(); len(names) != 2 {
			t.Errorf("left: %q", names)
		}
	}
}
