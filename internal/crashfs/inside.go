package crashfs

import "math/rand/v2"

// inside: a sector is cut, with the rest of it short, old or garbage, and the other
// sectors behind it old or new.
func (b *builder) inside() {
	n := b.n
	r := rand.New(rand.NewPCG(b.l.Seed, uint64(b.size)))
	for _, k := range b.chosen() {
		at, vs := b.dirty[k].at, b.dirty[k].vs
		last := vs[len(vs)-1]
		lo, hi := last.lo, last.hi
		for _, v := range vs {
			lo, hi = min(lo, v.lo), max(hi, v.hi)
		}
		cuts := []int{lo + 1, lo + (hi-lo)/3, lo + (hi-lo)*2/3, hi - 2, hi - 1}
		for range b.l.Cuts {
			cuts = append(cuts, lo+1+r.IntN(hi-lo))
		}
		for _, cut := range cuts {
			if cut <= lo || cut >= hi {
				continue
			}
			torn := n.old(at).with(0, cut, last.s.bytes()[:cut])
			for _, rest := range []string{"old", "new"} {
				b.add("cut inside, behind it "+rest, at, cut, b.size, func(i int, vs []version) *sector {
					switch {
					case i == at:
						return torn
					case i < at || rest == "new":
						return newestOf(vs)
					default:
						return n.old(i)
					}
				}).Inside = true
			}
			if end := int64(at)*Sector + int64(cut); end > n.dev.size && end < b.size {
				b.add("cut inside and short", at, cut, end, func(_ int, vs []version) *sector { return newestOf(vs) })
			}
			v := b.add("cut inside, then garbage", at, cut, b.size, func(i int, vs []version) *sector {
				if i < at {
					return newestOf(vs)
				}
				if i > at {
					return n.old(i)
				}
				return garbage(vs, cut)
			})
			v.Inside, v.Garbage = true, true
		}
	}
}

func (s *sector) bytes() []byte {
	if s == nil {
		return make([]byte, Sector)
	}
	return s.data[:]
}

// garbage returns the newest version of a sector in which the bytes that were
// being written, from byte from on, are none that anybody wrote.
func garbage(vs []version, from int) *sector {
	last := vs[len(vs)-1]
	lo, hi := last.lo, last.hi
	for _, v := range vs {
		lo, hi = min(lo, v.lo), max(hi, v.hi)
	}
	lo = max(lo, from)
	if lo >= hi {
		return last.s
	}
	x := last.op<<16 | lo
	g := make([]byte, hi-lo)
	for i := range g {
		g[i] = byte(mix(uint64(x+i)) >> 32)
	}
	return last.s.with(lo, hi, g)
}
