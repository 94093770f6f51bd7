package journalfile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is one line of the code changed for the worse, and the test that is to fail
// then.
type mutant struct {
	file, from, to string // file and text, in the module
	pkg, test      string
}

// quickMutants are such that make test runs too. By rule: 8, a claim that is too high; 9, no
// padding; 3, poison forgotten; 6, a compaction's file not flushed; 5, the cut not flushed; 12, 14,
// fill not skipped; 17, the file not compared with its path, nor its end read back, nor any of that behind the flush; and a repair that drops a record.
var quickMutants = []mutant{
	{"internal/journalfile/file.go", "j.crc, j.seq+1, known, body, j.end)", "j.crc, j.seq+1, j.seq, body, j.end)", "internal/journalfile", crash},
	{"internal/journalfile/file.go", "(end-1)%sector == 0", "false", "journal", "TestDamage"},
	{"internal/journalfile/file.go", "if j.err == nil {\n\t\tj.err = fmt", "if false {\n\t\tj.err = fmt", "internal/journalfile", "TestPoison"},
	{"internal/journalfile/rewrite.go", "return w.f.Sync()", "return nil", "internal/journalfile", compacting},
	{"internal/journalfile/open.go", "return rec, j.f.Sync()", "return rec, nil", "internal/journalfile", crash},
	{"internal/journalfile/repair.go", "return w.add(r.Moved())", "if r.Seq == 7 {\n\t\t\treturn nil\n\t\t}\n\t\treturn w.add(r.Moved())", "internal/journalfile", "TestRepairKeepsWhatIsWhole"},
	{"journal/scan.go", "s.pos += newlines(s.buf[s.pos:])", "s.pos += newlines(s.buf[s.pos:s.pos])", "journal", "TestCrashImages"},
	{"internal/journalfile/file.go", "if err := j.checkIdentity(); err != nil {\n\t\treturn journal.Span{}, err\n\t}", "", "internal/journalfile", replaced},
	{"internal/journalfile/look.go", "return j.readBack()", "return nil", "internal/journalfile", replaced},
	{"internal/journalfile/file.go", "if err := j.lookAgain(); err != nil {", "if err := j.lookAgain(); err != nil && false {", "internal/journalfile", flushing},
	{"internal/vfs/retry.go", "if errors.Is(err, syscall.ESTALE) {", "if errors.Is(err, syscall.ESTALE) && false {", "internal/journalfile", "TestStaleWhileOpening"},
}

