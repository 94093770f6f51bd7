package crashfs

import "maps"

// directory holds entries, the durable ones, and the changes that lie between them.
type directory struct {
	cur, dev map[string]*inode
	same     bool // cur is dev: copy it before a change
	pending  []change
}

// change is a creation (of old "" and new), a removal (new ""), or a rename.
type change struct {
	old, new string
	node     *inode
}

func newDirectory() *directory {
	entries := map[string]*inode{}
	return &directory{cur: entries, dev: entries, same: true}
}

// change applies a change now and leaves it pending.
func (d *directory) change(c change) {
	if d.same {
		d.cur, d.same = maps.Clone(d.cur), false
	}
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
	d.dev, d.same, d.pending = d.cur, true, nil
}

// subset returns the entries on the device if of the pending changes those reached
// it for which in returns true. They are not to be changed.
func (d *directory) subset(in func(i int) bool) map[string]*inode {
	if len(d.pending) == 0 {
		return d.dev
	}
	entries := maps.Clone(d.dev)
	for i, c := range d.pending {
		if in(i) {
			c.apply(entries)
		}
	}
	return entries
}
