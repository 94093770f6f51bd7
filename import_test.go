package pawl_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/pawltest"
)

// refuseImport imports from r, which must be refused with want.
func refuseImport(t *testing.T, s *pawl.Store, r io.Reader, id string, want error) {
	t.Helper()
	got, err := s.Import(t.Context(), r, id)
	if !errors.Is(err, want) || got != "" {
		t.Fatalf("imported %q: %v, want %v", got, err, want)
	}
}

// nothingIn fails if there is any file among a store's runs.
func nothingIn(t *testing.T, dir string) {
	t.Helper()
	names, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		t.Errorf("left over: %s", n.Name())
	}
}

// Whatever byte of an export is changed or cut off, it is refused, and nothing is left.
func TestImportRefusesEveryDamage(t *testing.T) {
	s := openStore(t)
	work := func(ctx context.Context) (int, error) {
		if err := pawl.SaveState(ctx, []int{1}); err != nil {
			return 0, err
		}
		return pawl.Step(ctx, "s", func(context.Context) (int, error) { return 7, nil })
	}
	if _, err := run(t, s, work); err != nil {
		t.Fatal(err)
	}
	good := export(t, s)
	dir := filepath.Join(t.TempDir(), "store")
	to, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	memory := pawltest.NewStore(t) // there are thousands
	tried := 0
	refuse := func(what string, at int, data []byte) {
		t.Helper()
		tried++
		into := memory
		if tried%20 == 0 {
			into = to // to see that nothing is left
		}
		id, err := into.Import(t.Context(), bytes.NewReader(data), "")
		if err == nil || !errors.Is(err, pawl.ErrCorrupt) {
			t.Fatalf("%s at byte %d: imported %q, %v", what, at, id, err)
		}
		if !strings.Contains(err.Error(), "nothing was created") {
			t.Fatalf("%s at byte %d: %v", what, at, err)
		}
	}
	for i := range good {
		for _, change := range []func(b byte) byte{
			func(b byte) byte { return b ^ 1 },
			func(b byte) byte { return b ^ 0x80 },
			func(byte) byte { return 0 },
			func(byte) byte { return '\n' },
			func(byte) byte { return ' ' },
		} {
			bad := bytes.Clone(good)
			if bad[i] = change(bad[i]); bad[i] != good[i] {
				refuse("changed", i, bad)
			}
		}
		if i < len(good)-1 { // a missing last newline takes nothing away
			refuse("one byte gone", i, append(bytes.Clone(good[:i]), good[i+1:]...))
			refuse("cut off", i, good[:i])
		}
		refuse("zeroes", i, append(bytes.Clone(good[:i]), make([]byte, len(good)-i)...))
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	for i := range lines[:len(lines)-1] {
		var without, twice, swapped [][]byte
		for j, l := range lines {
			if j != i {
				without = append(without, l)
			}
			twice = append(twice, l)
			if j == i {
				twice = append(twice, l)
			}
		}
		swapped = append(swapped, lines...)
		swapped[i], swapped[(i+1)%(len(lines)-1)] = swapped[(i+1)%(len(lines)-1)], swapped[i]
		refuse("a line dropped", i, bytes.Join(without, nil))
		refuse("a line twice", i, bytes.Join(twice, nil))
		refuse("lines swapped", i, bytes.Join(swapped, nil))
	}
	refuse("more behind it", 0, append(bytes.Clone(good), "x"...))
	refuse("a second export behind it", 0, append(bytes.Clone(good), good...))
	refuse("nothing", 0, nil)
	nothingIn(t, dir)
	if id, err := to.Import(t.Context(), bytes.NewReader(good), ""); id != "r" || err != nil {
		t.Fatal(id, err)
	}
	t.Logf("%d changes of an export of %d bytes", tried, len(good))
}

func TestImportNeverOverARun(t *testing.T) {
	s := openStore(t)
	interruptedRun(t, s)
	data := export(t, s)
	before, err := os.ReadFile(inspect(t, s).Path)
	if err != nil {
		t.Fatal(err)
	}
	refuseImport(t, s, bytes.NewReader(data), "", pawl.ErrConflict)
	r, err := s.Begin(t.Context(), "owned")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	refuseImport(t, s, bytes.NewReader(data), "owned", pawl.ErrConflict)
	refuseImport(t, s, bytes.NewReader(data), "\x00", pawl.ErrInvalid)
	if after, err := os.ReadFile(inspect(t, s).Path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the run changed: %v", err)
	}
	// Deleted, it comes back as the same run.
	was := inspect(t, s)
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), bytes.NewReader(data), "r"); err != nil {
		t.Fatal(err)
	}
	if is := inspect(t, s); is.UID != was.UID || is.Done != was.Done {
		t.Errorf("%+v, was %+v", is, was)
	}
}

