package crashfs

import "math/rand/v2"

// variant is one content that a file may have after a power cut.
type variant struct {
	c content
	Variant
}

// variants are what a power cut may leave of a file now. They are kept, since most are
// asked for twice: behind one operation and before the next.
type variants struct {
	all    []variant
	limits Limits
	newest content // everything pending reached the device
}

func (n *inode) lastSize() int64 {
	if len(n.sizes) == 0 {
		return n.dev.size
	}
	return n.sizes[len(n.sizes)-1].size
}

// compose makes the content of a size whose dirty sectors are what pick chooses.
func (b *builder) compose(size int64, pick func(i int, vs []version) *sector) content {
	c := b.n.dev.share()
	c.resize(size)
	for _, d := range b.dirty {
		if d.at < len(c.sec) {
			c.set(d.at, pick(d.at, d.vs))
		}
	}
	c.trim()
	return c
}

// old is what the device has of sector i.
func (n *inode) old(i int) *sector {
	if i < len(n.dev.sec) {
		return n.dev.sec[i]
	}
	return nil
}

func newestOf(vs []version) *sector { return vs[len(vs)-1].s }

// versionAt returns the sector as it was behind operation op.
func (n *inode) versionAt(i int, vs []version, op int) *sector {
	s := n.old(i)
	for _, v := range vs {
		if v.op <= op {
			s = v.s
		}
	}
	return s
}

// variants lists what a power cut may leave of the file.
func (n *inode) variants(l Limits) *variants {
	if n.made != nil && n.made.limits == l {
		return n.made
	}
	b := builder{n: n, l: l, dirty: n.dirtySectors(), size: n.lastSize()}
	b.whole()
	b.perOperation()
	b.prefixes()
	b.missing()
	if !l.Plain {
		b.inside()
	}
	b.random()
	newest := b.compose(b.size, func(_ int, vs []version) *sector { return newestOf(vs) })
	n.made = &variants{b.out, l, newest}
	return n.made
}

type builder struct {
	n     *inode
	l     Limits
	dirty []dirtySector
	size  int64 // final size
	out   []variant
}

func (b *builder) add(what string, at, off int, size int64, pick func(i int, vs []version) *sector) *variant {
	b.out = append(b.out, variant{b.compose(size, pick), Variant{What: what, At: at, Off: off}})
	return &b.out[len(b.out)-1]
}

// whole: nothing, everything, only the size, only the data.
func (b *builder) whole() {
	n := b.n
	newest := func(_ int, vs []version) *sector { return newestOf(vs) }
	old := func(i int, _ []version) *sector { return n.old(i) }
	b.add("nothing", 0, 0, n.dev.size, old)
	b.add("all", 0, 0, b.size, newest)
	b.add("size only", 0, 0, b.size, old)
	b.add("data without size", 0, 0, n.dev.size, newest)
}

// perOperation: as it was behind each operation, and as if one had not been.
func (b *builder) perOperation() {
	n := b.n
	for op := 1; op < n.op; op++ {
		size := n.dev.size
		for _, s := range n.sizes {
			if s.op <= op {
				size = s.size
			}
		}
		b.add("up to an operation", op, 0, size, func(i int, vs []version) *sector { return n.versionAt(i, vs, op) })
		b.add("up to an operation, size final", op, 0, b.size, func(i int, vs []version) *sector { return n.versionAt(i, vs, op) })
	}
	for op := 1; n.op > 1 && op <= n.op; op++ {
		b.add("without an operation", op, 0, b.size, func(i int, vs []version) *sector {
			if last := vs[len(vs)-1]; last.op == op {
				return n.versionAt(i, vs, op-1)
			}
			return newestOf(vs)
		})
	}
}

// prefixes: the first k dirty sectors are written and the rest is short, old (NUL
// where the file grew) or garbage.
func (b *builder) prefixes() {
	n := b.n
	for _, k := range b.chosen() {
		if k == 0 {
			continue
		}
		at := b.dirty[k].at
		before := func(i int, vs []version) *sector {
			if i < at {
				return newestOf(vs)
			}
			return n.old(i)
		}
		b.add("sectors before", at, 0, b.size, before)
		if end := int64(at) * Sector; end > n.dev.size && end < b.size {
			b.add("sectors before, then short", at, 0, end, before)
		}
		if !b.l.Plain {
			b.add("sectors before, then garbage", at, 0, b.size, func(i int, vs []version) *sector {
				if i < at {
					return newestOf(vs)
				}
				return garbage(vs, 0)
			}).Garbage = true
		}
	}
}

// missing: of few dirty sectors every subset, of many each single one; and where a
// sector has several versions, each of them.
func (b *builder) missing() {
	n := b.n
	if len(b.dirty) <= allSubsets {
		for name, in := range subsets(len(b.dirty)) {
			index := map[int]int{}
			for k, d := range b.dirty {
				index[d.at] = k
			}
			b.add("sectors of "+name, 0, 0, b.size, func(i int, vs []version) *sector {
				if in(index[i]) {
					return newestOf(vs)
				}
				return n.old(i)
			})
		}
	}
	for _, k := range b.chosen() {
		at := b.dirty[k].at
		for v := range b.dirty[k].vs {
			b.add("a sector late", at, v, b.size, func(i int, vs []version) *sector {
				switch {
				case i != at:
					return newestOf(vs)
				case v == 0:
					return n.old(i)
				default:
					return vs[v-1].s
				}
			})
		}
	}
}

// random: any version of any sector, and any size on the way.
func (b *builder) random() {
	n := b.n
	if len(b.dirty) < 2 {
		return
	}
	r := rand.New(rand.NewPCG(b.l.Seed, uint64(n.op)<<32|uint64(b.size)))
	for k := range b.l.Random {
		size := b.size
		if pick := r.IntN(2 * (len(n.sizes) + 1)); pick < len(n.sizes) {
			size = n.sizes[pick].size
		}
		picks := map[int]*sector{}
		for _, d := range b.dirty {
			if pick := r.IntN(len(d.vs) + 1); pick < len(d.vs) {
				picks[d.at] = d.vs[pick].s
			} else {
				picks[d.at] = n.old(d.at)
			}
		}
		b.add("random", k, 0, size, func(i int, _ []version) *sector { return picks[i] })
	}
}

// chosen returns indexes of dirty sectors to vary one by one: all of them within
// the limit, else first those that hold more than fill, evenly spread.
func (b *builder) chosen() []int {
	limit := b.l.Sectors
	if limit <= 0 || len(b.dirty) <= limit {
		return spread(len(b.dirty), len(b.dirty))
	}
	var busy, rest []int
	for k, d := range b.dirty {
		if len(d.vs) > 1 || newestOf(d.vs) != fill {
			busy = append(busy, k)
		} else {
			rest = append(rest, k)
		}
	}
	var out []int
	for _, j := range spread(len(busy), limit*2/3+1) {
		out = append(out, busy[j])
	}
	for _, j := range spread(len(rest), limit-len(out)) {
		out = append(out, rest[j])
	}
	return out
}

// spread returns k of the numbers below n, the first and the last among them.
func spread(n, k int) []int {
	k = min(n, k)
	out := make([]int, 0, max(k, 0))
	for j := range k {
		if k == 1 {
			out = append(out, 0)
		} else {
			out = append(out, j*(n-1)/(k-1))
		}
	}
	return out
}
