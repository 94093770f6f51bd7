//go:build !windows

package pawl_test

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// careless is a file system that only claims to do one thing.
type careless struct {
	vfs.FS
	file, dir bool // which syncs are not done
}

func (c careless) SyncDir(name string) error {
	if c.dir {
		return nil
	}
	return c.FS.SyncDir(name)
}

func (c careless) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err == nil && c.file {
		f = carelessFile{f}
	}
	return f, err
}

type carelessFile struct{ vfs.File }

func (carelessFile) Sync() error { return nil }

// TestPowerCutHasTeeth plants the two bugs that the Python original and most others
// have: the model must find them.
func TestPowerCutHasTeeth(t *testing.T) {
	for name, plant := range map[string]careless{"file never synced": {file: true}, "directory never synced": {dir: true}} {
		t.Run(name, func(t *testing.T) {
			m := startModel(t, 0)
			plant.FS = m.fs
			m.seam = plant
			var found error
			m.fs.After = func(op crashfs.Op) {
				if op.Kind.Changes() && found == nil {
					_, found = m.check(map[string]bool{})
				}
			}
			err := m.play(modelScenarios[0].steps)
			if err == nil && found == nil {
				_, found = m.check(map[string]bool{})
			}
			if found == nil {
				t.Errorf("not found (%v)", err)
			}
			t.Log(found)
		})
	}
}

// TestOpenDoesNotBelieveTheCache kills the process behind every operation, opens
// the file, and only then cuts the power: what the opener was told must not go back
// any more. A fresh start was told nothing that could, but saves, and that must stay.
func TestOpenDoesNotBelieveTheCache(t *testing.T) {
	for i, s := range modelScenarios {
		m := startModel(t, i)
		m.fs.After = func(op crashfs.Op) {
			if !op.Kind.Changes() || t.Failed() {
				return
			}
			killed := m.fs.Clone()
			ck, err := openModel(killed, s.opts)
			if err != nil {
				t.Errorf("%s: killed at %v: %v", s.name, op, err)
				return
			}
			told := outcome(ck)
			if !slices.Contains(m.may, told) {
				t.Errorf("%s: killed at %v: %q, want one of %q", s.name, op, told, m.may)
			}
			if told == "clear" {
				told = "save 1000"
				if err := ck.Save(1000); err != nil {
					t.Errorf("%s: killed at %v: %v", s.name, op, err)
					return
				}
			}
			for image, v := range killed.Images(crashfs.Limits{}) {
				ck, err := openModel(image, s.opts)
				if err != nil {
					t.Errorf("%s: %v: %v", s.name, v, err)
				} else if got := outcome(ck); got != told {
					t.Errorf("%s: killed at %v, told %q; after the power cut (%v) it is %q", s.name, op, told, v, got)
				}
			}
		}
		ckNil(t, m.play(s.steps))
	}
}

// A file that somebody else wrote and did not sync, as cp does, is made durable
// before anything is told of it; and if that fails, what the device has counts, not
// what the cache shows.
func TestFileNobodySynced(t *testing.T) {
	text := []byte(`{"state": 5, "status": "in_progress", "saved_at": 1.5}`)
	start := func() *crashfs.FS {
		m := crashfs.New()
		ckNil(t, m.Mkdir("/dir", 0o700))
		ckNil(t, m.SyncDir("/"))
		f, err := m.OpenFile(modelPath, os.O_CREATE|os.O_WRONLY, 0o600)
		ckNil(t, err)
		_, err = f.WriteAt(text, 0)
		ckNil(t, err)
		ckNil(t, m.SyncDir("/dir"))
		return m
	}
	m := start()
	ck, err := openModel(m, nil)
	ckNil(t, err)
	if ck.State() != 5 {
		t.Errorf("state %d", ck.State())
	}
	for image, v := range m.Images(crashfs.Limits{}) {
		if ck, err := openModel(image, nil); err != nil || ck.State() != 5 {
			t.Errorf("after a power cut (%v): %v", v, err)
		}
	}

	m = start()
	m.Fault = crashfs.Nth(crashfs.Sync, 1, 1, crashfs.Fault{Err: syscall.EIO})
	_, err = openModel(m, nil)
	ckWant(t, err, syscall.EIO, "nothing was changed")
	_, err = openModel(m, nil) // this time the sync says nil, and means nothing
	ckWant(t, err, pawl.ErrCorrupt)
}
