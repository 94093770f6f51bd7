package memfs

// Snapshot returns a file system with the same content that shares nothing with f and
// where nobody holds a lock: what the next process finds after the death of all that had
// f open. Nothing may change f meanwhile.
func (f *FS) Snapshot() *FS {
	f.mu.RLock()
	defer f.mu.RUnlock()
	s := New()
	copies := map[*node]*node{} // a file may have several names
	for name, n := range f.nodes {
		c := copies[n]
		if c == nil {
			c = n.copy()
			copies[n] = c
		}
		s.nodes[name] = c
	}
	return s
}

func (n *node) copy() *node {
	c := &node{}
	c.mode.Store(n.mode.Load())
	if n.isDir() {
		return c
	}
	c.content = &content{}
	n.content.mu.RLock()
	defer n.content.mu.RUnlock()
	for _, piece := range n.content.chunks {
		c.content.writeAt(piece, c.content.size)
	}
	return c
}
