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
	whole := bytes.TrimRight(s.base.AppendBytes(nil, path), "\n")
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
		if rec.Torn > 0 && base.AppendBytes(nil, rec.Aside) == nil {
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

// FuzzRepair: whatever bytes a journal has, a repair either changes none of them, or
// leaves a journal that needs none, whose records were all in the damaged file, and the
// damaged file under another name.
func FuzzRepair(f *testing.F) {
	s := newStory(noCrash(&model{}), 7)
	if err := s.live(20); err != nil {
		f.Fatal(err)
	}
	whole := bytes.TrimRight(s.base.AppendBytes(nil, path), "\n")
	f.Add(whole)
	for n := 1; n < len(whole); n += len(whole)/11 + 1 {
		flipped := bytes.Clone(whole)
		flipped[n] ^= 4
		f.Add(flipped)
		f.Add(append(bytes.Clone(whole[:n]), whole[min(len(whole), n+300):]...))
		f.Add(append(bytes.Clone(whole[:n]), whole[n/2:]...))
		f.Add(whole[n:])
	}
	who := journalfile.Identity{ID: "r", UID: "u"}
	f.Fuzz(func(t *testing.T, b []byte) {
		base := crashfs.New()
		base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		base.Put(path, b)
		before := base.Hash()
		dry, dryErr := journalfile.Repair(base, path, who, true, func(string) {})
		if base.Hash() != before {
			t.Fatal("a dry run changed something")
		}
		rep, err := journalfile.Repair(base, path, who, false, func(string) {})
		if err != nil || !rep.Needed {
			if base.Hash() != before {
				t.Fatalf("not repaired (%v), and changed", err)
			}
			return
		}
		if dryErr != nil || dry.Kept != rep.Kept || len(dry.Lost) != len(rep.Lost) {
			t.Fatalf("the dry run said %+v, %v, and then it was %+v", dry, dryErr, rep)
		}
		if !bytes.Equal(base.Clone().AppendBytes(nil, rep.Aside), b) {
			t.Fatal("the damaged file is not kept")
		}
		again, err := journalfile.Repair(base, path, who, false, func(string) {})
		if err != nil || again.Needed {
			t.Fatalf("repaired, and needs repair: %+v, %v", again, err)
		}
		j, fold, rec, err := journalfile.Open(base, path, func(string) {})
		if err != nil || rec.Torn > 0 || fold.Repairs == 0 {
			t.Fatalf("repaired, and does not open: %+v, %v", rec, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
