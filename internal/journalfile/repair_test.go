package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/journal"
)

// repairer repairs a damaged journal.
type repairer func(base *crashfs.FS) (*journalfile.Repaired, error)

func realRepair(base *crashfs.FS) (*journalfile.Repaired, error) {
	return journalfile.Repair(base, path, journalfile.Identity{ID: "r", UID: "u"}, false, func(string) {})
}

// droppingRepair is a repair with a bug: of the records that it could keep it drops the one
// before the last, and writes a journal that is whole without it.
func droppingRepair(base *crashfs.FS) (*journalfile.Repaired, error) {
	rep, err := realRepair(base)
	if err != nil || !rep.Needed {
		return rep, err
	}
	text := base.AppendBytes(nil, path)
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	var out []byte
	var prev uint32
	var seq int64
	for i, old := range lines {
		h, ok, _ := line.ParseHead(old)
		if !ok {
			return nil, fmt.Errorf("not a line: %s", old)
		}
		if i == 0 {
			seq, prev = h.Seq, h.Prev
		}
		if i == len(lines)-3 {
			continue
		}
		out, prev = line.Append(out, prev, seq, seq-1, old[h.Size:])
		seq++
	}
	base.Put(path, out)
	return rep, nil
}

// checkRepair damages a journal in many ways, repairs it, and compares by other means: every
// record of the damaged file that is whole by itself is in the repaired one, or the report
// gives it up by its number or by its place; and nothing else is in it.
func checkRepair(base *crashfs.FS, repair repairer) (repairs int, err error) {
	text := base.AppendBytes(nil, path)
	text = text[:len(bytes.TrimRight(text, "\n"))+1]
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	var damaged [][]byte
	off := 0
	for i, l := range lines {
		for _, at := range []int{3, len(l) / 2, len(l) - 3} {
			b := bytes.Clone(text)
			b[off+at] ^= 4
			damaged = append(damaged, b)
		}
		damaged = append(damaged, join(join(lines[:i]...), join(lines[i+1:]...)))
		damaged = append(damaged, join(join(lines[:i]...), []byte("<<<<<<< HEAD\n"), join(lines[i:]...)))
		if i+3 < len(lines) {
			damaged = append(damaged, join(join(lines[:i]...), join(lines[i+3:]...)))
		}
		off += len(l)
	}
	for n, b := range damaged {
		img := crashfs.New()
		img.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		img.Put(path, b)
		rep, err := repair(img)
		if err != nil {
			return repairs, fmt.Errorf("damage %d: %w", n, err)
		}
		if !rep.Needed {
			continue
		}
		repairs++
		if err := kept(b, img, rep); err != nil {
			return repairs, fmt.Errorf("damage %d: %w", n, err)
		}
	}
	return repairs, nil
}

// kept compares a repaired journal with the damaged one.
func kept(damaged []byte, img *crashfs.FS, rep *journalfile.Repaired) error {
	_, fold, rec, err := journalfile.Open(img, path, func(string) {})
	if err != nil || rec.Torn > 0 || fold.Repairs != 1 {
		return fmt.Errorf("the repaired journal does not open: %+v, %w", rec, err)
	}
	after := img.AppendBytes(nil, path)
	now := map[string]bool{} // what the repaired file has of each record's body
	for text := range bytes.SplitSeq(bytes.TrimRight(after, "\n"), []byte("\n")) {
		h, _, _ := line.ParseHead(text)
		now[content(text[h.Size:])] = true
	}
	off := int64(0)
	for text := range bytes.SplitAfterSeq(damaged, []byte("\n")) {
		at := off
		off += int64(len(text))
		text = bytes.TrimSuffix(text, []byte("\n"))
		h, ok, _ := line.ParseHead(text)
		if !ok || int(h.Len) != len(text) || !line.Verify(text, h) || givenUp(rep, h.Seq, at) {
			continue
		}
		if !now[content(text[h.Size:])] {
			return fmt.Errorf("record %d is whole, is not in the repaired journal, and the report does not name it: %+v", h.Seq, rep)
		}
	}
	if string(img.AppendBytes(nil, rep.Aside)) != string(damaged) {
		return fmt.Errorf("invariant 4: the original is not kept in %q", rep.Aside)
	}
	return nil
}

