package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/line"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// The rules of docs/testing.md that the crash model shows only in passing, each by itself.

// emptyDir is a file system with the journal's directory.
func emptyDir(t *testing.T) *crashfs.FS {
	t.Helper()
	base := crashfs.New()
	if err := errors.Join(base.Mkdir(dir, 0o700), base.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return base
}

// written makes a journal and appends records of these sizes to it; a negative size is
// not waited for. It returns the offset behind each record.
func written(t *testing.T, fsys vfs.FS, sizes ...int) (j *journalfile.File, ends []int64) {
	t.Helper()
	j, err := journalfile.Create(fsys, path, body(journal.KindRun, 1, 100), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	ends = append(ends, j.Size())
	for i, size := range sizes {
		if _, err := j.Append(body(journal.KindStep, i+2, max(size, -size)), size > 0); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, j.Size())
	}
	return j, ends
}

// put makes a file system of which the journal is all.
func put(t *testing.T, text []byte) *crashfs.FS {
	base := emptyDir(t)
	base.Put(path, text)
	return base
}

// TestRule7HoleBeforeValidRecords: rule 7, what nobody synced may come back as a hole
// with valid records behind it. They claim nothing, so it is torn; if one of them claimed
// the hole, it would be damage.
func TestRule7HoleBeforeValidRecords(t *testing.T) {
	for _, c := range []struct {
		name    string
		sizes   []int
		damaged bool
	}{
		{"rule 7: nobody synced", []int{200, 300, -700, -1500, -600, -40}, false},
		{"rule 7: the last one was waited for, and nothing knows it", []int{200, 300, -700, -1500, -600, 40}, false},
		{"rule 7: a later record claims it", []int{200, 300, -700, -1500, 600, -40}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := emptyDir(t)
			_, ends := written(t, base, c.sizes...)
			text := base.AppendBytes(nil, path)
			for hole := (ends[3] + 511) / 512 * 512; hole+512 <= ends[4]; hole += 512 {
				b := bytes.Clone(text)
				clear(b[hole : hole+512])
				img := put(t, b)
				_, fold, rec, err := journalfile.Open(img, path, func(string) {})
				if c.damaged {
					bad, ok := errors.AsType[*journal.CorruptError](err)
					if !ok || bad.Offset != ends[3] || bad.Seq != 5 {
						t.Errorf("invariant 4: hole at %d: %v", hole, err)
					}
					continue
				}
				if err != nil || fold.LastSeq != 4 || rec.Offset != ends[3] {
					t.Errorf("hole at %d: %d records, %+v, %v", hole, fold.LastSeq, rec, err)
				} else if kept := img.AppendBytes(nil, rec.Aside); !bytes.HasPrefix(b[ends[3]:], kept) || int64(len(kept)) < ends[6]-ends[3]-1 { // without the last newline
					t.Errorf("invariant 10: hole at %d: %d bytes kept", hole, len(kept))
				}
			}
		})
	}
}

// TestRule10MissingNewline: rule 10, a record whose newline is missing or wrong is kept,
// and its newline written, durably, before anything is appended.
func TestRule10MissingNewline(t *testing.T) {
	base := emptyDir(t)
	_, ends := written(t, base, 300, 200)
	whole := base.AppendBytes(nil, path)[:ends[2]]
	for name, tail := range map[string]string{"missing": "", "flipped": "\v", "NUL": "\x00"} {
		img := put(t, append(bytes.Clone(whole[:ends[2]-1]), tail...))
		j, fold, _, err := journalfile.Open(img, path, func(string) {})
		if err != nil || fold.LastSeq != 3 {
			t.Fatalf("%s: %d records, %v", name, fold.LastSeq, err)
		}
		for left, v := range img.Images(crashfs.Limits{}) {
			if b := left.AppendBytes(nil, path); !bytes.HasPrefix(b, whole) {
				t.Errorf("%s: after a power cut (%v) the file ends in %q", name, v, b[len(b)-3:])
			}
		}
		if _, err := j.Append(body(journal.KindStep, 4, 10), true); err != nil {
			t.Fatal(err)
		}
		if b := img.AppendBytes(nil, path); !bytes.HasPrefix(b, append(bytes.Clone(whole), line.Prefix...)) {
			t.Errorf("%s: the next record was glued on: %q", name, b[ends[2]-5:ends[2]+20])
		}
	}
}

