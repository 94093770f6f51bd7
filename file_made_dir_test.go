//go:build !windows

package pawl_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/crashfs"
)

// Rule 6: a process that made the directories of a file may die before their names are
// durable. The next one finds them there, and must not acknowledge anything in them until they
// are.
func TestDirectoriesThatADeadProcessMade(t *testing.T) {
	const path = "/a/b/c/run.jsonl"
	open := map[string]func(fsys *crashfs.FS) (*pawl.Checkpoint[int], error){
		"OpenFile": func(fsys *crashfs.FS) (*pawl.Checkpoint[int], error) {
			return pawl.OpenFile[int](path, pawl.WithModel(fsys))
		},
		"OpenState": func(fsys *crashfs.FS) (*pawl.Checkpoint[int], error) {
			return pawl.OpenState[int](path, pawl.WithModel(fsys))
		},
	}
	for name, open := range open {
		t.Run(name, func(t *testing.T) {
			base := crashfs.New()
			kills, images := 0, 0
			base.After = func(op crashfs.Op) {
				if !op.Kind.Changes() {
					return
				}
				kills++
				killed := base.Clone()
				ck, err := open(killed)
				if err == nil {
					err = ck.Save(42)
				}
				if err != nil {
					t.Errorf("killed after %v %s: %v", op.Kind, op.Path, err)
					return
				}
				for image, v := range killed.Images(crashfs.Limits{}) {
					images++
					if ck, err := open(image); err != nil || ck.State() != 42 {
						t.Errorf("killed after %v %s, started again, and 42 acknowledged; after a power cut (%v) there is %d, %v", op.Kind, op.Path, v, ck.State(), err)
					}
				}
			}
			ck, err := open(base)
			ckNil(t, err)
			ckNil(t, ck.Close())
			if kills < 6 {
				t.Errorf("%d kills: hardly anything was tested", kills)
			}
			t.Logf("%d kills, %d images", kills, images)
		})
	}
}

// The parent's failure counts; what is further up is usually not ours, and who may not look
// into the parent has made nothing in it.
func TestDirectoryThatIsThereAlready(t *testing.T) {
	for _, c := range []struct {
		of    string
		errno syscall.Errno
		good  bool
	}{
		{"/a/b", syscall.EIO, false}, {"/a/b", syscall.EACCES, true}, {"/a/b", syscall.EINVAL, true}, {"/a", syscall.EIO, true}, {"/", syscall.EIO, true},
	} {
		m := crashfs.New()
		for _, dir := range []string{"/a", "/a/b", "/a/b/c"} {
			ckNil(t, m.Mkdir(dir, 0o700))
		}
		m.Fault = func(op crashfs.Op) crashfs.Fault {
			if op.Kind == crashfs.SyncDir && filepath.ToSlash(op.Path) == c.of {
				return crashfs.Fault{Err: c.errno}
			}
			return crashfs.Fault{}
		}
		_, err := pawl.OpenFile[int]("/a/b/c/run.json", pawl.WithModel(m))
		if good := err == nil; good != c.good || err != nil && !errors.Is(err, c.errno) {
			t.Errorf("syncing %s fails with %v: %v", c.of, c.errno, err)
		}
	}
}
