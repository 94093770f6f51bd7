package crashfs

import "maps"

// directory holds entries, the durable ones, and the changes that lie between them.
type directory struct {
	cur, dev map[string]*inode
	pending  []change
}

// change is a creation (of old "" and new), a removal (new ""), or a rename.
type change struct {
	old, new string
	node     *inode
}

func newDirectory() *directory {
	return &directory{cur: map[string]*inode{}, dev: map[string]*inode{}}
}

// change applies a change now and leaves it pending.
func (d *directory) change(c change) {
	c.apply(d.cur)
	d.pending = append(d.pending, c)
}

// apply does the change to entries. In a subset of the changes an earlier one may be
// missing: what it would have made is then not there to be removed.
func (c change) apply(entries map[string]*inode) {
	if c.old != "" && entries[c.old] == c.node {
		delete(entries, c.old)
	}
	if c.new != "" {
		entries[c.new] = c.node
	}
}

func (d *directory) sync() {
	d.dev = maps.Clone(d.cur)
	d.pending = nil
}

// subset returns the entries on the device if of the pending changes those reached
// it for which in returns true.
func (d *directory) subset(in func(i int) bool) map[string]*inode {
	entries := maps.Clone(d.dev)
	for i, c := range d.pending {
		if in(i) {
			c.apply(entries)
		}
	}
	return entries
}
