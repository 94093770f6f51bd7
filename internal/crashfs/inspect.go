package crashfs

import "sort"

// Content is what a file holds at one moment; later changes do not show in it. It
// shares the bytes with the file, so it costs next to nothing.
type Content struct{ c content }

// Content returns the content of a file, as reads show it; nothing if there is no
// such file. It is no operation: nothing is counted or fails.
func (f *FS) Content(name string) Content {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name)
	if err != nil || n.dir != nil {
		return Content{}
	}
	return Content{n.cur.share()}
}

// Size returns the number of bytes.
func (c Content) Size() int64 { return c.c.size }

// AppendRange appends the bytes from one offset to another, as far as they are there,
// to dst.
func (c Content) AppendRange(dst []byte, from, to int64) []byte {
	to = min(to, c.c.size)
	if from >= to {
		return dst
	}
	start := len(dst)
	dst = append(dst, make([]byte, to-from)...)
	c.c.readAt(dst[start:], from)
	return dst
}

// TrimFill returns the size without the newlines, and if nul is set the NUL bytes, at
// the end. There may be a megabyte of them.
func (c Content) TrimFill(nul bool) int64 {
	size := c.c.size
	for size > 0 {
		i, n := int((size-1)/Sector), (size-1)%Sector+1
		switch s := c.c.sec[i]; {
		case s == fill, s == nil && nul:
			size -= n
			continue
		case s == nil:
			return size
		default:
			for ; n > 0 && (s.data[n-1] == '\n' || s.data[n-1] == 0 && nul); n-- {
				size--
			}
			if n > 0 {
				return size
			}
		}
	}
	return 0
}

// AppendBytes appends the content of a file, as reads show it, to dst; nothing if
// there is no such file. It is no operation.
func (f *FS) AppendBytes(dst []byte, name string) []byte {
	c := f.Content(name)
	return c.AppendRange(dst, 0, c.Size())
}

// Files lists all files by path, sorted. It is no operation.
func (f *FS) Files() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	f.root.files("", &names)
	sort.Strings(names)
	return names
}

func (n *inode) files(path string, names *[]string) {
	for name, child := range n.dir.cur {
		if child.dir != nil {
			child.files(path+"/"+name, names)
		} else {
			*names = append(*names, path+"/"+name)
		}
	}
}

// Put makes a file with these bytes, durable at once. Its directory must exist. It is
// no operation.
func (f *FS) Put(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, base, err := f.walk(name)
	if err != nil {
		panic(err)
	}
	n := &inode{mode: 0o600}
	n.write(data, 0)
	n.sync()
	d.cur[base], d.dev[base] = n, n
}
