package crashfs

import "sort"

// AppendBytes appends the content of a file, as reads show it, to dst; nothing if
// there is no such file. It is no operation: nothing is counted or fails.
func (f *FS) AppendBytes(dst []byte, name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name)
	if err != nil || n.dir != nil {
		return dst
	}
	start := len(dst)
	dst = append(dst, make([]byte, n.cur.size)...)
	n.cur.readAt(dst[start:], 0)
	return dst
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
