//go:build unix

package inbox_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/vfs"
)

// TestRootPostsForAUser: the run's owner, who is not root, must be able to take it.
func TestRootPostsForAUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := store(t)
	if err := os.Chown(filepath.Dir(dir), 12345, 12346); err != nil {
		t.Fatal(err)
	}
	e := mustPost(t, vfs.OS, dir, cancel())
	for _, name := range []string{dir, filepath.Join(dir, e.Name())} {
		fi, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if st := fi.Sys().(*syscall.Stat_t); st.Uid != 12345 || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is of %d, %v", name, st.Uid, fi.Mode())
		}
	}
}
