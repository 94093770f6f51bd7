package pawl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/vfs"
)

// scenario is a program that loads, advances and saves a checkpoint, on a file
// system whose operations fail.
type scenario struct {
	name    string
	prepare func(t *testing.T, path string)
	opts    []pawl.FileOption
	steps   []string // "save N", "complete N", "clear"
	noLinks bool     // a file system without hard links
	left    string   // files at the end beside run.json and its versions
}

// outcome says what a later start finds.
func outcome(ck *pawl.Checkpoint[int]) string {
	var r string
	switch done, err := ck.Result(&r); {
	case err != nil:
		return err.Error()
	case done:
		return "complete " + r
	case !ck.Resumed():
		return "clear"
	}
	return fmt.Sprint("save ", ck.State())
}

// play runs the scenario and returns what a later start may find: what was
// acknowledged last, and what was under way when an error said "in doubt".
func (s *scenario) play(t *testing.T, path, before string, fsys vfs.FS) (may []string) {
	t.Helper()
	may = []string{before}
	ck, err := pawl.OpenFile[int](path, append(s.opts, pawl.WithFileSystem(fsys))...)
	if err != nil {
		return may
	}
	defer ck.Close()
	if got := outcome(ck); got != before {
		t.Errorf("opened as %q, want %q", got, before)
	}
	dead := false
	for _, step := range s.steps {
		verb, arg, _ := strings.Cut(step, " ")
		switch verb {
		case "save":
			var n int
			fmt.Sscan(arg, &n)
			err = ck.Save(n)
		case "complete":
			err = ck.Complete(arg)
		case "clear":
			err = ck.Clear()
		}
		switch {
		case err == nil && dead:
			t.Errorf("invariant 7: %s is acknowledged after a write in doubt", step)
		case err == nil:
			may = []string{step}
		case errors.Is(err, pawl.ErrInDoubt):
			if !dead {
				may = append(may, step)
			}
			dead = true
		}
		if err != nil {
			var e *pawl.RunError
			if !errors.As(err, &e) || e.Path != path || e.Hint == "" {
				t.Errorf("%s: the error %v lacks a path or a hint", step, err)
			}
		}
	}
	return may
}

// count returns the operations that the scenario has when none fails.
func (s *scenario) count(t *testing.T) []call {
	path := filepath.Join(fastDir(t), "dir", "run.json")
	s.prepare(t, path)
	f := &faultFS{FS: vfs.OS}
	s.noLink(f)
	may := s.play(t, path, s.before(t, path), f)
	if want := s.steps[len(s.steps)-1]; may[0] != want || len(may) != 1 {
		t.Fatalf("without a fault it ends as %q, want %q", may, want)
	}
	return f.calls
}

func (s *scenario) noLink(f *faultFS) {
	if s.noLinks {
		f.FS = linkless{f.FS}
	}
}

// linkless is a file system without hard links, such as exFAT.
type linkless struct{ vfs.FS }

func (linkless) Link(string, string) error { return &os.LinkError{Op: "link", Err: syscall.EPERM} }

func (s *scenario) before(t *testing.T, path string) string {
	ck, err := pawl.OpenFile[int](path, s.opts...)
	ckNil(t, err)
	defer ck.Close()
	return outcome(ck)
}

