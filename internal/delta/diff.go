package delta

import (
	"bytes"
	"math"
	"strconv"
)

const (
	// maxDepth bounds how deep Diff looks for smaller differences. Each level
	// may scan what it holds a few times more, so this keeps Diff linear.
	maxDepth = 64
	// lockstepDepth is up to where containers that are members of objects are
	// entered without first asking whether they are equal: the large values of
	// a state are near its root, and one that changed is then scanned once.
	lockstepDepth = 3
	// slack is how much the operations on a container may outgrow the part of
	// it walked so far before its size is looked at.
	slack = 64 << 10
	// overhead is what a "replace" takes besides its path and value.
	overhead = len(`,{"op":"replace","path":"","value":}`)
)

// Diff returns a patch with which [Apply] turns old into new, byte for byte. It
// reports false if there is none that is smaller than new itself: new should
// then be stored as it is. For what old and new must be, see the package
// documentation; old and new are not kept and may be the same.
//
// The time is that of scanning the old text once and comparing it with the new
// one, as long as changes are few and arrays agree again within a few dozen
// elements of each; the memory is that of the patch. Where they do not, both texts
// are scanned from there on, and memory is used for the offsets of elements. When
// nearly everything changed, that is several times the work, in vain.
func Diff(old, new []byte) (patch []byte, ok bool) {
	if uint64(len(old)) > math.MaxUint32 || uint64(len(new)) > math.MaxUint32 {
		return nil, false // offsets of elements are kept in 32 bits
	}
	if bytes.Equal(old, new) {
		return []byte("[]"), true
	}
	patch, ok = diff(old, new)
	return patch, ok && len(patch) < len(new)
}

// diff is Diff without the bound on the patch's size, so that tests see every
// patch. It reports false if a text is malformed.
func diff(old, new []byte) (patch []byte, ok bool) {
	d := differ{old: old, new: new, out: make([]byte, 1, 512), path: make([]byte, 0, 64)}
	d.out[0] = '['
	p, q := d.value(0, 0, 0)
	return append(d.out, ']'), p == len(old) && q == len(new)
}

// differ walks the two texts. Offsets named p are in old, those named q in new;
// -1 is the offset behind anything malformed.
type differ struct {
	old, new []byte
	out      []byte // the patch so far
	path     []byte // pointer to the current value, as the content of a JSON string

	// old[from:to] is known to stand shift bytes further in new as well; stop
	// says that it goes no further. See equal.
	from, to, shift int
	stop            bool
}

// malformed is where a container ends that is none.
var malformed = [2]int{-1, -1}

// value writes what turns the value at p into the value at q, and returns the
// offsets behind them.
func (d *differ) value(p, q, depth int) (int, int) {
	mark, end, exact := len(d.out), [2]int{}, false
	p0, q0 := p, q
	if p >= len(d.old) || q >= len(d.new) {
		return -1, -1
	}
	switch c := d.old[p]; {
	case depth < maxDepth && c == '[' && d.new[q] == '[':
		end, exact = d.array(p, q, depth)
	case depth < maxDepth && c == '{' && d.new[q] == '{':
		end, exact = d.object(p, q, depth)
	default:
		end = [2]int{skipValue(d.old, p), skipValue(d.new, q)}
	}
	if p, q = end[0], end[1]; p < 0 || q < 0 {
		return -1, -1
	}
	if exact && len(d.out)-mark <= d.cost(q-q0) {
		return p, q
	}
	d.out = d.out[:mark]
	if !bytes.Equal(d.old[p0:p], d.new[q0:q]) {
		d.write("replace", d.new[q0:q], nil)
	}
	return p, q
}

// cost is the size of the operation that replaces the current value by one of n
// bytes.
func (d *differ) cost(n int) int { return overhead + len(d.path) + n }

// budget is what the operations on a container may take before replacing it is
// the better way.
type budget struct {
	mark  int // size of the patch at its beginning
	begin int // offset of the new container
	most  int // bytes, 0 as long as they are not known
}

func (d *differ) budget(q int) budget { return budget{mark: len(d.out), begin: q} }

// exceeded reports whether the operations take more than they may; the walk is
// at q, within the container but in none of its items. How large the container
// is takes a scan to know: it is asked when the operations have outgrown the
// part walked so far by a good deal, and once.
func (d *differ) exceeded(b *budget, q int) bool {
	size := len(d.out) - b.mark
	if b.most == 0 {
		if size <= slack+q-b.begin {
			return false
		}
		b.most = max(1, d.cost(skipRest(d.new, q)-b.begin))
	}
	return size > b.most
}

// equal reports whether the item old[p:end] stands at new[q] as well. Because
// the walk passes items side by side, it remembers how far the texts are the
// same; it does not look much further than it has to.
func (d *differ) equal(p, end, q int) bool {
	if q-p != d.shift || p < d.from || p > d.to {
		d.from, d.to, d.shift, d.stop = p, p, q-p, false
	}
	for d.to <= end && !d.stop {
		a, b := d.old[d.to:], d.new[min(d.to+d.shift, len(d.new)):]
		n := min(512, len(a), len(b))
		if n > 0 && bytes.Equal(a[:n], b[:n]) {
			d.to += n
			continue
		}
		for i := 0; i < n && a[i] == b[i]; i++ {
			d.to++
		}
		d.stop = true
	}
	if end < d.to {
		return true // and what stands behind the item is the same
	}
	n := end + d.shift
	return end == d.to && n < len(d.new) && ends(d.new[n])
}

// child writes what turns the value at p, which the segment leads to, into the
// value at q.
func (d *differ) child(segment []byte, p, q, depth int) (int, int) {
	n := len(d.path)
	d.path, _ = appendSegment(d.path, segment)
	p, q = d.value(p, q, depth+1)
	d.path = d.path[:n]
	return p, q
}

// write appends an operation on the current path. Without a value or the name
// of a member to go before, these are nil.
func (d *differ) write(op string, value, before []byte) {
	if len(d.out) > 1 {
		d.out = append(d.out, ',')
	}
	d.out = append(append(d.out, `{"op":"`...), op...)
	d.out = append(append(append(d.out, `","path":"`...), d.path...), '"')
	if value != nil {
		d.out = append(append(d.out, `,"value":`...), value...)
	}
	if before != nil {
		d.out = append(append(append(d.out, `,"before":"`...), before...), '"')
	}
	d.out = append(d.out, '}')
}

// writeAt appends an operation on element i of the current array, which is
// behind the last one if i is negative.
func (d *differ) writeAt(op string, i int, value []byte) {
	n := len(d.path)
	if d.path = append(d.path, '/'); i < 0 {
		d.path = append(d.path, '-')
	} else {
		d.path = strconv.AppendInt(d.path, int64(i), 10)
	}
	d.write(op, value, nil)
	d.path = d.path[:n]
}
