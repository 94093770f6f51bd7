//go:build !windows

package pawl_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// filePlant is a file system with a bug: it stands for a Level 1 file that makes a call too
// late, or not at all. Each hook replaces one call if it is set.
type filePlant struct {
	vfs.FS
	late map[string]vfs.File // files whose flush was put off

	sync    func(p *filePlant, f vfs.File) error
	drop    func(f vfs.File, off int64) error
	link    func(p *filePlant, from, to string) error
	syncDir func(p *filePlant, name string) error
	same    func(a, b fs.FileInfo) bool
}

func (p *filePlant) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := p.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return filePlantFile{f, p}, nil
}

func (p *filePlant) Link(from, to string) error {
	if p.link != nil {
		return p.link(p, from, to)
	}
	return p.FS.Link(from, to)
}

func (p *filePlant) SyncDir(name string) error {
	if p.syncDir != nil {
		return p.syncDir(p, name)
	}
	return p.FS.SyncDir(name)
}

func (p *filePlant) SameFile(a, b fs.FileInfo) bool {
	if p.same != nil {
		return p.same(a, b)
	}
	return p.FS.SameFile(a, b)
}

type filePlantFile struct {
	vfs.File
	p *filePlant
}

func (f filePlantFile) Sync() error {
	if f.p.sync != nil {
		return f.p.sync(f.p, f.File)
	}
	return f.File.Sync()
}

func (f filePlantFile) DropCache(off int64) error {
	if f.p.drop != nil {
		return f.p.drop(f.File, off)
	}
	return f.File.DropCache(off)
}

func (f filePlantFile) Close() error {
	if f.p.late[f.Name()] != nil {
		return nil // flushed, and closed, later
	}
	return f.File.Close()
}

// crashScenario plays a scenario on a planted file system and cuts the power behind every
// operation.
func crashScenario(t *testing.T, name string, plant *filePlant) error {
	for i, s := range modelScenarios {
		if s.name != name {
			continue
		}
		m := startModel(t, i)
		if plant != nil {
			plant.FS, plant.late = m.fs, map[string]vfs.File{}
			m.seam = plant
		}
		var found error
		m.fs.After = func(op crashfs.Op) {
			if op.Kind.Changes() && found == nil {
				if _, err := m.check(map[string]bool{}); err != nil {
					found = fmt.Errorf("%v: %w", op, err)
				}
			}
		}
		err := m.play(s.steps)
		if _, last := m.check(map[string]bool{}); found == nil {
			found = last
		}
		return errors.Join(found, err)
	}
	return errors.New("no such scenario")
}

// failedFlush fails the flush of a save and goes on; the power is cut at the end.
func failedFlush(t *testing.T, plant *filePlant) error {
	m := startModel(t, 1)
	if plant != nil {
		plant.FS = m.fs
		m.seam = plant
	}
	m.fs.Fault = crashfs.Nth(crashfs.Sync, m.fs.Count(crashfs.Sync)+2, 1, crashfs.Fault{Err: syscall.EIO})
	if err := m.play([]string{"save 4"}); err != nil && !errors.Is(err, syscall.EIO) {
		return err
	}
	_, err := m.check(map[string]bool{})
	return err
}

// nobodySynced opens a file twice that somebody wrote and whose flush fails: the second
// opening may not believe what the cache shows.
func nobodySynced(_ *testing.T, plant *filePlant) error {
	base := crashfs.New()
	if err := errors.Join(base.Mkdir("/dir", 0o700), base.SyncDir("/")); err != nil {
		return err
	}
	f, err := base.OpenFile(modelPath, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteAt([]byte(`{"state": 5, "status": "in_progress", "saved_at": 1.5}`), 0)
	}
	if err = errors.Join(err, base.SyncDir("/dir")); err != nil {
		return err
	}
	var fsys vfs.FS = base
	if plant != nil {
		plant.FS = base
		fsys = plant
	}
	base.Fault = crashfs.Nth(crashfs.Sync, 1, 1, crashfs.Fault{Err: syscall.EIO})
	if _, err := openModel(fsys, nil); !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("the failed flush: %w", err)
	}
	if ck, err := openModel(fsys, nil); !errors.Is(err, pawl.ErrCorrupt) {
		return fmt.Errorf("rule 4: opened with what the device does not have: %t, %v", ck != nil, err)
	}
	return nil
}

