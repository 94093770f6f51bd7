package delta

import (
	"math/rand"
	"slices"
	"testing"
)

// TestKeep compares keep with the longest row that ascends, found by trying.
func TestKeep(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 20_000 {
		c := make([]uint32, r.Intn(10))
		for i, o := range r.Perm(len(c)) {
			if c[i] = uint32(o); r.Intn(4) == 0 {
				c[i] = none
			}
		}
		longest := make([]int, len(c))
		want, got, last := 0, 0, -1
		for j := range c {
			for i := range j {
				if c[i] < c[j] && c[j] != none {
					longest[j] = max(longest[j], longest[i])
				}
			}
			if c[j] != none {
				longest[j]++
				want = max(want, longest[j])
			}
		}
		match := slices.Repeat([]uint32{none}, len(c))
		keep(c, match)
		for j, m := range match {
			if m == none {
				continue
			}
			if m != c[j] || int(m) <= last {
				t.Fatalf("counterparts %d, kept %d", c, match)
			}
			got, last = got+1, int(m)
		}
		if got != want {
			t.Fatalf("counterparts %d, kept %d, want %d of them", c, match, want)
		}
	}
}