// TestRule12Tails: rule 12, NUL and newlines behind the last record are known for what they
// are: cut off without a word, with nothing kept, and never skipped in the middle.
func TestRule12Tails(t *testing.T) {
	base := emptyDir(t)
	_, ends := written(t, base, 300, 200)
	whole := base.AppendBytes(nil, path)[:ends[2]]
	for name, tail := range map[string][]byte{
		"NUL": make([]byte, 5000), "one NUL": {0}, "newlines": bytes.Repeat([]byte("\n"), 5000), "both": append(bytes.Repeat([]byte("\n"), 900), make([]byte, 900)...),
	} {
		img := put(t, append(bytes.Clone(whole), tail...))
		j, fold, rec, err := journalfile.Open(img, path, func(string) {})
		if err != nil || fold.LastSeq != 3 || rec != (journalfile.Recovery{}) || len(img.Files()) != 1 {
			t.Errorf("%s: %d records, %+v, files %q, %v", name, fold.LastSeq, rec, img.Files(), err)
			continue
		}
		if _, err := j.Append(body(journal.KindStep, 4, 700), true); err != nil {
			t.Fatal(err)
		}
		if _, fold, rec, err := journalfile.Open(img.Clone(), path, func(string) {}); err != nil || fold.LastSeq != 4 || rec.Torn > 0 {
			t.Errorf("%s: then %d records, %+v, %v", name, fold.LastSeq, rec, err)
		}
	}
	for off := ends[0]; off+60 < ends[1]; off += 7 { // a hole in what the last record claims
		b := bytes.Clone(whole)
		clear(b[off : off+60])
		if _, _, _, err := journalfile.Open(put(t, b), path, func(string) {}); !errors.Is(err, journal.ErrCorrupt) {
			t.Fatalf("invariant 4: NUL from %d to %d: %v", off, off+60, err)
		}
	}
}

