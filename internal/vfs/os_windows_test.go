package vfs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

// TestRenameOpenFiles: rule 23, a journal gets its name while it is open, and a compaction
// replaces an open file by an open file.
func TestRenameOpenFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	for _, text := range []string{"first", "second", "third"} {
		f := create(t, name+".new")
		if _, err := f.WriteAt([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
		if err := vfs.OS.Rename(name+".new", name); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
}
