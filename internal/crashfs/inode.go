package crashfs

import (
	"io/fs"
	"slices"
)

// folio is what the kernel caches and drops at a time, in sectors of a file: large
// writes make large folios, of a megabyte on ext4 (measured, Linux 6.18).
const folio = 2048

// inode is a file or a directory.
type inode struct {
	dir  *directory // nil for a file
	mode fs.FileMode

	cur content // the page cache
	dev content // the device

	// What lies between them: for each sector its versions since the last sync,
	// oldest first, and the sizes that the file went through.
	vers  map[int][]version
	sizes []sizeAt
	op    int // operations pending
}

// version is a sector as an operation left it, which wrote the bytes from lo to hi.
type version struct {
	op     int
	s      *sector
	lo, hi int
}

type sizeAt struct {
	op   int
	size int64
}

func (n *inode) dirty() bool { return len(n.vers) > 0 || len(n.sizes) > 0 }

func (n *inode) put(i, lo, hi int, s *sector) {
	n.cur.set(i, s)
	if n.vers == nil {
		n.vers = map[int][]version{}
	}
	n.vers[i] = append(n.vers[i], version{n.op, s, lo, hi})
}

func (n *inode) setSize(size int64) {
	n.cur.resize(size)
	n.sizes = append(n.sizes, sizeAt{n.op, size})
}

// write changes the page cache. A sector goes to the device as the cache has it,
// so bytes that an earlier failed sync lost go along when their sector is written
// again.
func (n *inode) write(p []byte, off int64) {
	n.op++
	if end := off + int64(len(p)); end > n.cur.size {
		n.setSize(end)
	}
	for len(p) > 0 {
		i, lo := int(off/Sector), int(off%Sector)
		take := min(Sector-lo, len(p))
		n.put(i, lo, lo+take, n.cur.sec[i].with(lo, lo+take, p[:take]))
		p, off = p[take:], off+int64(take)
	}
}

// truncate gives every sector behind size a version of NUL, which is what is there
// if the file grows again; how far the device knows of that is open until the sync.
func (n *inode) truncate(size int64) {
	n.op++
	for i := int(size / Sector); i < len(n.cur.sec); i++ {
		lo := 0
		if i == int(size/Sector) {
			lo = int(size % Sector)
		}
		if n.cur.sec[i] != nil {
			n.put(i, lo, Sector, n.cur.sec[i].with(lo, Sector, nil))
		}
	}
	n.setSize(size)
}

// sync brings what is dirty to the device. What a failed sync dropped stays lost.
func (n *inode) sync() {
	size := n.cur.size
	if size > n.dev.size {
		n.dev.resize(size)
	}
	for i, vs := range n.vers {
		if i < len(n.dev.sec) {
			n.dev.set(i, vs[len(vs)-1].s)
		}
	}
	n.dev.resize(size)
	n.vers, n.sizes, n.op = nil, nil, 0
}

// failSync drops what is dirty, except that the first reached sectors, or the last
// -reached ones, are on the device. The size is metadata and stays to be written.
func (n *inode) failSync(reached int) {
	dirty := n.dirtySectors()
	if reached < 0 {
		dirty = dirty[max(0, len(dirty)+reached):]
	} else {
		dirty = dirty[:min(len(dirty), reached)]
	}
	for _, i := range dirty {
		if i >= len(n.dev.sec) && i < len(n.cur.sec) {
			n.dev.resize(min(int64(i+1)*Sector, n.cur.size))
		}
		if vs := n.vers[i]; i < len(n.dev.sec) {
			n.dev.set(i, vs[len(vs)-1].s)
		}
	}
	n.vers = nil
}

// dropCache makes clean folios from off on show what the device holds. One that begins
// before off stays.
func (n *inode) dropCache(off int64) {
	const size = folio * Sector
	for first := int((off+size-1)/size) * folio; first < len(n.cur.sec); first += folio {
		end := min(first+folio, len(n.cur.sec))
		clean := true
		for i := range n.vers {
			clean = clean && (i < first || i >= end)
		}
		for i := first; clean && i < end; i++ {
			var s *sector
			if i < len(n.dev.sec) {
				s = n.dev.sec[i]
			}
			if n.cur.sec[i] != s {
				n.cur.set(i, s)
			}
		}
	}
	n.cur.trim()
}

// trim makes the bytes behind the size NUL.
func (c *content) trim() {
	if last := len(c.sec) - 1; c.size%Sector != 0 && c.sec[last] != nil {
		lo := int(c.size % Sector)
		for _, b := range c.sec[last].data[lo:] {
			if b != 0 {
				c.set(last, c.sec[last].with(lo, Sector, nil))
				return
			}
		}
	}
}

// dirtySectors returns the sectors with unsynced versions, in order.
func (n *inode) dirtySectors() []int {
	d := make([]int, 0, len(n.vers))
	for i := range n.vers {
		d = append(d, i)
	}
	slices.Sort(d)
	return d
}

// clone copies a file, pending changes included.
func (n *inode) clone() *inode {
	c := &inode{mode: n.mode, cur: n.cur.share(), dev: n.dev.share(), op: n.op, sizes: slices.Clone(n.sizes)}
	if n.vers != nil {
		c.vers = make(map[int][]version, len(n.vers))
		for i, vs := range n.vers {
			c.vers[i] = slices.Clone(vs)
		}
	}
	return c
}
