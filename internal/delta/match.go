package delta

import "bytes"

// none stands for an item that has no counterpart.
const none = ^uint32(0)

// list is the items of a container from one of them on: the elements of an
// array, or the members of an object.
type list struct {
	text   []byte
	object bool
	// at holds where each item begins, and one offset more: where the item
	// behind them begins, or, if there is none, the offset behind the container.
	at   []uint32
	more bool // there is an item behind them
}

// listFrom returns the list, without items yet, of those from b[i] on, which is
// where an item begins or the closing bracket stands.
func listFrom(b []byte, i int, object bool) list {
	l := list{text: b, object: object, more: !closes(b[i])}
	if !l.more {
		i++
	}
	l.at = append(l.at, uint32(i))
	return l
}

// push adds the next item, which ends at end, and reports false if there is
// damage behind it.
func (l *list) push(end int) bool {
	i, more := next(l.text, end)
	if l.more = more; i >= 0 && !more {
		i++
	}
	l.at = append(l.at, uint32(i))
	return i >= 0
}

// fill adds items until there are n, or all of them, and reports false if there
// is damage before that.
func (l *list) fill(n int) bool {
	for l.more && l.len() < n {
		if !l.push(skipItem(l.text, l.behind(), l.object)) {
			return false
		}
	}
	return true
}

func (l *list) len() int { return len(l.at) - 1 }

// behind is the last offset in at.
func (l *list) behind() int { return int(l.at[len(l.at)-1]) }

// item returns the bytes of item i. One byte, a comma or the closing bracket,
// stands between it and the next offset.
func (l *list) item(i int) []byte { return l.text[l.at[i] : l.at[i+1]-1] }

// name returns the name of member i, without its quotes.
func (l *list) name(i int) []byte { return nameAt(l.text, int(l.at[i])) }

// key returns what makes item i the counterpart of another one: the name of a
// member, all of an element.
func (l *list) key(i int) []byte {
	if l.object {
		return l.name(i)
	}
	return l.item(i)
}

// stands returns the offset behind item i if its bytes are an item at b[q],
// otherwise -1.
func (l *list) stands(i int, b []byte, q int) int {
	if i >= l.len() {
		return -1
	}
	item := l.item(i)
	end := q + len(item)
	if end < len(b) && ends(b[end]) && bytes.Equal(item, b[q:end]) {
		return end
	}
	return -1
}

// nameAt returns the name, without its quotes, of the member that begins at
// b[i] and has been skipped before.
func nameAt(b []byte, i int) []byte { return b[i+1 : skipString(b, i)-1] }

// rest is all items of two containers from some item on.
type rest struct {
	old, new list
	// match holds for each new item the old one that it was, or none. What is
	// matched ascends.
	match []uint32
}

// rest matches the items from p with those from q, both of which are where an
// item begins or the closing bracket stands. It reports false if a text is
// malformed.
func (d *differ) rest(p, q int, object bool) (*rest, bool) {
	r := &rest{old: listFrom(d.old, p, object), new: listFrom(d.new, q, object)}
	if !r.old.fill(len(d.old)) || !r.guess() {
		return nil, false
	}
	r.align()
	return r, true
}

// end returns the offsets behind the two containers.
func (r *rest) end() [2]int { return [2]int{r.old.behind(), r.new.behind()} }

// guess collects the new items, and matches those that follow each other as the
// old ones do: where an old item's bytes stand in the new text, its end is known
// without scanning for it.
func (r *rest) guess() bool {
	k, missed := 0, 0 // the next old item, and the new ones since the last match
	for r.new.more {
		q := r.new.behind()
		m, end := none, -1
		// The old items go on at k after an insertion, at k+missed after
		// as many were replaced, at k+1 after a removal.
		for _, i := range [...]int{k, k + missed, k + 1} {
			if end = r.old.stands(i, r.new.text, q); end > 0 {
				m = uint32(i)
				break
			}
		}
		if end < 0 {
			if end = skipItem(r.new.text, q, r.new.object); end < 0 {
				return false
			}
			if r.new.object {
				m = r.named(nameAt(r.new.text, q), k, missed)
			}
		}
		if missed++; m != none {
			k, missed = int(m)+1, 0
		}
		if r.match = append(r.match, m); !r.new.push(end) {
			return false
		}
	}
	return true
}

// named returns the old member of that name if it is at k or, behind a match,
// not far from there; otherwise none.
func (r *rest) named(name []byte, k, missed int) uint32 {
	far := k + 1
	if missed == 0 {
		far = k + lookahead
	}
	for i := k; i < min(far, r.old.len()); i++ {
		if bytes.Equal(r.old.name(i), name) {
			return uint32(i)
		}
	}
	return none
}
