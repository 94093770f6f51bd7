package crashfs

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Limits bound what [FS.Images] yields. The zero value is everything that the
// package documentation names, with all subsets of up to six.
type Limits struct {
	Sectors int // vary at most so many sectors of a file one by one, 0 for all
	Random  int // add so many random choices of versions per file
	Cuts    int // cut each of those sectors inside at so many more, random places
	Seed    uint64
	Plain   bool // leave out garbage and cuts inside sectors
}

// allSubsets is up to how many pending things every subset is made.
const allSubsets = 6

// Variant says how an image came about.
type Variant struct {
	Names   string // the subset of the pending directory changes
	File    string // the file whose pending data was varied, "" if there is none
	Others  string // what became of other dirty files
	What    string // the kind of variation
	At, Off int    // sector, and byte in it, that What is about
	Garbage bool   // written sectors hold bytes that nobody wrote
	Inside  bool   // a sector is neither old nor new: a disk with smaller sectors
}

func (v Variant) String() string {
	s := v.Names
	if v.File != "" {
		s += fmt.Sprintf("; %s: %s, sector %d byte %d", v.File, v.What, v.At, v.Off)
	}
	if v.Others != "" {
		s += "; others " + v.Others
	}
	return s
}

// Images yields the file systems that a power cut at this moment may leave, as new
// file systems without hooks. Some may be equal, see [FS.Hash]. The file system
// must not change meanwhile.
func (f *FS) Images(l Limits) iter.Seq2[*FS, Variant] {
	return func(yield func(*FS, Variant) bool) { f.images(l, yield) }
}

func (f *FS) images(l Limits, yield func(*FS, Variant) bool) {
	var dirs []*directory
	collect(f.root, map[*inode]bool{}, &dirs)
	var pending []int // of each pending change, the index of its directory
	first := map[*directory]int{}
	for i, d := range dirs {
		first[d] = len(pending)
		for range d.pending {
			pending = append(pending, i)
		}
	}
	for name, in := range subsets(len(pending)) {
		m := mounter{made: map[*inode]*inode{}, entries: func(d *directory) map[string]*inode {
			return d.subset(func(i int) bool { return in(first[d] + i) })
		}}
		if !f.yieldData(m, l, "names "+name, yield) {
			return
		}
	}
}

// yieldData varies the data of one reachable dirty file after the other.
func (f *FS) yieldData(m mounter, l Limits, names string, yield func(*FS, Variant) bool) bool {
	files := m.dirtyFiles(f.root, "")
	if len(files) == 0 {
		return yield(m.mount(f.root), Variant{Names: names})
	}
	others := []string{""}
	if len(files) > 1 {
		others = []string{"old", "new"}
	}
	for _, file := range files {
		n := file.node
		data := n.variants(l)
		for _, other := range others {
			m.content = func(o *inode, v *variant) content {
				switch {
				case o == n:
					return v.c.share()
				case other == "new":
					return o.variants(l).newest.share()
				default:
					return o.dev.share()
				}
			}
			for i := range data.all {
				v := &data.all[i]
				m.made, m.variant = map[*inode]*inode{}, v
				out := v.Variant
				out.Names, out.File, out.Others = names, file.name, other
				if !yield(m.mount(f.root), out) {
					return false
				}
			}
		}
	}
	return true
}

// collect finds all directories that may be there after a power cut.
func collect(n *inode, seen map[*inode]bool, dirs *[]*directory) {
	if n.dir == nil || seen[n] {
		return
	}
	seen[n] = true
	*dirs = append(*dirs, n.dir)
	for _, entries := range []map[string]*inode{n.dir.dev, n.dir.cur} {
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			collect(entries[name], seen, dirs)
		}
	}
	for _, c := range n.dir.pending {
		collect(c.node, seen, dirs)
	}
}

// subsets yields subsets of n things as functions that tell what is in: all
// subsets of few; of many none, all, each single, each prefix, and all but one.
func subsets(n int) func(yield func(string, func(int) bool) bool) {
	return func(yield func(string, func(int) bool) bool) {
		if n <= allSubsets {
			for bits := range 1 << n {
				if !yield(fmt.Sprintf("%0*b", n, bits), func(i int) bool { return bits>>i&1 == 1 }) {
					return
				}
			}
			return
		}
		for k := range n + 1 {
			if !yield(fmt.Sprintf("first %d of %d", k, n), func(i int) bool { return i < k }) {
				return
			}
		}
		for k := range n {
			if !yield(fmt.Sprintf("only %d of %d", k, n), func(i int) bool { return i == k }) ||
				!yield(fmt.Sprintf("all but %d of %d", k, n), func(i int) bool { return i != k }) {
				return
			}
		}
	}
}

// mounter makes a file system of what is on the device.
type mounter struct {
	entries func(*directory) map[string]*inode
	content func(*inode, *variant) content
	variant *variant
	made    map[*inode]*inode // one for each inode: names may be links
}

func (m *mounter) mount(root *inode) *FS { return &FS{root: m.node(root)} }

func (m *mounter) node(n *inode) *inode {
	if made := m.made[n]; made != nil {
		return made
	}
	c := &inode{mode: n.mode}
	m.made[n] = c
	switch {
	case n.dir != nil:
		c.dir = newDirectory()
		for name, child := range m.entries(n.dir) {
			c.dir.dev[name] = m.node(child)
		}
		return c
	case n.dirty():
		c.cur = m.content(n, m.variant)
	default:
		c.cur = n.dev.share()
	}
	c.dev = c.cur.share()
	return c
}

type named struct {
	name string
	node *inode
}

// dirtyFiles lists the files with unsynced data that have a name on the device.
func (m *mounter) dirtyFiles(n *inode, path string) []named {
	var found []named
	entries := m.entries(n.dir)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		child := entries[name]
		switch {
		case child.dir != nil:
			found = append(found, m.dirtyFiles(child, path+"/"+name)...)
		case child.dirty():
			found = append(found, named{path + "/" + name, child})
		}
	}
	return found
}

// Clone returns what the death of the process leaves: the kernel keeps all that it
// was told, pending changes included. Open files are not part of it. It may be called
// at any time.
func (f *FS) Clone() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	made := map[*inode]*inode{}
	return &FS{root: f.root.cloneTree(made)}
}

func (n *inode) cloneTree(made map[*inode]*inode) *inode {
	if c := made[n]; c != nil {
		return c
	}
	if n.dir == nil {
		made[n] = n.clone()
		return made[n]
	}
	c := newDir()
	made[n] = c
	for name, child := range n.dir.dev {
		c.dir.dev[name] = child.cloneTree(made)
	}
	if !n.dir.same {
		c.dir.cur, c.dir.same = make(map[string]*inode, len(n.dir.cur)), false
		for name, child := range n.dir.cur {
			c.dir.cur[name] = child.cloneTree(made)
		}
	}
	for _, p := range n.dir.pending {
		c.dir.pending = append(c.dir.pending, change{p.old, p.new, p.node.cloneTree(made)})
	}
	return c
}

// Hash tells file systems apart by names and contents, as reads show them. It
// is the same on every machine.
func (f *FS) Hash() uint64 { return f.root.hash() }

func (n *inode) hash() uint64 {
	if n.dir == nil {
		return n.cur.hash()
	}
	h := uint64(1)
	for name, child := range n.dir.cur {
		e := child.hash()
		for i := range len(name) {
			e = mix(e ^ uint64(name[i]))
		}
		h += mix(e)
	}
	return h
}
