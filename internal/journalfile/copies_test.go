package journalfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/journalfile"
	"github.com/pawlgo/pawl/internal/vfs"
	"github.com/pawlgo/pawl/journal"
)

// moment is a journal at one time of its life.
type moment struct {
	text  []byte
	acked int
}

// moments are those behind every write, truncation and flush of a journal that is appended
// to and not compacted; and the lines of its last moment.
func moments(t *testing.T) (all []moment, lines [][]byte) {
	base := emptyDir(t)
	acked := 1
	base.After = func(op crashfs.Op) {
		if op.Path == path && (op.Kind == crashfs.Write || op.Kind == crashfs.Truncate || op.Kind == crashfs.Sync) {
			if b := base.AppendBytes(nil, path); len(b) > 0 {
				all = append(all, moment{b, acked})
			}
		}
	}
	j, _ := written(t, base, 100)
	acked = 2
	for n := 3; n < 40; n++ {
		durable := n%4 != 1
		if _, err := j.Append(body(journal.KindStep, n, n*n*13%900), durable); err != nil {
			t.Fatal(err)
		}
		if durable {
			acked = n
		}
		if n == 20 { // the fill goes and comes again
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			if j, _, _, err = journalfile.Open(base, path, func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for text := range bytes.SplitSeq(base.AppendBytes(nil, path), []byte("\n")) {
		if len(text) > 0 {
			lines = append(lines, text)
		}
	}
	return all, lines
}

// checkCopy opens a copy of a journal that was taken while its owner worked. It may be
// refused as damaged; else it holds at least what was acknowledged when the copy began, and
// in order nothing but what was written.
func checkCopy(img *crashfs.FS, acked int, lines [][]byte) (refused bool, err error) {
	_, fold, _, err := journalfile.Open(img, path, func(string) {})
	if errors.Is(err, journal.ErrCorrupt) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	got := bytes.Split(bytes.TrimRight(img.AppendBytes(nil, path), "\n"), []byte("\n"))
	if len(got) < acked || int64(len(got)) != fold.LastSeq || len(got) > len(lines) {
		return false, fmt.Errorf("invariant 13: %d records, %d were acknowledged when the copy began, %d are there", len(got), acked, len(lines))
	}
	for i, text := range got {
		if !bytes.Equal(text, lines[i]) {
			return false, fmt.Errorf("invariant 13: record %d is not what was written: %.80q", i+1, text)
		}
	}
	return false, nil
}

// TestCopyTakenLive: invariant 13. A copy reads a journal from front to end, piece by piece,
// while the owner goes on: each piece is of a later moment. Such a copy opens, with all that
// was acknowledged when it was begun, or is called damaged.
func TestCopyTakenLive(t *testing.T) {
	all, lines := moments(t)
	copies, refused := 0, 0
	check := func(text []byte, acked int, where string) {
		copies++
		no, err := checkCopy(put(t, text), acked, lines)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		if no {
			refused++
		}
	}
	// Two pieces, cut at many bytes from the last records of the first on; as long as the file was first
	// or last.
	every := 1
	if scale() < 1 {
		every = 17
	}
	for i := 0; i < len(all); i += every {
		for k := i; k < len(all) && !t.Failed(); k += 1 + k%9 {
			a, b := all[i].text, all[k].text
			end := min(len(bytes.TrimRight(b, "\n"))+600, len(a), len(b))
			begin := max(0, len(bytes.TrimRight(a, "\n"))-1200) // before that they are equal
			for cut := begin; cut < end; cut += 512 + 37*(i%2) {
				text := append(bytes.Clone(a[:cut]), b[cut:]...)
				check(text, all[i].acked, fmt.Sprintf("moments %d and %d, border at %d", i, k, cut))
				check(text[:min(len(text), len(a))], all[i].acked, fmt.Sprintf("moments %d and %d, border at %d, of the first's length", i, k, cut))
			}
		}
	}
	// Many pieces, of random moments.
	r := rand.New(rand.NewPCG(seed(t), 13))
	for n := range 2000 / every {
		k := r.IntN(len(all))
		first, size := k, len(all[k].text)
		var text []byte
		for len(text) < size && len(all[k].text) >= size {
			piece := min(64+r.IntN(4096), size-len(text))
			text = append(text, all[k].text[len(text):len(text)+piece]...)
			k = min(k+r.IntN(4), len(all)-1)
		}
		check(text[:min(len(text), size)], all[first].acked, fmt.Sprintf("random copy %d from moment %d on", n, first))
	}
	t.Logf("%d copies, %d of them called damaged", copies, refused)
	if refused == 0 || refused == copies {
		t.Error("not both were seen")
	}
}

// TestCopyTakenLiveOnDisk: invariant 13, with real files, real reads, and an owner in
// another goroutine that compacts now and then: what opens holds what was acknowledged when
// the copy began, or, behind a compaction, what that kept of it.
func TestCopyTakenLiveOnDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	j, err := journalfile.Create(vfs.OS, name, body(journal.KindRun, 1, 100), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var acked atomic.Int64
	acked.Store(1)
	done := make(chan error)
	stop := make(chan struct{})
	go func() {
		var err error
		for n := 2; err == nil; n++ {
			select {
			case <-stop:
				done <- j.Close()
				return
			default:
			}
			var span journal.Span
			if span, err = j.Append(body(journal.KindStep, n%20, n*37%1500), true); err == nil {
				acked.Store(span.Seq)
			}
			if n%50 == 0 && err == nil {
				_, err = j.Compact(func(string) {})
				acked.Store(j.Seq())
			}
		}
		done <- err
	}()
	copied := filepath.Join(filepath.Dir(name), "copy.jsonl")
	refused := 0
	copies := 200
	if scale() < 1 {
		copies = 60
	}
	for n := range copies {
		floor := acked.Load()
		if err := slowCopy(name, copied, 512<<(n%6)); err != nil {
			t.Fatal(err)
		}
		c, fold, _, err := journalfile.Open(vfs.OS, copied, func(string) {})
		switch {
		case errors.Is(err, journal.ErrCorrupt):
			refused++
		case err != nil:
			t.Errorf("copy %d: %v", n, err)
		default:
			if fold.LastSeq < floor {
				t.Errorf("invariant 13: copy %d ends at record %d, and %d was acknowledged when it began", n, fold.LastSeq, floor)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		os.Remove(copied) //nolint:errcheck // made anew
	}
	close(stop)
	if err := <-done; err != nil {
		t.Errorf("the owner was disturbed: %v", err)
	}
	t.Logf("%d copies while %d records were written, %d called damaged", copies, acked.Load(), refused)
}

// slowCopy copies a file in small pieces.
func slowCopy(from, to string, piece int) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, piece))
	return errors.Join(err, dst.Close())
}
