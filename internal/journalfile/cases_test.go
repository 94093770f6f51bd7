package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// three is a closed journal of three records and a first half of a fourth.
func three(t *testing.T) (whole, half []byte) {
	s := newStory(noCrash(&model{}), 1)
	if err := errors.Join(s.create(), s.append(300, true), s.append(200, true)); err != nil {
		t.Fatal(err)
	}
	size := s.j.Size()
	if err := errors.Join(s.append(300, true), s.j.Close()); err != nil {
		t.Fatal(err)
	}
	all := s.base.AppendBytes(nil, path)
	return all[:size], all[:size+150]
}

func openBytes(b []byte) (*crashfs.FS, *journalfile.File, *journal.Fold, journalfile.Recovery, error) {
	base := crashfs.New()
	base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
	base.Put(path, b)
	j, fold, rec, err := journalfile.Open(base, path, func(string) {})
	return base, j, fold, rec, err
}

// TestCasesRefused: rules 8, 9 and 12, invariant 4, on the cases C-01, C-02, C-05, C-06, C-11 of
// damaged files. The message
// names path, offset and what is wrong; not a byte changes, however often one tries.
func TestCasesRefused(t *testing.T) {
	whole, _ := three(t)
	n := len(whole)
	lineAt := func(k int) int { // offset of the kth line
		off := 0
		for range k {
			off += bytes.IndexByte(whole[off:], '\n') + 1
		}
		return off
	}
	flip := bytes.Clone(whole)
	flip[n-12] ^= 4
	for _, c := range []struct {
		name   string
		bytes  []byte
		offset int
		says   string
	}{
		{"C-01 zero length", nil, 0, "empty"},
		{"C-02 all NUL", make([]byte, n), 0, fmt.Sprint(n)},
		{"C-05 a second document", append(bytes.Clone(whole), "{\"a\":1}\n"...), n, "not a record"},
		{"C-06 a flipped bit in the last record", flip, lineAt(2), "checksum"},
		{"C-11 conflict markers", append([]byte("<<<<<<< HEAD\n"), whole...), 0, "merge-conflict"},
		{"C-11 conflict markers within", []byte(strings.Replace(string(whole), "\n{", "\n=======\n{", 1)), lineAt(1), "merge-conflict"},
		{"a byte order mark", append([]byte("\xef\xbb\xbf"), whole...), 0, "byte order mark"},
		{"carriage returns", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")), lineAt(1) - 1, "newline behind record 1 is missing"},
		{"a line missing", append(bytes.Clone(whole[:lineAt(1)]), whole[lineAt(2):]...), lineAt(1), "record 3 stands where record 2 belongs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, _, _, _, err := openBytes(c.bytes)
			before := base.Hash()
			for range 3 {
				_, _, _, err = journalfile.Open(base, path, func(string) {})
			}
			bad, ok := errors.AsType[*journal.CorruptError](err)
			if !ok || bad.Path != path || int(bad.Offset) != c.offset || !strings.Contains(bad.Error(), c.says) {
				t.Errorf("invariant 4: %v", err)
			}
			if base.Hash() != before || len(base.Files()) != 1 || !bytes.Equal(base.AppendBytes(nil, path), c.bytes) {
				t.Error("invariant 4: something was changed")
			}
		})
	}
}

// TestCaseGlued: rules 2, 5 and 11, C-04, a record is never glued onto a half-written one; and C-05, bytes
// behind the end that are no line are cut off, kept, and said.
func TestCaseGlued(t *testing.T) {
	whole, half := three(t)
	for name, tail := range map[string][]byte{
		"C-04 half a record": half[len(whole):], "C-05 braces": []byte("}}"), "C-05 bytes": []byte("\x00\x00\x96\x2f"),
	} {
		base, j, fold, rec, err := openBytes(append(bytes.Clone(whole), tail...))
		if err != nil || fold.LastSeq != 3 || rec.Offset != int64(len(whole)) || rec.Torn != int64(len(tail)) || rec.Reason == "" {
			t.Fatalf("%s: %+v, %v", name, rec, err)
		}
		if kept := base.AppendBytes(nil, rec.Aside); !bytes.Equal(kept, tail) {
			t.Errorf("invariant 10: %s: kept %q", name, kept)
		}
		if _, err := j.Append(body(journal.KindStep, 5, 30), true); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, fold, rec, err = openBytes(base.AppendBytes(nil, path))
		if err != nil || fold.LastSeq != 4 || rec.Torn != 0 || fold.Steps["step/5"] == nil {
			t.Errorf("invariant 6: %s: opened again: %d records, %+v, %v", name, fold.LastSeq, rec, err)
		}
	}
}

// TestTornTwice: rule 11, what an earlier recovery kept is never overwritten, and the same
// bytes are kept once (invariant 12).
func TestTornTwice(t *testing.T) {
	whole, half := three(t)
	base, _, _, first, err := openBytes(half)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tail []byte
		same bool
	}{{half[len(whole):], true}, {half[len(whole) : len(half)-1], false}} {
		base.Put(path, append(bytes.Clone(whole), c.tail...))
		_, _, rec, err := journalfile.Open(base, path, func(string) {})
		if err != nil || (rec.Aside == first.Aside) != c.same || !bytes.Equal(base.AppendBytes(nil, rec.Aside), c.tail) {
			t.Errorf("invariant 10: first %s, then %s, %v", first.Aside, rec.Aside, err)
		}
	}
	if names := base.Files(); len(names) != 3 {
		t.Errorf("invariant 12: left: %q", names)
	}
}

// TestCloseCutsTheFill: rule 14, the file is filled ahead with newlines, and a closed journal ends with its last record.
func TestCloseCutsTheFill(t *testing.T) {
	s := newStory(noCrash(&model{}), 1)
	if err := errors.Join(s.create(), s.append(300, true)); err != nil {
		t.Fatal(err)
	}
	if b := s.base.AppendBytes(nil, path); int64(len(b)) <= s.j.Size() || len(b)%crashfs.Sector != 0 || len(bytes.Trim(b[s.j.Size():], "\n")) > 0 {
		t.Errorf("%d bytes for %d: not filled ahead with newlines", len(b), s.j.Size())
	}
	size := s.j.Size()
	if err := s.j.Close(); err != nil {
		t.Fatal(err)
	}
	if b := s.base.AppendBytes(nil, path); int64(len(b)) != size || b[size-1] != '\n' || b[size-2] != '}' {
		t.Errorf("%d bytes, not %d", len(b), size)
	}
	if _, err := s.j.Append(body(journal.KindStep, 9, 10), false); !errors.Is(err, journalfile.ErrClosed) {
		t.Errorf("appended to a closed journal: %v", err)
	}
}
