package journalfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// TestCrashWhileCreating: rule 6, at every moment the journal is absent or whole;
// absent, it can be created again, and then nothing of the first attempt is left
// (invariant 12); whole, what is appended to it stays.
func TestCrashWhileCreating(t *testing.T) {
	s := newStory(noCrash(&model{}), 1)
	absent, whole := 0, 0
	restart := func(where string, img *crashfs.FS, floor int) {
		m := &model{bodies: s.m.bodies}
		j, n, err := m.open(img, floor)
		if err == nil && j == nil {
			absent++
			j, err = m.create(img, s.m.bodies[0])
		} else if err == nil {
			whole++
			m.settle(img, n)
		}
		if err == nil {
			err = errors.Join(m.append(img, j, body(journal.KindStep, 2, 30), true), j.Close())
		}
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		for again, v := range img.Images(crashfs.Limits{Sectors: 2, Plain: true}) {
			if _, _, err := m.open(again, m.acked); err != nil || len(again.Files()) != 1 {
				t.Errorf("%s; then power cut (%v): %v, files %q", where, v, err, again.Files())
			}
		}
	}
	crashAll := func(where string, floor int) {
		for img, v := range s.base.Images(crashfs.Limits{}) {
			if !v.Garbage { // in a file without its name, or a name without its file
				restart(fmt.Sprintf("power cut %s (%v)", where, v), img, floor)
			}
		}
		restart("kill "+where, s.base.Clone(), floor)
	}
	s.base.After = func(op crashfs.Op) {
		if op.Kind.Changes() {
			crashAll(fmt.Sprint("after ", op.Kind, " ", op.Path), 0)
		}
	}
	if err := s.create(); err != nil {
		t.Fatal(err)
	}
	s.base.After = nil
	crashAll("after all", 1)
	if absent == 0 || whole == 0 {
		t.Error("not both were seen")
	}
	t.Logf("absent %d times, whole %d times", absent, whole)
}

// TestCreateRefuses: what is there is never replaced.
func TestCreateRefuses(t *testing.T) {
	base := crashfs.New()
	base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
	for _, text := range []string{"", "not a journal"} {
		base.Put(path, []byte(text))
		_, err := journalfile.Create(base, path, body(journal.KindRun, 1, 10), func(string) {})
		if !errors.Is(err, fs.ErrExist) || string(base.AppendBytes(nil, path)) != text {
			t.Errorf("over %q: %v", text, err)
		}
	}
	if _, err := journalfile.Create(base, "/absent/r.jsonl", body(journal.KindRun, 1, 10), func(string) {}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in an absent directory: %v", err)
	}
}
