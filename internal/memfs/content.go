package memfs

import "sync"

// chunk is how many bytes of a file stand in one piece. A file that grows gets further
// pieces, so that no write copies what was written before.
const chunk = 32 << 10

// content is the bytes of a file.
type content struct {
	mu     sync.RWMutex
	chunks [][]byte // all but the last have length chunk
	size   int64
}

func (c *content) length() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.size
}

// readAt returns how many bytes there were.
func (c *content) readAt(p []byte, off int64) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := 0
	for n < len(p) && off < c.size {
		k := copy(p[n:], c.chunks[off/chunk][off%chunk:])
		n += k
		off += int64(k)
	}
	return n
}

func (c *content) writeAt(p []byte, off int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grow(off + int64(len(p)))
	for len(p) > 0 {
		k := copy(c.chunks[off/chunk][off%chunk:], p)
		p = p[k:]
		off += int64(k)
	}
}

func (c *content) truncate(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size >= c.size {
		c.grow(size)
		return
	}
	last := int((size + chunk - 1) / chunk) // chunks that stay
	clear(c.chunks[last:])                  // for the garbage collector
	c.chunks = c.chunks[:last]
	if rest := int(size % chunk); rest > 0 {
		c.chunks[last-1] = c.chunks[last-1][:rest]
	}
	c.size = size
}

// grow makes the file at least size bytes long. What is new is NUL: a file that was cut
// and grows again must not show what it had.
func (c *content) grow(size int64) {
	for c.size < size {
		i := int(c.size / chunk)
		if i == len(c.chunks) {
			c.chunks = append(c.chunks, nil)
		}
		old := c.chunks[i]
		n := int(min(size-int64(i)*chunk, chunk))
		if n > cap(old) {
			room := chunk
			if i == 0 { // most files are small: doubled until it is a whole one
				room = min(max(n, 2*cap(old), 1<<10), chunk)
			}
			grown := make([]byte, n, room)
			copy(grown, old)
			c.chunks[i] = grown
		} else {
			c.chunks[i] = old[:n]
			clear(c.chunks[i][len(old):])
		}
		c.size = int64(i)*chunk + int64(n)
	}
}
