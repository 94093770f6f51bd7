package journalfile_test

import (
	"bytes"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// FuzzOpen: whatever bytes a journal has, opening it either changes none of them, or
// leaves a journal that opens again without anything to mend, with the same records,
// and takes another one.
func FuzzOpen(f *testing.F) {
	s := newStory(noCrash(&model{}), 5)
	if err := s.live(20); err != nil {
		f.Fatal(err)
	}
	whole := trimFill(s.base.AppendBytes(nil, path))
	f.Add(whole)
	for n := 1; n < len(whole); n += len(whole)/7 + 1 {
		f.Add(whole[:n])
		f.Add(append(bytes.Clone(whole[:n]), make([]byte, 1024)...))
		f.Add(append(bytes.Clone(whole[:n]), bytes.Repeat([]byte("\n"), 1024)...))
		f.Add(append(append(bytes.Clone(whole[:n]), bytes.Repeat([]byte("\n"), 512-n%512)...), whole[min(len(whole), n+512-n%512):]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		base := crashfs.New()
		base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		base.Put(path, b)
		before := base.Hash()
		j, fold, rec, err := journalfile.Open(base, path, func(string) {})
		if err != nil {
			if base.Hash() != before {
				t.Fatalf("refused (%v), and changed", err)
			}
			return
		}
		if rec.Torn > 0 && base.Clone().AppendBytes(nil, rec.Aside) == nil {
			t.Fatalf("%+v, and nothing is kept", rec)
		}
		seq := fold.LastSeq
		for k := range int64(3) {
			if _, err := j.Append(body(journal.KindStep, int(seq+k)+1, 60), k != 1); err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
			again, fold, rec, err := journalfile.Open(base, path, func(string) {})
			if err != nil || rec.Torn > 0 || fold.LastSeq != seq+k+1 {
				t.Fatalf("opened again: %d records of %d, %+v, %v", fold.LastSeq, seq+k+1, rec, err)
			}
			j = again
		}
	})
}