// mutants are bugs in the logic, where [plants] are such in the calls. There are minutes of
// them; the best known are in [quickMutants].
var mutants = []mutant{
	{"internal/journalfile/file.go", "j.durable = max(j.durable, upTo)", "j.durable = max(j.durable, upTo+1)", "internal/journalfile", crash},
	{"internal/journalfile/file.go", "upTo, err := j.seq, j.err", "upTo, err := j.seq+8, j.err", "internal/journalfile", crash},
	{"internal/journalfile/look.go", "if errors.Is(err, ErrReplaced) {\n\t\tj.err = err", "if false {\n\t\tj.err = err", "internal/journalfile", replaced},
	{"internal/journalfile/file.go", "if err := j.undo(err); errors.Is(err, ErrInDoubt) {\n\t\t\treturn err\n\t\t}", "", "internal/journalfile", faulty},
	{"internal/journalfile/create.go", "return SyncDir(j.fs, dirOf(j.path), warn)", "return nil", "internal/journalfile", crash},
	{"internal/journalfile/open.go", "if changed {", "if changed && false {", "internal/journalfile", faulty},
	{"internal/journalfile/open.go", "pending[0].seq <= r.Dur", "pending[0].seq <= r.Seq", "internal/journalfile", faulty},
	{"internal/journalfile/open.go", "off &^ (folioMax - 1)", "off &^ (64<<10 - 1)", "internal/journalfile", folios},
	{"internal/journalfile/open.go", "s.records == 1 ||", "", "internal/journalfile", crash},
	{"internal/journalfile/open.go", "|| s.fold.Header.Incarnation > 1", "", "internal/journalfile", compacting},
	{"internal/journalfile/open.go", "s.size%sector == 0)", "true)", "internal/journalfile", crash},
	{"internal/journalfile/aside.go", "return name, SyncDir(j.fs, dirOf(j.path), warn)\n\t\t}", "return name, nil\n\t\t}", "internal/journalfile", crash},
	{"internal/journalfile/open.go", "j.size++\n", "", "internal/journalfile", crash},
	{"journal/judge.go", "h.Dur <= s.lastSeq", "true", "journal", "TestDamage"},
	{"journal/judge.go", "len(line.Prefix) - 1", "0", "journal", "TestClaimAcrossWindows"},
	{"journal/judge.go", "q == y || ", "", "journal", "TestVectors"},
	{"journal/scan.go", "case inc == 0:", "case false:", "journal", "TestVectors"},
	{"journal/scan.go", "case r.Kind != KindRun || format == 0:", "case format == 0:", "journal", "TestVectors"},
	{"journal/scan.go", "len(raw) > 15 || ", "", "journal", "TestVectors"},
	{"internal/line/line.go", "bytes.IndexByte(text, '\\n') < 0 && ", "", "journal", "TestVectors"},
	{"journal/fold.go", "if f.Status == InProgress || f.Status == Cancelled {", "if f.Status != Complete {", "journal", "TestCompactMeansTheSame"},
	{"journal/judge.go", "h.Dur <= s.lastSeq", "false", "journal", "TestCrashImages"},
	{"journal/judge.go", "strings.IndexByte(some, b[0]) >= 0", "strings.IndexByte(some, b[0]) >= 9", "journal", "TestCrashImages"},
	{"journal/judge.go", "start > x", "start >= x", "journal", "TestDamage"},
	{"journal/judge.go", "len(rest) < 2", "len(rest) < 1", "journal", "TestDamage"},
	{"journal/judge.go", "&& line.Unclosed(text)", "", "journal", "TestDamage"},
	{"journal/scan.go", "!bad || !s.readAgain()", "!bad || true", "journal", "TestReadBesideAnOwner"},
	{"journal/scan.go", "return false, false // not empty: unreadable", "", "journal", "TestUnreadableIsNotDamaged"},
	{"journal/scan.go", "case h.Prev != s.lastCRC:", "case false:", "journal", "TestDamage"},
	{"journal/scan.go", "case h.Seq != s.lastSeq+1:", "case false:", "journal", "TestDamage"},
	{"internal/line/line.go", "Checksum(text[covered:]) == h.CRC", "true", "journal", "TestCrashImages"},
	{"internal/dirstore/dirstore.go", "err = journalfile.SyncDir(fsys, path, d.warn)", "_ = journalfile.SyncDir", "internal/dirstore", "TestCrashWhileMakingAStore"},
	{"internal/dirstore/create.go", "if d.readMarker() == nil {", "if false {", "internal/dirstore", "TestOpenWhileAnotherMakesIt"},
	{"internal/dirstore/create.go", "err := d.FS.Link(temp, name)", "err := d.FS.Rename(temp, name)", "internal/dirstore", "TestOpenWhileAnotherMakesIt"},
	{"internal/dirstore/create.go", "errors.Join(err, f.Sync(), f.Close())", "errors.Join(err, f.Close())", "internal/dirstore", "TestCrashWhileMakingAStore"},
	{"internal/vfs/retry.go", "!interrupted(err)", "true", "internal/vfs", "TestSyncRetriesEINTR"},
}

// TestMutants compiles the code with one bug at a time and runs the test that is to
// find it. All of them take a quarter of an hour, so that is for PAWL_LONG; else a few have their
// turn, without the race detector.
func TestMutants(t *testing.T) {
	all := slices.Concat(mutants, lateMutants)
	if scale() < 1 {
		t.Skip("without the race detector only")
	}
	if scale() == 1 {
		all = someMutants(t, all, 4)
	}
	runMutants(t, all)
}

// TestMutantsFit: each piece of code to be changed is there, once, so that nobody finds out in
// a long test that the code has moved on.
func TestMutantsFit(t *testing.T) {
	for _, m := range slices.Concat(mutants, quickMutants, lateMutants) {
		text, err := os.ReadFile(filepath.Join("../..", m.file))
		if n := strings.Count(string(text), m.from); err != nil || n != 1 {
			t.Errorf("%s: %q is there %d times (%v): change this table with the code", m.file, m.from, n, err)
		}
	}
}

// TestQuickMutants does that with a few of them, without the race detector.
func TestQuickMutants(t *testing.T) {
	if scale() < 1 {
		t.Skip("without the race detector only")
	}
	runMutants(t, quickMutants)
}

func runMutants(t *testing.T, mutants []mutant) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	for i, m := range mutants {
		file := filepath.Join(root, m.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), m.from); n != 1 {
			t.Errorf("%s: %q is there %d times: change this table with the code", m.file, m.from, n)
			continue
		}
		changed := filepath.Join(tmp, fmt.Sprint(i, ".go"))
		overlay := filepath.Join(tmp, fmt.Sprint(i, ".json"))
		list, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]string{changed: strings.Replace(string(text), m.from, m.to, 1), overlay: string(list)} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", "^"+m.test+"$", "./"+m.pkg)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PAWL_LONG=")
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			t.Errorf("%s does not find %q in the place of %q in %s", m.test, m.to, m.from, m.file)
		case !strings.Contains(string(out), "--- FAIL: "+m.test):
			t.Errorf("%q in the place of %q in %s does not compile:\n%s", m.to, m.from, m.file, out)
		default:
			t.Logf("%s finds %q in the place of %q in %s", m.test, m.to, m.from, m.file)
		}
	}
}
