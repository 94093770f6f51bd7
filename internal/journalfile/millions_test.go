package journalfile_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
)

// The proof of ten million images is told in parts, so that make long, which goes on
// behind the last test that passed, does not begin it anew. Each part has stories of
// its own, and counts no image that one before it has counted.
const (
	parts     = 5
	partSize  = 2_000_000
	partPlots = 3_000 // ten times as many as it takes: then the stories are all alike
)

func TestCrashMillions1(t *testing.T) { crashMillions(t, 1) }
func TestCrashMillions2(t *testing.T) { crashMillions(t, 2) }
func TestCrashMillions3(t *testing.T) { crashMillions(t, 3) }
func TestCrashMillions4(t *testing.T) { crashMillions(t, 4) }
func TestCrashMillions5(t *testing.T) { crashMillions(t, 5) }

// crashMillions is [TestCrashEveryOperation] with stories drawn at random, and with more
// sectors, versions and cuts varied, until two million images are explored that the
// parts before did not have. PAWL_LONG_DIR is where these leave their hashes; without
// it a part stands alone.
func crashMillions(t *testing.T, part int) {
	if scale() <= 1 {
		t.Skip("only with PAWL_LONG=1")
	}
	total := newCounts()
	dir, start := os.Getenv("PAWL_LONG_DIR"), time.Now()
	said := start
	file := func(part int) string { return filepath.Join(dir, fmt.Sprintf("crash-%d.hashes", part)) }
	for before := 1; before < part && dir != ""; before++ {
		if err := total.exclude(file(before)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(seed(t), uint64(part)))
	sum := tellAll(t, drawn(r, func(k int) bool {
		if k == 0 || time.Since(said) > time.Minute {
			said = time.Now()
			progress("part %d, %v, %d stories: %s", part, time.Since(start).Round(time.Second), k, total.line())
		}
		return k < partPlots && total.images() < partSize
	}), total)
	t.Logf("%d records, %d recoveries that cut something off\n%v", sum.records, sum.torn, total)
	progress("part %d, %v, the end: %s; %d with the parts before", part, time.Since(start).Round(time.Second), total.line(), len(total.before)+total.images())
	if t.Failed() {
		return
	}
	if total.images() < partSize {
		t.Errorf("%d distinct images, fewer than %d", total.images(), partSize)
	}
	if dir == "" {
		return
	}
	if err := total.save(file(part)); err != nil {
		t.Fatal(err)
	}
	if all := len(total.before) + total.images(); part == parts && all < parts*partSize {
		t.Errorf("%d distinct images in all parts, fewer than %d", all, parts*partSize)
	}
}

// progress shows a line at once, which make long passes on.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "progress: "+format+"\n", args...)
}

// drawn draws plots at random as long as more says so.
func drawn(r *rand.Rand, more func(k int) bool) iter.Seq[plot] {
	return func(yield func(plot) bool) {
		for k := 0; more(k); k++ {
			p := plot{
				seed: r.Uint64(), records: 5 + r.IntN(30), stride: 1,
				noRoom: r.IntN(8) > 0, depth: max(0, r.IntN(6)-3), every: 64 + r.Uint64N(64), kills: 1 + r.IntN(8),
			}
			p.first = crashfs.Limits{Sectors: 8 + r.IntN(9), Random: 3 + r.IntN(6), Cuts: 1 + r.IntN(8), Seed: p.seed}
			p.second = crashfs.Limits{Sectors: 2 + r.IntN(3), Random: r.IntN(4), Cuts: r.IntN(2), Seed: p.seed, Plain: r.IntN(2) == 0}
			if r.IntN(50) == 0 {
				p.records, p.from, p.huge = 215, 120+r.IntN(80), !p.noRoom
			}
			if !yield(p) {
				return
			}
		}
	}
}
