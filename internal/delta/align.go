package delta

import (
	"bytes"
	"hash/maphash"
	"sort"
)

// maxAlign is the most elements of a gap that are hashed. In a larger gap each
// element is taken for the one that stood in its place: when all of a large array
// of small values changes, more would only make it slower to find out that a
// patch is no gain. Members have names, and are hashed however many they are.
const maxAlign = 1 << 16

var seed = maphash.MakeSeed()

// align matches items in the gaps that guess left.
func (r *rest) align() {
	i, j := 0, 0
	for n, m := range r.match {
		if m != none {
			r.gap(i, int(m), j, n)
			i, j = int(m)+1, n+1
		}
	}
	r.gap(i, r.old.len(), j, r.new.len())
}

// gap matches the old items from i to iEnd with the new ones from j to jEnd, of
// which none is matched.
func (r *rest) gap(i, iEnd, j, jEnd int) {
	for i < iEnd && j < jEnd && bytes.Equal(r.old.key(iEnd-1), r.new.key(jEnd-1)) {
		iEnd, jEnd = iEnd-1, jEnd-1
		r.match[jEnd] = uint32(iEnd)
	}
	n, m := iEnd-i, jEnd-j
	if n == 0 || m == 0 || n == 1 && m == 1 || !r.old.object && max(n, m) > maxAlign {
		return
	}
	keep(r.counterparts(i, iEnd, j, jEnd), r.match[j:jEnd])
}

// counterparts returns for each of the new items the old one with the same key,
// or none. The nth of several with one key gets the nth.
func (r *rest) counterparts(i, iEnd, j, jEnd int) []uint32 {
	first := make(map[uint64]uint32, iEnd-i) // by hash of the key
	after := make([]uint32, iEnd-i)          // the next one with the same hash
	for o := iEnd - 1; o >= i; o-- {
		h := maphash.Bytes(seed, r.old.key(o))
		n, ok := first[h]
		if !ok {
			n = none
		}
		first[h], after[o-i] = uint32(o), n
	}
	c := make([]uint32, jEnd-j)
	for n := range c {
		key := r.new.key(j + n)
		h := maphash.Bytes(seed, key)
		o, ok := first[h]
		if c[n] = none; ok && o != none && bytes.Equal(r.old.key(int(o)), key) {
			c[n], first[h] = o, after[int(o)-i]
		}
	}
	return c
}

// keep writes into match the most of the counterparts that ascend: the rest have
// changed places, and are removed and added. (Patience sorting.)
func keep(c, match []uint32) {
	// best[n] is the position of the lowest counterpart that ends a row of n+1
	// that ascend, before[j] the position in front of j in the row it ends.
	var best []int
	before := make([]int, len(c))
	for j, o := range c {
		if o == none {
			continue
		}
		n := sort.Search(len(best), func(n int) bool { return c[best[n]] >= o })
		before[j] = -1
		if n > 0 {
			before[j] = best[n-1]
		}
		if n == len(best) {
			best = append(best, j)
		} else {
			best[n] = j
		}
	}
	if len(best) == 0 {
		return
	}
	for j := best[len(best)-1]; j >= 0; j = before[j] {
		match[j] = c[j]
	}
}