// replacedUnderIt puts another file of the same length in the place of the owner's.
func replacedUnderIt(_ *testing.T, plant *filePlant) error {
	base := crashfs.New()
	if err := errors.Join(base.Mkdir("/dir", 0o700), base.SyncDir("/")); err != nil {
		return err
	}
	var fsys vfs.FS = base
	if plant != nil {
		plant.FS = base
		fsys = plant
	}
	ck, err := openModel(fsys, nil)
	if err == nil {
		err = ck.Save(1)
	}
	if err != nil {
		return err
	}
	other := []byte(strings.Replace(string(base.AppendBytes(nil, modelPath)), `"state":1`, `"state":7`, 1))
	base.Put(modelPath, other)
	if err := ck.Save(2); !errors.Is(err, pawl.ErrReplaced) || string(base.AppendBytes(nil, modelPath)) != string(other) {
		return fmt.Errorf("rule 17: a foreign file was saved over (%v)", err)
	}
	return nil
}

// filePlants are bugs in what a Level 1 file asks of the file system, by rule, with the test
// that finds them.
var filePlants = []struct {
	name, rule string
	find       func(t *testing.T, plant *filePlant) error
	plant      filePlant
}{
	{"versions are rotated before the new file is durable", "6", func(t *testing.T, p *filePlant) error { return crashScenario(t, "versions", p) }, filePlant{
		sync: func(p *filePlant, f vfs.File) error {
			if strings.HasSuffix(f.Name(), ".pawl-new") {
				p.late[f.Name()] = f
				return nil
			}
			return f.Sync()
		},
		syncDir: func(p *filePlant, name string) error { // behind the rename
			for key, f := range p.late {
				delete(p.late, key)
				if err := errors.Join(f.Sync(), f.Close()); err != nil {
					return err
				}
			}
			return p.FS.SyncDir(name)
		},
	}},
	{"the file is moved to its version's name before the new one has its own", "6", func(t *testing.T, p *filePlant) error { return crashScenario(t, "versions", p) }, filePlant{
		link: func(p *filePlant, from, to string) error { return p.FS.Rename(from, to) },
	}},
	{"the directory is not synced behind the rename", "6", func(t *testing.T, p *filePlant) error { return crashScenario(t, "versions", p) }, filePlant{
		syncDir: func(*filePlant, string) error { return nil },
	}},
	{"a failed flush is tried again and believed", "3", failedFlush, filePlant{
		sync: func(_ *filePlant, f vfs.File) error {
			if err := f.Sync(); err != nil {
				return f.Sync()
			}
			return nil
		},
	}},
	{"opening believes the page cache", "4", nobodySynced, filePlant{
		drop: func(vfs.File, int64) error { return nil },
	}},
	{"nobody looks whether the file is still ours", "17", replacedUnderIt, filePlant{
		same: func(fs.FileInfo, fs.FileInfo) bool { return true },
	}},
}

// TestFileTeeth (rules 3, 4, 6 and 17) plants bugs in what a Level 1 file asks of the file system and demands that
// each is found, and that without it nothing is.
func TestFileTeeth(t *testing.T) {
	for _, p := range filePlants {
		if err := p.find(t, nil); err != nil {
			t.Errorf("rule %s: without the bug %q: %v", p.rule, p.name, err)
		}
		err := p.find(t, &p.plant)
		if err == nil {
			t.Errorf("rule %s: not found: %s", p.rule, p.name)
		}
		t.Logf("rule %s: %s: %.150v", p.rule, p.name, err)
	}
}
