package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/journal"
)

// keeper is one of the places where a program keeps a state: a JSON file, a journal, a run
// in a store. The cases about values ask the same of all three.
type keeper[T any] struct {
	name, path string
	open       func() (kept[T], error)
}

// kept is a state that is open.
type kept[T any] struct {
	load  func() (T, error)
	save  func(T) error
	close func() error
}

// keepers returns all of them, in one directory.
func keepers[T any](dir string) []keeper[T] {
	level1 := func(name string, open func(string, ...pawl.FileOption) (*pawl.Checkpoint[T], error)) keeper[T] {
		path := filepath.Join(dir, name)
		return keeper[T]{name, path, func() (kept[T], error) {
			ck, err := open(path)
			if err != nil {
				return kept[T]{}, err
			}
			return kept[T]{func() (T, error) { return ck.State(), nil }, ck.Save, ck.Close}, nil
		}}
	}
	store := filepath.Join(dir, "store")
	return []keeper[T]{
		level1("file.json", pawl.OpenFile[T]),
		level1("state.jsonl", pawl.OpenState[T]),
		{"run", filepath.Join(store, "runs", "r.jsonl"), func() (kept[T], error) {
			s, err := pawl.Open(store)
			if err != nil {
				return kept[T]{}, err
			}
			r, err := s.Begin(context.Background(), "r")
			if err != nil {
				return kept[T]{}, err
			}
			ctx := r.Context(context.Background())
			load := func() (T, error) { v, _, err := pawl.LoadState[T](ctx); return v, err }
			if _, err := load(); err != nil {
				return kept[T]{}, errors.Join(err, r.Close())
			}
			return kept[T]{load, func(v T) error { return pawl.SaveState(ctx, v) }, r.Close}, nil
		}},
	}
}

// mustOpen opens a keeper.
func (k keeper[T]) mustOpen(t *testing.T) kept[T] {
	t.Helper()
	o, err := k.open()
	if err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	return o
}

// saves is how many states the file says were saved.
func (k keeper[T]) saves(t *testing.T) int {
	t.Helper()
	if !strings.HasSuffix(k.path, ".json") {
		return strings.Count(ckRead(t, k.path), `"kind":"state"`)
	}
	info, err := pawl.InspectFile(k.path)
	ckNil(t, err)
	return int(info.Records)
}

// wantSays checks the sentinel and that the message has all parts, and that it is an error of
// this package that says what was being done.
func wantSays(t *testing.T, err, sentinel error, parts ...string) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("error %v, want %v", err, sentinel)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the message %q lacks %q", err, p)
		}
	}
	if e, ok := errors.AsType[*pawl.RunError](err); !ok || e.Op == "" {
		t.Errorf("the error %q is no RunError with Op", err)
	}
}

// tree is every file below a directory, with its mode and its bytes, so that two can be
// compared. Names have slashes; directories end with one.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	ckNil(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			files[name+"/"] = ""
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = fi.Mode().String() + " " + string(text)
		return err
	}))
	return files
}

var recordHead = regexp.MustCompile(`^\{"crc":"[0-9a-f]{8}","len":\d+,"prev":"([0-9a-f]{8})",(.*)$`)

// rewriteJournal replaces text in the nth record of a journal and mends lengths, checksums
// and links, as spec/journal-v1.md says: as another program would have written it.
func rewriteJournal(t *testing.T, path string, n int, from, to string) {
	t.Helper()
	ckWrite(t, path, rewritten(t, ckRead(t, path), n, from, to))
}

func rewritten(t *testing.T, text string, n int, from, to string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	record, prev := 0, ""
	for i, l := range lines {
		m := recordHead.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		record++
		link, rest := m[1], m[2]
		if record == n {
			if !strings.Contains(rest, from) {
				t.Fatalf("record %d has no %q: %s", n, from, l)
			}
			rest = strings.Replace(rest, from, to, 1)
		}
		if record > n {
			link = prev
		}
		length := 0
		for range 3 { // it counts its own digits
			length = len(fmt.Sprintf(`{"crc":"00000000","len":%d,"prev":"%s",%s`, length, link, rest))
		}
		covered := fmt.Sprintf(`"len":%d,"prev":"%s",%s`, length, link, rest)
		prev = fmt.Sprintf("%08x", crc32.Checksum([]byte(covered), crc32.MakeTable(crc32.Castagnoli)))
		lines[i] = fmt.Sprintf(`{"crc":"%s",%s`, prev, covered)
	}
	return strings.Join(lines, "\n")
}

// recordWith is the number of the first record that contains all of the texts.
func recordWith(t *testing.T, path string, texts ...string) int {
	t.Helper()
	n := 0
lines:
	for l := range strings.Lines(ckRead(t, path)) {
		if !strings.HasPrefix(l, "{") {
			continue
		}
		n++
		for _, text := range texts {
			if !strings.Contains(l, text) {
				continue lines
			}
		}
		return n
	}
	t.Fatalf("no record of %s has %q", path, texts)
	return 0
}

// states returns every state of the run's own scope that a journal's text holds, in their
// order: patches are applied.
func states(t *testing.T, text string) [][]byte {
	t.Helper()
	src := strings.NewReader(text)
	sc, fold := journal.NewScanner(src, int64(len(text))), journal.NewFold()
	var all [][]byte
	for sc.Scan() {
		rec := sc.Record()
		fold.Apply(rec)
		if rec.Kind != journal.KindState || rec.Key != "" {
			continue
		}
		st, _, err := fold.State("", func(span journal.Span) (*journal.Record, error) { return journal.RecordAt(src, span) })
		ckNil(t, err)
		all = append(all, st)
	}
	ckNil(t, sc.Err())
	return all
}
