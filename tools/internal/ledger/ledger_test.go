package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func open(t *testing.T, path string, want uint64, fresh bool) *Ledger {
	t.Helper()
	l, err := Open(path, func() uint64 { return 42 }, want, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	l := open(t, path, 7, false)
	if err := l.Pass("p.TestA", time.Second); err != nil {
		t.Fatal(err)
	}

	// Killed in the middle of a line: that test has not passed.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"test":"p.TestB","sec`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	l = open(t, path, 0, false)
	if l.Seed != 7 {
		t.Errorf("seed %d, want the first run's 7", l.Seed)
	}
	if took, ok := l.Passed("p.TestA"); !ok || took != time.Second {
		t.Errorf("TestA: %s, %v", took, ok)
	}
	if _, ok := l.Passed("p.TestB"); ok {
		t.Error("TestB passed by half a line")
	}
	if err := l.Pass("p.TestB", time.Minute); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, 7, false)
	if _, ok := l.Passed("p.TestB"); !ok {
		t.Error("what was written after the half line is lost")
	}
}

func TestStartAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	for _, c := range []struct {
		want  uint64
		fresh bool
		seed  uint64
		keeps bool
	}{
		{0, false, 42, false}, // no file yet
		{0, false, 42, true},
		{9, false, 9, false}, // another seed
		{9, false, 9, true},
		{0, true, 42, false},
	} {
		l := open(t, path, c.want, c.fresh)
		if _, ok := l.Passed("p.TestA"); ok != c.keeps || l.Seed != c.seed {
			t.Errorf("%+v: seed %d, passed %v", c, l.Seed, ok)
		}
		if err := l.Pass("p.TestA", 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	if err := os.WriteFile(path, []byte("no json\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, nil, 1, false); err == nil {
		t.Error("a file that is no ledger was taken for one")
	}
}
