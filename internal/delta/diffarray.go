package delta

import (
	"bytes"
	"strconv"
)

// lookahead bounds how many elements around a difference are looked at to find
// where two arrays agree again.
const lookahead = 64

// array writes what turns the array at p into the array at q. It returns the
// offsets behind them, and false if the array has to be replaced.
//
// Operations go from left to right, so that the elements before index are final.
func (d *differ) array(p, q, depth int) (end [2]int, exact bool) {
	b := d.budget(q)
	p, q = p+1, q+1
	for index := 0; ; {
		var n int
		if p, q, n = d.equalElements(p, q); p < 0 {
			return malformed, false
		}
		index += n
		if closes(d.old[p]) && closes(d.new[q]) {
			return [2]int{p + 1, q + 1}, true
		}
		old, new := listFrom(d.old, p, false), listFrom(d.new, q, false)
		i, j, ok := agree(&old, &new)
		if !ok {
			r, ok := d.rest(p, q, false)
			if !ok {
				return malformed, false
			}
			return r.end(), d.restOfArray(r, index, depth, &b)
		}
		if !d.gap(old, new, 0, i, 0, j, index, depth, &b) {
			return [2]int{skipRest(d.old, p), skipRest(d.new, q)}, false
		}
		index += j
		p, q = int(old.at[i]), int(new.at[j])
		if i == old.len() {
			return [2]int{p, q}, true
		}
	}
}

// equalElements goes from p and q to where the elements first differ or an array
// ends, and returns how many it passed; p is -1 if a text is malformed.
func (d *differ) equalElements(p, q int) (_, _, n int) {
	if p >= len(d.old) || q >= len(d.new) {
		return -1, -1, 0
	}
	for !closes(d.old[p]) && !closes(d.new[q]) {
		end := skipValue(d.old, p)
		if end < 0 {
			return -1, -1, 0
		}
		if !d.equal(p, end, q) {
			break
		}
		n++
		q, _ = next(d.new, q+end-p)
		p, _ = next(d.old, end)
		if p < 0 || q < 0 {
			return -1, -1, 0
		}
	}
	return p, q, n
}

// agree returns the nearest position of each list from which on the elements
// are equal again, or the end of both. The lists then have an element behind that
// position unless the array ends there. Two equal elements in a row are asked
// for: short values recur, and what is passed over is written to the patch.
func agree(old, new *list) (i, j int, ok bool) {
	for sum := 1; sum < lookahead; sum++ {
		if !old.fill(sum+2) || !new.fill(sum+2) {
			return 0, 0, false
		}
		for n := 0; n <= sum; n++ {
			// From the middle outwards: as many elements replaced as
			// possible, and few inserted or removed.
			if i = sum/2 + (n+1)/2; n%2 == 0 {
				i = sum/2 - n/2
			}
			j = sum - i
			if sameElement(old, new, i, j) && sameElement(old, new, i+1, j+1) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// sameElement reports whether the lists have the same at i and j: an element or
// the end.
func sameElement(old, new *list, i, j int) bool {
	if i >= old.len() || j >= new.len() {
		return i >= old.len() && j >= new.len()
	}
	return bytes.Equal(old.item(i), new.item(j))
}

// restOfArray writes the operations for what is matched in r, whose first
// elements have the given index. It reports false if the array has to be
// replaced.
func (d *differ) restOfArray(r *rest, index, depth int, b *budget) bool {
	i, j := 0, 0
	for n := 0; n <= len(r.match); n++ {
		iEnd := r.old.len()
		if n < len(r.match) {
			if r.match[n] == none {
				continue
			}
			iEnd = int(r.match[n])
		}
		if !d.gap(r.old, r.new, i, iEnd, j, n, index+j, depth, b) {
			return false
		}
		i, j = iEnd+1, n+1
	}
	return true
}

// gap writes what turns the old elements from i to iEnd, the first of which has
// the given index, into the new ones from j to jEnd. It reports false as soon as
// replacing the array is the better way.
func (d *differ) gap(old, new list, i, iEnd, j, jEnd, index, depth int, b *budget) bool {
	for ; i < iEnd && j < jEnd; i, j, index = i+1, j+1, index+1 {
		n := len(d.path)
		d.path = strconv.AppendInt(append(d.path, '/'), int64(index), 10)
		d.value(int(old.at[i]), int(new.at[j]), depth+1)
		d.path = d.path[:n]
		if d.exceeded(b, int(new.at[j])) {
			return false
		}
	}
	for ; i < iEnd; i++ {
		d.writeAt("remove", index, nil)
	}
	for ; j < jEnd; j, index = j+1, index+1 {
		at := index
		if iEnd == old.len() {
			at = -1
		}
		d.writeAt("add", at, new.item(j))
	}
	return true
}