var scenarios = []scenario{
	{
		name:    "fresh",
		prepare: func(*testing.T, string) {},
		steps:   []string{"save 1", "save 2", "complete r"},
	},
	{
		name:    "versions",
		prepare: func(t *testing.T, path string) { prepared(t, path, 3, pawl.KeepVersions(2)) },
		opts:    []pawl.FileOption{pawl.KeepVersions(2)},
		steps:   []string{"save 4", "save 5", "clear", "save 6"},
	},
	{
		name:    "no hard links",
		prepare: func(t *testing.T, path string) { prepared(t, path, 2) },
		opts:    []pawl.FileOption{pawl.KeepVersions(3)},
		steps:   []string{"save 4", "complete r", "clear"},
		noLinks: true,
	},
	{
		name: "C08 damaged",
		prepare: func(t *testing.T, path string) {
			prepared(t, path, 5, pawl.KeepVersions(2))
			ckWrite(t, path, "")
		},
		opts:  []pawl.FileOption{pawl.KeepVersions(2), pawl.FallBack(func(pawl.Recovery) {})},
		steps: []string{"save 4", "save 7"}, // the first is what it fell back to
		left:  "run.json.damaged",
	},
	{
		name: "of the original",
		prepare: func(t *testing.T, path string) {
			ckNil(t, os.MkdirAll(filepath.Dir(path), 0o700))
			ckWrite(t, path, `{"state": 3, "status": "in_progress", "saved_at": 1.5}`)
			ckWrite(t, path+".pawl-new", "left by a killed writer")
		},
		steps: []string{"save 3", "clear", "clear", "save 3"},
	},
}

func prepared(t *testing.T, path string, n int, opts ...pawl.FileOption) {
	ck, err := pawl.OpenFile[int](path, opts...)
	ckNil(t, err)
	for i := range n {
		ckNil(t, ck.Save(i+1))
	}
	ckNil(t, ck.Close())
}

// TestEveryFault: rules 2, 3 and 25, invariants 1, 7, 8 and 12 of a Level 1 file. It fails each operation of each scenario before and after it happened
// and in the middle of a write, and all from there on, which is also what a kill
// looks like from outside. A later start must find what was acknowledged last, or
// the write that was reported in doubt, whole.
func TestEveryFault(t *testing.T) {
	runs := 0
	for _, s := range scenarios {
		calls := s.count(t)
		for at := 1; at <= len(calls); at++ {
			for _, kind := range []string{"fail", "fail after", "tear"} {
				if kind == "tear" && calls[at-1].op != "write" {
					continue
				}
				for _, sticky := range []bool{false, true} {
					if sticky && kind != "fail" {
						continue
					}
					f := &faultFS{FS: vfs.OS}
					s.noLink(f)
					fault := func(c call) error {
						if c.n == at || sticky && c.n > at {
							return map[string]error{"fail": syscall.EIO, "fail after": syscall.EIO, "tear": syscall.ENOSPC}[kind]
						}
						return nil
					}
					switch kind {
					case "fail":
						f.fail = fault
					case "fail after":
						f.failAfter = fault
					case "tear":
						f.tear = fault
					}
					runs++
					s.check(t, f, fmt.Sprintf("%s: %s at %d, sticky %t", s.name, kind, at, sticky))
					if t.Failed() {
						for _, c := range f.calls {
							t.Log(c)
						}
						return
					}
				}
			}
		}
		t.Logf("%s: %d operations", s.name, len(calls))
	}
	t.Logf("%d runs", runs)
}

func (s *scenario) check(t *testing.T, f *faultFS, what string) {
	t.Helper()
	base := fastDir(t)
	defer os.RemoveAll(base)
	path := filepath.Join(base, "dir", "run.json")
	s.prepare(t, path)
	may := s.play(t, path, s.before(t, path), f)

	ck, err := pawl.OpenFile[int](path, s.opts...)
	if err != nil {
		t.Errorf("%s: the next start fails: %v", what, err)
		return
	}
	defer ck.Close()
	got := outcome(ck)
	if !slices.Contains(may, got) {
		t.Errorf("invariants 1, 8: %s: the next start finds %q, want one of %q", what, got, may)
	}
	// And it can go on; nothing piles up.
	ckNil(t, ck.Clear())
	ckNil(t, ck.Save(1000))
	for _, name := range ckNames(t, filepath.Dir(path)) {
		if name != "run.json" && name != s.left && !strings.HasPrefix(name, "run.json.v") {
			t.Errorf("invariant 12: %s: left over: %s", what, name)
		}
	}
	if n := len(ckNames(t, filepath.Dir(path))); n > 3 {
		t.Errorf("%s: %d files: %q", what, n, ckNames(t, filepath.Dir(path)))
	}
}
