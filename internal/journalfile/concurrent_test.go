package journalfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// counting counts the flushes of files.
type counting struct {
	vfs.FS
	syncs atomic.Int64
}

type countingFile struct {
	vfs.File
	fs *counting
}

func (c *counting) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return countingFile{f, c}, err
}

func (f countingFile) Sync() error {
	f.fs.syncs.Add(1)
	return f.File.Sync()
}

// TestGroupCommit: records of many callers share flushes, on a real file; every one of
// them is there afterwards, under the number that its caller was told.
func TestGroupCommit(t *testing.T) {
	fsys := &counting{FS: vfs.OS}
	name := filepath.Join(t.TempDir(), "r.jsonl")
	j, err := journalfile.Create(fsys, name, body(journal.KindRun, 1, 10), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	const callers, each = 32, 20
	keys := make([]string, callers*each+2)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				n := c*each + i + 2
				span, err := j.Append(body(journal.KindStep, n, n%300), true)
				if err != nil {
					t.Error(err)
					return
				}
				keys[span.Seq] = fmt.Sprintf("step/%d", n)
				if d := j.Durable(); d < span.Seq {
					t.Errorf("record %d is acknowledged and %d are durable", span.Seq, d)
				}
				if r, err := j.Record(span); err != nil || r.Key != keys[span.Seq] {
					t.Errorf("record %d is %v, %v", span.Seq, r, err)
				}
			}
		})
	}
	wg.Wait()
	syncs := fsys.syncs.Load()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	tail, err := journal.Each(name, func(r *journal.Record) error {
		n++
		if r.Key != keys[r.Seq] {
			t.Errorf("record %d is %q, not %q", r.Seq, r.Key, keys[r.Seq])
		}
		return nil
	})
	if err != nil || tail.Torn > 0 || n != callers*each+1 {
		t.Errorf("%d records, %+v, %v", n, tail, err)
	}
	if syncs > callers*each*3/4 {
		t.Errorf("%d flushes for %d records of %d callers", syncs, callers*each, callers)
	}
	t.Logf("%d flushes for %d records", syncs, callers*each)
}

// TestGroupCommitCrash cuts the power at every operation of a group of callers. When
// the image is taken the callers that had their answer are known: their records, and
// so all before them, must be there (invariants 1, 2, rule 1).
func TestGroupCommitCrash(t *testing.T) {
	for round := range 8 {
		if scale() < 1 && round%3 != 1 {
			continue
		}
		base := crashfs.New()
		m := &model{}
		base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		base.SyncDir("/")      //nolint:errcheck // as above
		j, err := m.create(base, body(journal.KindRun, 1, 10))
		if err != nil {
			t.Fatal(err)
		}
		var acked atomic.Int64
		acked.Store(1)
		var mu sync.Mutex
		type image struct {
			fs    *crashfs.FS
			floor int64
		}
		var taken []image
		base.After = func(op crashfs.Op) {
			if op.Kind == crashfs.Write || op.Kind == crashfs.Sync {
				floor := acked.Load()
				copied := base.Clone()
				mu.Lock()
				taken = append(taken, image{copied, floor})
				mu.Unlock()
			}
		}
		if round >= 4 { // and a flush fails on the way
			base.Fault = crashfs.Nth(crashfs.Sync, 3+round, 1, crashfs.Fault{Err: errnos[0], Reached: round % 3})
		}
		var wg sync.WaitGroup
		var failed atomic.Int64
		for c := range 6 {
			wg.Go(func() {
				for i := range 6 {
					span, err := j.Append(body(journal.KindStep, 10*c+i+2, 40*c), i%3 > 0)
					switch {
					case errors.Is(err, journalfile.ErrInDoubt):
						failed.Add(1)
						return
					case err != nil:
						t.Error(err)
						return
					case i%3 > 0:
						for old := acked.Load(); span.Seq > old && !acked.CompareAndSwap(old, span.Seq); {
							old = acked.Load()
						}
					}
				}
			})
		}
		wg.Wait()
		if round >= 4 && failed.Load() == 0 {
			t.Error("no caller was told that the flush failed")
		}
		whole := lines(base)
		for _, img := range taken {
			for left, v := range img.fs.Images(crashfs.Limits{Sectors: 3, Plain: true}) {
				_, fold, _, err := journalfile.Open(left, path, func(string) {})
				if err != nil {
					t.Fatalf("round %d (%v): %v", round, v, err)
				}
				got := lines(left)
				if fold.LastSeq < img.floor || fold.LastSeq != int64(len(got)) {
					t.Fatalf("round %d (%v): invariant 1: %d records, and %d were acknowledged", round, v, fold.LastSeq, img.floor)
				}
				for i := range got {
					if got[i] != whole[i] {
						t.Fatalf("round %d (%v): invariant 3: record %d is %s", round, v, i+1, got[i])
					}
				}
			}
		}
	}
}

// lines are the lines of the journal.
func lines(base *crashfs.FS) []string {
	return strings.Split(strings.TrimRight(string(base.AppendBytes(nil, path)), "\n"), "\n")
}

// TestCloseWhileAppending: who appends while the journal is closed is told, or has
// its record there.
func TestCloseWhileAppending(t *testing.T) {
	for range 50 {
		base := crashfs.New()
		m := &model{}
		base.Mkdir(dir, 0o700) //nolint:errcheck // an empty file system
		base.SyncDir("/")      //nolint:errcheck // as above
		j, err := m.create(base, body(journal.KindRun, 1, 10))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var acked atomic.Int64
		for c := range 4 {
			wg.Go(func() {
				for i := range 5 {
					span, err := j.Append(body(journal.KindStep, 10*c+i+2, 10), true)
					if errors.Is(err, journalfile.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					for old := acked.Load(); span.Seq > old && !acked.CompareAndSwap(old, span.Seq); {
						old = acked.Load()
					}
				}
			})
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := j.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
		for left, v := range base.Images(crashfs.Limits{Sectors: 3, Plain: true}) {
			_, fold, _, err := journalfile.Open(left, path, func(string) {})
			if err != nil || fold.LastSeq < acked.Load() {
				t.Fatalf("%v: %d records, and %d were acknowledged, %v", v, fold.LastSeq, acked.Load(), err)
			}
		}
	}
}
