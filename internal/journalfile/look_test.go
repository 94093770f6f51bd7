package journalfile_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/journal"
)

// TestReplacedAfterOpening: rule 17. The look knows the end of a journal that was opened, with and
// without fill, or compacted, as it knows that of one that was written: nothing is taken
// for replaced that is not, and what is replaced in place is seen before the first append.
func TestReplacedAfterOpening(t *testing.T) {
	reopen := func(base *crashfs.FS, j *journalfile.File) (*journalfile.File, error) {
		err := j.Close()
		if err != nil {
			return nil, err
		}
		j, _, _, err = journalfile.Open(base, path, quiet)
		return j, err
	}
	for name, prepare := range map[string]func(base *crashfs.FS, j *journalfile.File) (*journalfile.File, error){
		"opened": reopen,
		"opened behind a kill": func(base *crashfs.FS, _ *journalfile.File) (*journalfile.File, error) {
			j, _, _, err := journalfile.Open(base, path, quiet)
			return j, err
		},
		"opened without its last newline": func(base *crashfs.FS, j *journalfile.File) (*journalfile.File, error) {
			if err := j.Close(); err != nil {
				return nil, err
			}
			if err := resize(base, int64(len(base.AppendBytes(nil, path)))-1); err != nil {
				return nil, err
			}
			j, _, _, err := journalfile.Open(base, path, quiet)
			return j, err
		},
		"compacted": func(_ *crashfs.FS, j *journalfile.File) (*journalfile.File, error) {
			_, err := j.Compact(quiet)
			return j, err
		},
	} {
		for _, c := range replacements {
			base, j := twoSteps(t)
			j, err := prepare(base, j)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := j.Check(); err != nil {
				t.Errorf("%s: replaced by nobody: %v", name, err)
			}
			if err := c.do(base, base.AppendBytes(nil, path)); err != nil {
				t.Fatal(err)
			}
			if err := checkStaysAway(base, j); err != nil {
				t.Errorf("%s, %s: %v", name, c.name, err)
			}
		}
	}
}

// replacedAt says what is done to a journal that another caller waits for, and when.
type replacedAt struct {
	kind   crashfs.Kind
	before bool
}

func (r replacedAt) String() string {
	if r.before {
		return "before the " + r.kind.String()
	}
	return "at the end of the " + r.kind.String()
}

// TestReplacedDuringTheFlush: rule 17. The journal is replaced behind the look before the write:
// just before that, while it is flushed, at the end of it. Nothing is acknowledged.
func TestReplacedDuringTheFlush(t *testing.T) {
	for _, at := range []replacedAt{{crashfs.Write, true}, {crashfs.Write, false}, {crashfs.Sync, true}, {crashfs.Sync, false}} {
		for _, c := range replacements {
			if at == (replacedAt{crashfs.Write, true}) && strings.Contains(c.name, "line") {
				continue // our write goes over the one, and the other is before what is read back then
			}
			base, j := twoSteps(t)
			var done atomic.Bool
			hook := func(op crashfs.Op) {
				if op.Kind == at.kind && done.CompareAndSwap(false, true) {
					if err := c.do(base, base.AppendBytes(nil, path)); err != nil {
						t.Error(err)
					}
				}
			}
			if at.before {
				base.Before = hook
			} else {
				base.After = hook
			}
			_, err := j.Append(body(journal.KindStep, 3, 100), true)
			if !errors.Is(err, journalfile.ErrReplaced) || !done.Load() {
				t.Errorf("%s %v: the save returned %v", c.name, at, err)
			}
			if d := j.Durable(); d != 2 {
				t.Errorf("%s %v: %d records are said to be durable", c.name, at, d)
			}
			if err := checkStaysAway(base, j); err != nil {
				t.Errorf("%s %v: %v", c.name, at, err)
			}
		}
	}
}

// TestDeletedDuringTheFlushOfMany: rule 17. Who waits for the flush of another caller is told too.
func TestDeletedDuringTheFlushOfMany(t *testing.T) {
	base, j := twoSteps(t)
	flushing, goOn := make(chan bool), make(chan bool)
	var blocked atomic.Bool
	base.Before = func(op crashfs.Op) {
		if op.Kind == crashfs.Sync && blocked.CompareAndSwap(false, true) {
			close(flushing)
			<-goOn
		}
	}
	const callers = 5
	done := make(chan error, callers)
	add := func(n int) {
		_, err := j.Append(body(journal.KindStep, n, 100), true)
		done <- err
	}
	go add(3)
	<-flushing
	var spans []journal.Span
	for n := range callers - 1 { // they are written, and then wait
		span, err := j.Append(body(journal.KindStep, n+4, 100), false)
		if err != nil {
			t.Fatal(err)
		}
		spans = append(spans, span)
		go func() { done <- j.Flush(span.Seq) }()
	}
	if err := base.Remove(path); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	for range callers {
		if err := <-done; !errors.Is(err, journalfile.ErrReplaced) {
			t.Errorf("a caller was told %v", err)
		}
	}
	if d := j.Durable(); d != 2 {
		t.Errorf("%d of %d records are said to be durable", d, spans[len(spans)-1].Seq)
	}
}

// TestLookFails: invariants 7 and 8. If the look before a write fails, nothing is written, and the
// handle goes on. If the one behind the flush fails, the record is in doubt: it is there,
// but perhaps at no path.
func TestLookFails(t *testing.T) {
	for _, kind := range []crashfs.Kind{crashfs.FileStat, crashfs.Stat, crashfs.Read} {
		base, j := twoSteps(t)
		for _, c := range []struct {
			nth  int
			want error
		}{{1, nil}, {2, journalfile.ErrInDoubt}} {
			before := base.Hash()
			base.Fault = crashfs.Nth(kind, base.Count(kind)+c.nth, 1, crashfs.Fault{Err: syscall.EIO})
			_, err := j.Append(body(journal.KindStep, 3, 100), true)
			what := fmt.Sprintf("look %d, %v fails", c.nth, kind)
			if !errors.Is(err, syscall.EIO) || errors.Is(err, journalfile.ErrReplaced) || errors.Is(err, journalfile.ErrInDoubt) != (c.want != nil) {
				t.Errorf("%s: %v", what, err)
			}
			if c.want == nil && base.Hash() != before {
				t.Errorf("%s: something was written", what)
			}
			if d := j.Durable(); c.nth == 2 && d != 3 {
				t.Errorf("%s: %d records are said to be durable", what, d)
			}
			_, err = j.Append(body(journal.KindStep, 3, 100), true)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: the next append: %v", what, err)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if _, fold, _, err := journalfile.Open(base, path, quiet); err != nil || fold.LastSeq != 4 {
			t.Errorf("%v fails: opened again: %v", kind, err)
		}
	}
}