// With another ID it is another run: other idempotency keys, so nothing that was under
// way runs again by itself.
func TestImportUnderAnotherID(t *testing.T) {
	s := openStore(t)
	var key string
	ctx, cancel := context.WithCancel(t.Context())
	work := func(stop func()) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			if _, err := pawl.Step(ctx, "before", func(context.Context) (int, error) { return 1, nil }); err != nil {
				return "", err
			}
			return pawl.Step(ctx, "pay", func(ctx context.Context) (string, error) {
				key = pawl.IdempotencyKey(ctx)
				if stop == nil {
					return "paid", nil
				}
				if err := pawl.Note(ctx, "asked"); err != nil {
					return "", err
				}
				stop()
				return "", context.Canceled
			})
		}
	}
	_, err := pawl.Do(ctx, s, "r", work(cancel))
	wantErr(t, err, context.Canceled)
	first := key
	data := export(t, s)
	if id, err := s.Import(t.Context(), bytes.NewReader(data), "copy"); id != "copy" || err != nil {
		t.Fatal(id, err)
	}
	if was, is := inspect(t, s), mustInspect(t, s, "copy"); is.UID == was.UID || is.UID == "" || is.Done != 1 {
		t.Errorf("%+v, was %+v", is, was)
	}
	key = ""
	_, err = pawl.Do(t.Context(), s, "copy", work(nil))
	wantErr(t, err, pawl.ErrInDoubt)
	if key != "" {
		t.Error("it ran all the same")
	}
	steps, err := s.Steps(t.Context(), "copy")
	if err != nil || len(steps) != 2 || !steps[1].AtMostOnce || string(steps[1].Note) != `"asked"` {
		t.Errorf("%+v, %v", steps, err)
	}
	if err := s.ResolveRerun(t.Context(), "copy", "pay", "ann", "it is a copy"); err != nil {
		t.Fatal(err)
	}
	if v, err := pawl.Do(t.Context(), s, "copy", work(nil)); v != "paid" || err != nil || key == first || key == "" {
		t.Errorf("%q, %v, key %s, first %s", v, err, key, first)
	}
	// The original is what it was: it runs again with its key.
	if v, err := run(t, s, work(nil)); v != "paid" || err != nil || key != first {
		t.Errorf("%q, %v, key %s, first %s", v, err, key, first)
	}
}

func TestImportErrorOfTheReader(t *testing.T) {
	s := openStore(t)
	interruptedRun(t, s)
	data := export(t, s)
	dir := filepath.Join(t.TempDir(), "store")
	to, err := pawl.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("connection reset")
	for _, n := range []int{0, 5, 100, len(data) / 2, len(data)} {
		refuseImport(t, to, io.MultiReader(bytes.NewReader(data[:n]), reading{broken}), "", broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = to.Import(ctx, bytes.NewReader(data), "")
	wantErr(t, err, context.Canceled)
	// Of a newer pawl, damaged or not.
	newer := bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1)
	refuseImport(t, to, bytes.NewReader(newer), "", pawl.ErrCorrupt)
	nothingIn(t, dir)
	to.Close()
	refuseImport(t, to, bytes.NewReader(data), "", pawl.ErrClosed)
}

type reading struct{ err error }

func (r reading) Read([]byte) (int, error) { return 0, r.err }
