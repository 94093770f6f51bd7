package crashfs

import "math/bits"

// Sector is what a disk writes at a time, in bytes.
const Sector = 512

// sector is immutable once it is part of a content, so contents share them.
type sector struct {
	data [Sector]byte
	sum  uint64
}

// fill is the sector that files are filled ahead with.
var fill = func() *sector {
	s := new(sector)
	for i := range s.data {
		s.data[i] = '\n'
	}
	s.seal()
	return s
}()

// seal computes the sum; the sector must not change any more.
func (s *sector) seal() {
	h := uint64(0x9e3779b97f4a7c15)
	for i := 0; i < Sector; i += 8 {
		d := s.data[i : i+8 : i+8]
		w := uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24 |
			uint64(d[4])<<32 | uint64(d[5])<<40 | uint64(d[6])<<48 | uint64(d[7])<<56
		h = mix(h ^ w)
	}
	s.sum = h
}

// mix spreads the bits of x; equal on every machine, so that counts of distinct
// images are too.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return hi ^ lo
}

// content is what a file holds. A nil sector is all NUL. Bytes of the last sector
// behind size are NUL.
type content struct {
	sec    []*sector
	size   int64
	shared bool // sec belongs to another content too: copy before writing
}

func sectors(size int64) int { return int((size + Sector - 1) / Sector) }

// share returns a content with the same bytes; neither sees later changes of the other.
func (c *content) share() content {
	c.shared = true
	return *c
}

func (c *content) own() {
	if c.shared {
		c.sec = append(make([]*sector, 0, len(c.sec)+8), c.sec...)
		c.shared = false
	}
}

// set puts a sector, which must lie within size.
func (c *content) set(i int, s *sector) {
	c.own()
	c.sec[i] = s
}

// resize cuts or grows the content.
func (c *content) resize(size int64) {
	n := sectors(size)
	if n != len(c.sec) {
		c.own()
	}
	for len(c.sec) < n {
		c.sec = append(c.sec, nil)
	}
	c.sec = c.sec[:n]
	if size < c.size && size%Sector != 0 {
		if s := c.sec[n-1]; s != nil {
			c.set(n-1, s.with(int(size%Sector), Sector, nil))
		}
	}
	c.size = size
}

// with returns a copy of s, which may be nil, with the bytes from lo to hi
// replaced: by p, or by NUL if p is nil.
func (s *sector) with(lo, hi int, p []byte) *sector {
	if whole := lo == 0 && hi == Sector; whole && p == nil {
		return nil
	} else if whole && p[0] == '\n' && string(p) == string(fill.data[:]) {
		return fill
	}
	t := new(sector)
	if s != nil {
		t.data = s.data
	}
	if p == nil {
		clear(t.data[lo:hi])
	} else {
		copy(t.data[lo:hi], p)
	}
	if t.data[0] == '\n' && t.data == fill.data {
		return fill
	}
	t.seal()
	return t
}

// readAt copies from off on and returns how many bytes there were.
func (c *content) readAt(p []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	n := 0
	for n < len(p) {
		i, lo := int((off+int64(n))/Sector), int((off+int64(n))%Sector)
		take := min(Sector-lo, len(p)-n)
		if s := c.sec[i]; s != nil {
			copy(p[n:n+take], s.data[lo:])
		} else {
			clear(p[n : n+take])
		}
		n += take
	}
	return n
}

// zeroSum is the sum of a sector of NUL, however it is held.
var zeroSum = func() uint64 {
	var s sector
	s.seal()
	return s.sum
}()

// hash tells contents apart.
func (c *content) hash() uint64 {
	h := mix(uint64(c.size) + 1)
	for i, s := range c.sec {
		sum := zeroSum
		if s != nil {
			sum = s.sum
		}
		h += mix(sum + uint64(i)*0x9e3779b97f4a7c15)
	}
	return h
}