// TestRule13FillThatDoesNotFit: rule 13, the file is filled ahead with written bytes only,
// and where the record fits and the fill does not, the fill is taken back and the save works.
func TestRule13FillThatDoesNotFit(t *testing.T) {
	base := emptyDir(t)
	fsys := smallDisk{base, 5000}
	j, err := journalfile.Create(fsys, path, body(journal.KindRun, 1, 100), func(string) {})
	for i := 2; i <= 6 && err == nil; i++ {
		_, err = j.Append(body(journal.KindStep, i, 300), true)
		if b := base.AppendBytes(nil, path); err == nil && int64(len(b)) != j.Size() {
			t.Errorf("record %d: the file has %d bytes for %d: fill was not taken back", i, len(b), j.Size())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for img, v := range base.Images(crashfs.Limits{}) {
		if _, fold, _, err := journalfile.Open(img, path, func(string) {}); err != nil || fold.LastSeq != 6 {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// smallDisk writes what fits into a file of room bytes, and fails behind that.
type smallDisk struct {
	*crashfs.FS
	room int
}

func (d smallDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return smallFile{f, d}, nil
}

type smallFile struct {
	vfs.File
	disk smallDisk
}

func (f smallFile) WriteAt(p []byte, off int64) (int, error) {
	base := f.disk.FS
	base.Fault = nil
	if fits := f.disk.room - int(off); fits < len(p) {
		base.Fault = crashfs.Nth(crashfs.Write, base.Count(crashfs.Write)+1, 1, crashfs.Fault{Err: syscall.ENOSPC, Short: max(0, fits)})
	}
	return f.File.WriteAt(p, off)
}

// TestRule15Incarnation: rule 15. A journal is not a log whose space is used again; what can
// come back is the file that a compaction replaced. Its records are valid lines with valid
// checksums, and are no part of the new file.
func TestRule15Incarnation(t *testing.T) {
	base := emptyDir(t)
	j, ends := written(t, base, 300, 200, 100)
	old := base.AppendBytes(nil, path)
	if _, err := j.Compact(func(string) {}); err != nil {
		t.Fatal(err)
	}
	size := j.Size()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	compacted := base.AppendBytes(nil, path)[:size]
	for k := range 3 {
		b := append(bytes.Clone(compacted), old[ends[k]:ends[k+1]]...)
		if _, _, _, err := journalfile.Open(put(t, b), path, func(string) {}); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("record %d of the old file behind the new one: %v", k+2, err)
		}
	}
}

// TestRule20OrdinaryErrors: rule 20, an append that fails because there is no room, no
// quota or no permission is cut off again, reported with its cause, and not in doubt; the next
// one works as soon as the cause is gone, and so does opening.
func TestRule20OrdinaryErrors(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EPERM} {
		for _, short := range []int{0, 1, 300} {
			t.Run(fmt.Sprintf("rule 20: %v after %d bytes", errno, short), func(t *testing.T) {
				base := emptyDir(t)
				j, _ := written(t, base, 300)
				acked := base.AppendBytes(nil, path)[:j.Size()]
				base.Fault = crashfs.Nth(crashfs.Write, base.Count(crashfs.Write)+1, -1, crashfs.Fault{Err: errno, Short: short})
				for range 3 {
					_, err := j.Append(body(journal.KindStep, 3, 900), true)
					if !errors.Is(err, errno) || errors.Is(err, journalfile.ErrInDoubt) || errors.Is(err, journal.ErrCorrupt) {
						t.Fatalf("the error is %v", err)
					}
					if b := base.AppendBytes(nil, path); !bytes.Equal(b, acked) {
						t.Fatalf("invariant 8: a failed append left %d bytes", len(b)-len(acked))
					}
				}
				base.Fault = nil
				if span, err := j.Append(body(journal.KindStep, 3, 900), true); err != nil || span.Seq != 3 {
					t.Errorf("when the cause is gone: %+v, %v", span, err)
				}
				if _, fold, rec, err := journalfile.Open(base.Clone(), path, func(string) {}); err != nil || rec.Torn > 0 || fold.LastSeq != 3 {
					t.Errorf("opened: %+v, %v", rec, err)
				}
			})
		}
	}
}

// TestRule21Links: rule 21. Of the names that pawl makes beside a journal none is followed
// when it is a link: what it points to keeps every byte.
func TestRule21Links(t *testing.T) {
	top := t.TempDir()
	outside := filepath.Join(top, "outside")
	inside := filepath.Join(top, "store")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(inside, "r.jsonl")
	precious := func(when string) {
		t.Helper()
		if b, err := os.ReadFile(outside); err != nil || string(b) != "precious" {
			t.Errorf("rule 21: %s: the file outside holds %.60q, %v", when, b, err)
		}
	}
	link := func(at string) {
		t.Helper()
		os.Remove(at) //nolint:errcheck // absent is fine
		if err := os.Symlink(outside, at); err != nil {
			t.Skip("NOT TESTED: no links here: ", err)
		}
	}
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	quiet := func(string) {}

	link(name + ".new")
	j, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 100), quiet)
	if err != nil {
		t.Fatal(err)
	}
	precious("creating")
	link(name + ".new")
	if _, err := j.Compact(quiet); err != nil {
		t.Fatal(err)
	}
	precious("compacting")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(bytes.Clone(whole), `{"crc":"0000`...)
	for _, at := range []string{fmt.Sprintf("%s.torn-%d", name, len(whole)), name + ".torn.new"} {
		if err := os.WriteFile(name, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		link(at)
		if j, _, _, err := journalfile.Open(vfs.OS, name, quiet); err == nil {
			j.Close() //nolint:errcheck // opened or refused, the file outside counts
		}
		precious("keeping torn bytes at " + filepath.Base(at))
		os.Remove(at) //nolint:errcheck // it may have been replaced by a file
	}

	damaged := bytes.Clone(whole)
	damaged[40] ^= 1
	if err := os.WriteFile(name, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	link(name + ".damaged-1")
	link(name + ".new")
	if _, err := journalfile.Repair(vfs.OS, name, journalfile.Identity{ID: "r", UID: "u"}, false, quiet); err == nil {
		t.Error("repaired without a record to keep")
	}
	precious("repairing")
	link(name)
	if _, _, _, err := journalfile.Open(vfs.OS, name, quiet); err == nil {
		t.Error("rule 21: opened a link")
	}
	if _, err := journalfile.Repair(vfs.OS, name, journalfile.Identity{ID: "r", UID: "u"}, false, quiet); err == nil {
		t.Error("rule 21: repaired a link")
	}
	precious("opening")
}

// TestRule24ClockBackwards: rule 24, the order is that of the numbers, whatever the clocks of
// the writers said.
func TestRule24ClockBackwards(t *testing.T) {
	base := emptyDir(t)
	at := func(n int) time.Time { return time.Date(2026, 12, 1, 0, 0, -n*3600, 0, time.UTC) }
	step := func(n int, value string) []byte {
		return line.NewBody(journal.KindStep, "s", at(n)).Int("try", int64(n)).Int("us", 1).CleanValue([]byte(value)).Bytes()
	}
	j, err := journalfile.Create(base, path, body(journal.KindRun, 1, 10), func(string) {})
	for n := 2; n <= 6 && err == nil; n++ {
		_, err = j.Append(step(n, fmt.Sprint(n)), true)
		if err == nil && n%2 == 0 {
			if err = j.Close(); err == nil {
				j, _, _, err = journalfile.Open(base, path, func(string) {})
			}
		}
	}
	if err == nil {
		_, err = j.Compact(func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	// A compaction keeps of a step only the newest end.
	text := base.AppendBytes(nil, path)
	var values []string
	for sc := journal.NewScanner(bytes.NewReader(text), int64(len(text))); sc.Scan(); {
		if v, ok := sc.Record().Value(); ok && sc.Record().Key == "s" {
			values = append(values, string(v))
		}
	}
	if len(values) != 1 || values[0] != "6" {
		t.Errorf("kept %q, not what has the highest number", values)
	}
}

// tidy is a file system that reports files closed while what was written to them is not
// synced.
type tidy struct {
	vfs.FS
	untidy []string
}

func (s *tidy) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &tidyFile{File: f, fs: s}, nil
}

type tidyFile struct {
	vfs.File
	fs    *tidy
	dirty bool
}

func (f *tidyFile) WriteAt(p []byte, off int64) (int, error) {
	f.dirty = true
	return f.File.WriteAt(p, off)
}

func (f *tidyFile) Sync() error {
	err := f.File.Sync()
	f.dirty = f.dirty && err != nil
	return err
}

func (f *tidyFile) Close() error {
	if f.dirty {
		f.fs.untidy = append(f.fs.untidy, f.Name())
	}
	return f.File.Close()
}

// TestRule26SyncBeforeClose: rule 26, a descriptor stays open until what was written by it
// is synced: an error of the write-back is reported to nobody else. So in the life of a
// journal with everything in it no file is closed before.
func TestRule26SyncBeforeClose(t *testing.T) {
	fsys := &tidy{FS: emptyDir(t)}
	base := fsys.FS.(*crashfs.FS)
	j, _ := written(t, fsys, 300, -200, -40)
	var err error
	for _, tail := range []string{"", `{"crc":"0000`, "\x00\x00"} {
		if err = j.Close(); err != nil {
			t.Fatal(err)
		}
		base.Put(path, append(base.AppendBytes(nil, path), tail...))
		if j, _, _, err = journalfile.Open(fsys, path, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if _, err = j.Append(body(journal.KindStep, 9, 30), false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = j.Compact(func(string) {}); err != nil {
		t.Fatal(err)
	}
	if _, err = j.Append(body(journal.KindStep, 10, 30), false); err != nil {
		t.Fatal(err)
	}
	if err = j.Close(); err != nil {
		t.Fatal(err)
	}
	b := base.AppendBytes(nil, path)
	b[len(b)-20] ^= 1
	base.Put(path, b)
	if rep, err := journalfile.Repair(fsys, path, journalfile.Identity{}, false, func(string) {}); err != nil || !rep.Needed {
		t.Fatalf("%+v, %v", rep, err)
	}
	if len(fsys.untidy) > 0 {
		t.Errorf("closed with unsynced bytes: %s", strings.Join(fsys.untidy, ", "))
	}
}
