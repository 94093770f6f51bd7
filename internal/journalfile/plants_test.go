package journalfile_test

import (
	"io/fs"
	"os"
	"strings"

	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// plant is a bug: what is wrong, which rule it breaks, and which test is to find it.
type plant struct {
	name string
	rule string
	by   string
	with func(p *planted)
}

// wrap plants the bug. What it remembers does not survive the process, which is
// what opening a journal stands for.
func (b plant) wrap(fsys vfs.FS) vfs.FS {
	p := &planted{FS: fsys, state: map[string]int{}}
	b.with(p)
	return p
}

func isTemp(name string) bool { return strings.HasSuffix(name, ".new") }

// The tests that find them.
const (
	crash      = "TestCrashEveryOperation"
	faulty     = "TestFaults"
	replaced   = "TestReplaced"
	flushing   = "TestReplacedDuringTheFlush"
	compacting = "TestCrashWhileCompacting"
	folios     = "TestOpenDropsLargeFolios"
)

var plants = []plant{
	{"a record is acknowledged without a flush", "1", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if isTemp(f.name) && f.syncs == 1 {
				return f.File.Sync() // of the first record, see below
			}
			return nil
		}
	}},
	{"a record is acknowledged before its flush", "1", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if isTemp(f.name) && f.syncs == 1 {
				return f.File.Sync()
			}
			p.state[f.name]++
			return nil
		}
		p.write = func(f *plantedFile, b []byte, off int64) (int, error) {
			if p.state[f.name] > 0 {
				p.state[f.name] = 0
				if err := f.File.Sync(); err != nil {
					return 0, err
				}
			}
			return f.File.WriteAt(b, off)
		}
	}},
	{"what a short write left is not cut off", "2", faulty, func(p *planted) {
		p.blind = true
		p.truncate = func(f *plantedFile, size int64) error {
			if f.failed {
				return nil
			}
			return f.File.Truncate(size)
		}
	}},
	{"the cut behind a short write, or behind torn bytes, is not flushed", "2, 5", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if f.cut {
				f.cut = false
				return nil
			}
			return f.File.Sync()
		}
	}},
	{"a short write is taken for a write", "2", faulty, func(p *planted) {
		p.blind = true
		p.write = func(f *plantedFile, b []byte, off int64) (int, error) {
			n, err := f.File.WriteAt(b, off)
			if n > 0 && n < len(b) {
				return len(b), nil
			}
			return n, err
		}
	}},
	{"a failed flush is tried again and believed", "3", faulty, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if err := f.File.Sync(); err != nil {
				return f.File.Sync()
			}
			return nil
		}
	}},
	{"opening believes the page cache", "4", faulty, func(p *planted) {
		p.drop = func(*plantedFile, int64) error { return nil }
	}},
	{"opening drops the page cache only behind the last claim", "4", folios, func(p *planted) {
		p.drop = func(f *plantedFile, off int64) error { return f.File.DropCache(off + 64<<10) }
	}},
	{"opening does not flush what it then calls durable", "4", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if f.syncs == 1 && !isTemp(f.name) {
				return nil
			}
			return f.File.Sync()
		}
	}},
	{"a torn tail is not cut off", "5", crash, func(p *planted) {
		p.blind = true
		p.truncate = func(*plantedFile, int64) error { return nil }
	}},
	{"a new journal is named before its content is durable", "6", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if isTemp(f.name) && f.syncs == 1 {
				return nil
			}
			return f.File.Sync()
		}
	}},
	{"the name of a new journal is not made durable", "6", crash, func(p *planted) {
		p.syncDir = func(*planted, string) error { return nil }
	}},
	{"the directory is flushed before the new journal has its name", "6", crash, func(p *planted) {
		p.rename = func(p *planted, from, to string) error {
			if err := p.FS.SyncDir(dir); err != nil {
				return err
			}
			return p.FS.Rename(from, to)
		}
		p.syncDir = func(*planted, string) error { return nil }
	}},
	{"opening does not make the name durable that a dead creator left", "6", crash, func(p *planted) {
		p.rename = func(p *planted, from, to string) error { p.state["renamed"]++; return p.FS.Rename(from, to) }
		p.syncDir = func(p *planted, name string) error {
			if p.state["renamed"] == 0 {
				return nil
			}
			return p.FS.SyncDir(name)
		}
	}},
	{"opening does not make the name durable that a dead compaction left", "6", compacting, func(p *planted) {
		p.syncDir = func(p *planted, name string) error {
			if p.state["renamed"] == 0 && p.state["compacted"] > 0 {
				return nil
			}
			return p.FS.SyncDir(name)
		}
		p.rename = func(p *planted, from, to string) error { p.state["renamed"]++; return p.FS.Rename(from, to) }
		if i, err := p.FS.Stat(path); err == nil && i.Size() > 0 {
			p.state["compacted"] = compactions(p.FS)
		}
	}},
	{"a compaction's file is named before its content is durable", "6", compacting, func(p *planted) {
		p.rename = func(p *planted, from, to string) error { p.state["renamed"]++; return p.FS.Rename(from, to) }
		p.sync = func(f *plantedFile) error {
			if isTemp(f.name) && f.syncs == 1 && f.p.state["renamed"] > 0 {
				return nil
			}
			return f.File.Sync()
		}
	}},
	{"the name of a compaction's file is not made durable", "6", compacting, func(p *planted) {
		p.rename = func(p *planted, from, to string) error { p.state["renamed"]++; return p.FS.Rename(from, to) }
		p.syncDir = func(p *planted, name string) error {
			if p.state["renamed"] > 1 {
				return nil
			}
			return p.FS.SyncDir(name)
		}
	}},
	{"torn bytes are not kept", "11", crash, func(p *planted) {
		p.write = func(f *plantedFile, b []byte, off int64) (int, error) {
			if strings.Contains(f.name, ".torn") {
				return len(b), nil
			}
			return f.File.WriteAt(b, off)
		}
	}},
	{"torn bytes are cut off before they are kept durably", "11", crash, func(p *planted) {
		p.sync = func(f *plantedFile) error {
			if strings.Contains(f.name, ".torn") {
				return nil
			}
			return f.File.Sync()
		}
	}},
	{"torn bytes are cut off before their name is durable", "11", crash, func(p *planted) {
		p.rename = func(p *planted, from, to string) error {
			p.state["torn"] = strings.Count(to, ".torn-")
			return p.FS.Rename(from, to)
		}
		p.syncDir = func(p *planted, name string) error {
			if p.state["torn"] > 0 {
				p.state["torn"] = 0
				return nil
			}
			return p.FS.SyncDir(name)
		}
	}},
	{"nobody looks whether the file is still at its path", "17", replaced, func(p *planted) {
		p.same = func(fs.FileInfo, fs.FileInfo) bool { return true }
	}},
	{"nobody looks whether the file has the size that was left", "17", replaced, func(p *planted) { p.blind = true }},
}

// compactions reads from a journal how often it was compacted.
func compactions(fsys vfs.FS) int {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return 0
	}
	sc := journal.NewScanner(f, i.Size())
	if !sc.Scan() {
		return 0
	}
	return int(sc.Record().Int("inc")) - 1
}
