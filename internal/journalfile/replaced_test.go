package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
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
	// In place: the inode stays, and since the file is filled ahead, the length as well.
	{"an older backup copied over it", func(base *crashfs.FS, text []byte) error { return overwrite(base, older(text), 0) }},
	{"another line in the place of the last", func(base *crashfs.FS, text []byte) error {
		return overwrite(base, []byte("0123abcd"), bytes.LastIndex(text, []byte(line.Prefix))+len(line.Prefix))
	}},
	{"a line more, where the fill was", func(base *crashfs.FS, text []byte) error {
		return overwrite(base, []byte(line.Prefix), len(bytes.TrimRight(text, "\n"))+1)
	}},
}

// older is what a journal was when it had one record: as long as now, as it was filled ahead.
func older(text []byte) []byte {
	first := bytes.IndexByte(text, '\n')
	return append(bytes.Clone(text[:first]), bytes.Repeat([]byte("\n"), len(text)-first)...)
}

// overwrite writes into the journal, as cp and rsync --inplace do.
func overwrite(base *crashfs.FS, b []byte, off int) error {
	f, err := base.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, int64(off))
	return errors.Join(err, f.Close())
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
		for _, size := range []int{100, 6000} { // 6000 are read back in two pieces
			s := newStory(noCrash(&model{wrap: wrap}), 1)
			if err := errors.Join(s.create(), s.append(100, true), s.append(size, false)); err != nil {
				return err
			}
			if err := c.do(s.base, s.base.AppendBytes(nil, path)); err != nil {
				return err
			}
			if err := checkStaysAway(s.base, s.j); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// checkStaysAway demands of the owner of a journal that was replaced that it says so to whoever
// asks, and writes nothing.
func checkStaysAway(base *crashfs.FS, j *journalfile.File) error {
	before := base.Hash()
	for range 2 {
		if _, err := j.Append(body(journal.KindStep, 9, 10), true); !errors.Is(err, journalfile.ErrReplaced) {
			return fmt.Errorf("appending: %v", err)
		}
	}
	if err := j.Check(); !errors.Is(err, journalfile.ErrReplaced) {
		return fmt.Errorf("looking: %v", err)
	}
	if err := j.Flush(j.Seq()); j.Durable() < j.Seq() && !errors.Is(err, journalfile.ErrReplaced) {
		return fmt.Errorf("flushing: %v", err)
	}
	if _, err := j.Compact(quiet); !errors.Is(err, journalfile.ErrReplaced) {
		return fmt.Errorf("compacting: %v", err)
	}
	if err := j.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if base.Hash() != before {
		return errors.New("something was written")
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
