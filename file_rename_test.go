package pawl_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/vfs"
)

// Rule 25. A rename that failed is looked into: it may have happened all the same, it may not, and
// where nobody can tell the save is in doubt and no other follows.
func TestRenameThatFailed(t *testing.T) {
	for name, c := range map[string]struct {
		happens, blind bool
		want           error // of the save, nil for none
		then           int   // state at the next start
	}{
		"happened":                    {happens: true, then: 2},
		"did not":                     {want: syscall.EIO, then: 1},
		"happened, nobody can look":   {happens: true, blind: true, want: pawl.ErrInDoubt, then: 2},
		"did not, and nobody can see": {blind: true, want: pawl.ErrInDoubt, then: 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			f := &faultFS{FS: vfs.OS}
			ck, err := pawl.OpenFile[int](path, pawl.WithFileSystem(f))
			ckNil(t, err)
			ckNil(t, ck.Save(1))
			renamed := false
			fault := func(now call) error {
				if now.op == "rename" && !renamed {
					renamed = true
					return syscall.EIO
				}
				if now.op == "lstat" && renamed && c.blind {
					return syscall.EIO
				}
				return nil
			}
			if c.happens {
				f.failAfter = fault
			} else {
				f.fail = fault
			}
			err = ck.Save(2)
			f.fail, f.failAfter = nil, nil
			if c.want == nil {
				ckNil(t, err)
			} else {
				ckWant(t, err, c.want)
			}
			if c.want == pawl.ErrInDoubt {
				ckWant(t, ck.Save(3), pawl.ErrInDoubt, "open the file again")
			}
			ckNil(t, ck.Close())
			ck, err = pawl.OpenFile[int](path)
			ckNil(t, err)
			if ck.State() != c.then {
				t.Errorf("the next start finds %d, want %d", ck.State(), c.then)
			}
			ckNil(t, ck.Save(4))
			ckNil(t, ck.Close())
			if names := ckNames(t, filepath.Dir(path)); len(names) != 1 {
				t.Errorf("left: %q", names)
			}
		})
	}
}

// Network file systems report a failed write as late as when the file is closed: the save has
// failed then, and what was saved before stays.
func TestCloseOfTheNewFileFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	f := &faultFS{FS: vfs.OS}
	ck, err := pawl.OpenFile[int](path, pawl.WithFileSystem(f))
	ckNil(t, err)
	ckNil(t, ck.Save(1))
	before, err := os.ReadFile(path)
	ckNil(t, err)
	f.failAfter = func(c call) error {
		if c.op == "close" && strings.HasSuffix(c.path, ".pawl-new") {
			return syscall.EDQUOT
		}
		return nil
	}
	ckWant(t, ck.Save(2), syscall.EDQUOT, "what was last saved is intact")
	f.failAfter = nil
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("it was replaced: %s, %v", after, err)
	}
	ckNil(t, ck.Save(3))
	ckNil(t, ck.Close())
}
