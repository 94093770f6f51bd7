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

	// What lies between them: the sectors that were written since the last sync,
	// oldest first, and the sizes that the file went through.
	writes []version
	sizes  []sizeAt
	op     int // operations pending

	made *variants // what a power cut may leave, until something changes
}

// version is a sector as an operation left it, which wrote the bytes from lo to hi.
type version struct {
	at     int // which sector
	op     int
	s      *sector
	lo, hi int
}

// dirtySector has the unsynced versions of one sector, oldest first: at least one.
type dirtySector struct {
	at int
	vs []version
}

type sizeAt struct {
	op   int
	size int64
}

func (n *inode) dirty() bool { return len(n.writes) > 0 || len(n.sizes) > 0 }

// begin counts an operation that changes the file.
func (n *inode) begin() {
	n.op++
	n.made = nil
}

func (n *inode) put(i, lo, hi int, s *sector) {
	n.cur.set(i, s)
	n.writes = append(n.writes, version{i, n.op, s, lo, hi})
}

func (n *inode) setSize(size int64) {
	n.cur.resize(size)
	n.sizes = append(n.sizes, sizeAt{n.op, size})
}

// write changes the page cache. A sector goes to the device as the cache has it,
// so bytes that an earlier failed sync lost go along when their sector is written
// again.
func (n *inode) write(p []byte, off int64) {
	n.begin()
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
	n.begin()
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
	for _, v := range n.writes {
		if v.at < len(n.dev.sec) {
			n.dev.set(v.at, v.s)
		}
	}
	n.dev.resize(size)
	n.writes, n.sizes, n.op, n.made = nil, nil, 0, nil
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
	for _, d := range dirty {
		if d.at >= len(n.dev.sec) && d.at < len(n.cur.sec) {
			n.dev.resize(min(int64(d.at+1)*Sector, n.cur.size))
		}
		if d.at < len(n.dev.sec) {
			n.dev.set(d.at, newestOf(d.vs))
		}
	}
	n.writes, n.made = nil, nil
}

// dropCache makes clean folios from off on show what the device holds. One that begins
// before off stays.
func (n *inode) dropCache(off int64) {
	const size = folio * Sector
	for first := int((off+size-1)/size) * folio; first < len(n.cur.sec); first += folio {
		end := min(first+folio, len(n.cur.sec))
		clean := true
		for _, v := range n.writes {
			clean = clean && (v.at < first || v.at >= end)
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
func (n *inode) dirtySectors() []dirtySector {
	all := slices.Clone(n.writes)
	slices.SortStableFunc(all, func(a, b version) int { return a.at - b.at })
	var dirty []dirtySector
	for i := 0; i < len(all); {
		first := i
		for i < len(all) && all[i].at == all[first].at {
			i++
		}
		dirty = append(dirty, dirtySector{all[first].at, all[first:i]})
	}
	return dirty
}

// clone copies a file, pending changes included.
func (n *inode) clone() *inode {
	return &inode{
		mode: n.mode, cur: n.cur.share(), dev: n.dev.share(), op: n.op,
		writes: slices.Clone(n.writes), sizes: slices.Clone(n.sizes),
	}
}
