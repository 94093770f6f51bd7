package journalfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// replacements are what others do to a journal under its owner, rule 17.
var replacements = []struct {
	name string
	do   func(base *crashfs.FS, text []byte) error
}{
	{"deleted", func(base *crashfs.FS, _ []byte) error { return base.Remove(path) }},
	{"moved away", func(base *crashfs.FS, _ []byte) error { return base.Rename(path, path+".old") }},
	{"a backup put in its place", func(base *crashfs.FS, text []byte) error {
		base.Put(path+".backup", text)
		return base.Rename(path+".backup", path)
	}},
	{"truncated", func(base *crashfs.FS, text []byte) error { return resize(base, 300) }},
	{"emptied", func(base *crashfs.FS, text []byte) error { return resize(base, 0) }},
	{"appended to", func(base *crashfs.FS, text []byte) error { return resize(base, int64(len(text))+1) }},
}

func resize(base *crashfs.FS, size int64) error {
	f, err := base.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// checkReplaced does each of them and demands that the owner notices before it
// acknowledges anything, touches nothing, and stays away.
func checkReplaced(wrap func(vfs.FS) vfs.FS) error {
	for _, c := range replacements {
		s := newStory(noCrash(&model{wrap: wrap}), 1)
		if err := errors.Join(s.create(), s.append(100, true), s.append(100, false)); err != nil {
			return err
		}
		if err := c.do(s.base, s.base.AppendBytes(nil, path)); err != nil {
			return err
		}
		before := s.base.Hash()
		for range 2 {
			if _, err := s.j.Append(body(journal.KindStep, 9, 10), true); !errors.Is(err, journalfile.ErrReplaced) {
				return fmt.Errorf("%s: appending: %v", c.name, err)
			}
		}
		if err := s.j.Sync(); !errors.Is(err, journalfile.ErrReplaced) {
			return fmt.Errorf("%s: flushing: %v", c.name, err)
		}
		if _, err := s.j.Compact(func(string) {}); !errors.Is(err, journalfile.ErrReplaced) {
			return fmt.Errorf("%s: compacting: %v", c.name, err)
		}
		if err := s.j.Close(); err != nil {
			return fmt.Errorf("%s: close: %w", c.name, err)
		}
		if s.base.Hash() != before {
			return fmt.Errorf("%s: something was written", c.name)
		}
	}
	return nil
}

// TestReplaced: rule 17, see checkReplaced.
func TestReplaced(t *testing.T) {
	if err := checkReplaced(nil); err != nil {
		t.Error(err)
	}
}

// TestReplacedOnDisk: the same with the real file system, and with a link, which is
// never followed (rule 21).
func TestReplacedOnDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	open := func() *journalfile.File {
		j, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 10), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := open()
	if err := os.Rename(name, name+".other"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name+".other", name); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(body(journal.KindStep, 2, 10), true); !errors.Is(err, journalfile.ErrReplaced) {
		t.Errorf("appended behind a link: %v", err)
	}
	if _, _, _, err := journalfile.Open(vfs.OS, name, func(string) {}); err == nil {
		t.Error("opened a link")
	}
	if _, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 10), func(string) {}); !errors.Is(err, os.ErrExist) {
		t.Errorf("created behind a link: %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(body(journal.KindStep, 2, 10), true); !errors.Is(err, journalfile.ErrReplaced) {
		t.Errorf("appended to a deleted journal: %v", err)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := journalfile.Open(vfs.OS, name, func(string) {}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}
