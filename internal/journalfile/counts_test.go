package journalfile_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pawlgo/pawl/internal/crashfs"
)

// counts are what explorers counted, summed. An image counts once, whichever stories
// it comes up in.
//
// Images are told apart by hashes of 64 bits. That any two of ten million different
// ones have the same has a chance of 3 in a million; then one is not counted, or not
// opened.
type counts struct {
	points, distinct map[crashfs.Kind]int
	refused          map[string]int
	opened           int
	before           []uint64 // hashes counted elsewhere, sorted
	hashes           map[uint64]bool
}

func newCounts() *counts {
	return &counts{
		points: map[crashfs.Kind]int{}, distinct: map[crashfs.Kind]int{}, refused: map[string]int{}, hashes: map[uint64]bool{},
	}
}

func (c *counts) images() int { return len(c.hashes) }

func (c *counts) add(x *explorer) {
	for k, n := range x.points {
		c.points[k] += n
	}
	for h, s := range x.seen {
		if _, known := slices.BinarySearch(c.before, h); !known && !c.hashes[h] {
			c.hashes[h] = true
			c.distinct[s.by]++
		}
	}
	for why, n := range x.refused {
		c.refused[why] += n
	}
	c.opened += x.checked
}

// String is a table of the counts per operation.
func (c *counts) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(c.points)) {
		fmt.Fprintf(&b, "%-9v %7d crash points %9d distinct images\n", k, c.points[k], c.distinct[k])
	}
	fmt.Fprintf(&b, "%d distinct images, opened %d times; refused: %v", c.images(), c.opened, c.refused)
	return b.String()
}

// line is the same on one line.
func (c *counts) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d distinct images", c.images())
	for _, k := range slices.Sorted(maps.Keys(c.distinct)) {
		fmt.Fprintf(&b, ", %v %d", k, c.distinct[k])
	}
	return b.String()
}

// save writes the hashes to a file.
func (c *counts) save(name string) error {
	b := make([]byte, 0, 8*len(c.hashes))
	for h := range c.hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return os.WriteFile(name, b, 0o600)
}

// exclude adds the hashes in a file to those that do not count here.
func (c *counts) exclude(name string) error {
	b, err := os.ReadFile(name)
	for ; len(b) >= 8; b = b[8:] {
		c.before = append(c.before, binary.LittleEndian.Uint64(b))
	}
	slices.Sort(c.before)
	return err
}