// content is what a record says, without what a repair adds.
func content(body []byte) string {
	r := []byte(`{` + string(body))
	for _, name := range []string{"was", "inc", "pad", "run"} {
		if i := bytes.Index(r, []byte(`,"`+name+`":`)); i >= 0 {
			end := i + 1 + bytes.IndexAny(r[i+1:], ",}")
			r = append(bytes.Clone(r[:i]), r[end:]...)
		}
	}
	return string(r)
}

func givenUp(rep *journalfile.Repaired, seq, at int64) bool {
	for _, m := range rep.Missing {
		if seq >= m[0] && seq <= m[1] {
			return true
		}
	}
	for _, l := range rep.Lost {
		if at >= l.Offset && at < l.Offset+l.Len {
			return true
		}
	}
	return false
}

// whole is a journal of thirteen records.
func wholeJournal(t *testing.T) *crashfs.FS {
	base := emptyDir(t)
	j, _ := written(t, base, 100, 200, 300, 100, 700, 100, 100, 100, 40, 1200, 100, 100)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return base
}

// TestRepairKeepsWhatIsWhole: a repair drops no whole record without saying so.
func TestRepairKeepsWhatIsWhole(t *testing.T) {
	n, err := checkRepair(wholeJournal(t), realRepair)
	if err != nil {
		t.Error(err)
	}
	if n < 50 {
		t.Errorf("only %d repairs", n)
	}
	t.Logf("%d repairs", n)
}

// TestRepairTeeth: a repair that drops a record silently is found.
func TestRepairTeeth(t *testing.T) {
	_, err := checkRepair(wholeJournal(t), droppingRepair)
	if err == nil {
		t.Error("a repair that drops a record silently is not found")
	}
	t.Log(err)
}

// TestCrashWhileRepairing: rule 6, invariants 4 and 5. Whenever the power fails during a repair,
// or the process is killed, what stands at the journal's path is the damaged file or the
// repaired one, whole; the damaged bytes are there under one name or the other; and the repair
// can be done again.
func TestCrashWhileRepairing(t *testing.T) {
	for name, noLink := range map[string]bool{"hard links": false, "no hard links": true} {
		t.Run(name, func(t *testing.T) {
			b := wholeJournal(t).AppendBytes(nil, path)
			b[len(b)/2] ^= 4
			base := put(t, b)
			if noLink {
				base.Fault = crashfs.Nth(crashfs.Link, 1, -1, crashfs.Fault{Err: syscall.EPERM})
			}
			images, repaired := 0, 0
			check := func(where string, img *crashfs.FS) {
				images++
				_, _, _, err := journalfile.Open(img.Clone(), path, func(string) {})
				found := false
				for _, name := range img.Files() {
					found = found || bytes.Equal(img.AppendBytes(nil, name), b)
				}
				switch {
				case err == nil:
					repaired++
				case !errors.Is(err, journal.ErrCorrupt) || !bytes.Equal(img.AppendBytes(nil, path), b):
					t.Errorf("%s: at the journal's path there is neither the damaged file nor the repaired one: %v", where, err)
				}
				if !found {
					t.Errorf("invariant 4: %s: the damaged bytes are gone: %q", where, img.Files())
				}
				if rep, err := realRepair(img); err != nil || err == nil && rep.Needed && rep.Kept != 12 {
					t.Errorf("invariant 5: %s: repaired again: %+v, %v", where, rep, err)
				}
			}
			base.After = func(op crashfs.Op) {
				if !op.Kind.Changes() || t.Failed() {
					return
				}
				for img, v := range base.Images(crashfs.Limits{Sectors: 6, Random: 2}) {
					check(fmt.Sprintf("power cut after %v %d %s (%v)", op.Kind, op.N, op.Path, v), img)
				}
				check(fmt.Sprintf("kill after %v %d %s", op.Kind, op.N, op.Path), base.Clone())
			}
			if rep, err := realRepair(base); err != nil || !rep.Needed {
				t.Fatalf("%+v, %v", rep, err)
			}
			base.After = nil
			for img := range base.Images(crashfs.Limits{}) {
				if _, _, _, err := journalfile.Open(img, path, func(string) {}); err != nil {
					t.Errorf("after all is done, power cut: %v", err)
				}
			}
			if repaired == 0 || repaired == images {
				t.Errorf("%d of %d images are repaired: not both were seen", repaired, images)
			}
			t.Logf("%d images, %d of them repaired", images, repaired)
		})
	}
}
